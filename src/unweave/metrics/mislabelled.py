"""A grid of factors with noisy labels: samples drawn to share a factor's value only share its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.codebook import Codebook
from unweave.metrics.label_noise import Regime, categorical_factors, levels_of, noisy_labels
from unweave.metrics.pool import Pool
from unweave.metrics.traversals import value_of, with_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unweave.data.factors import Integers


class MislabelledBook(Codebook):
    """The codes of a grid of factors, from which cells are drawn by noisy labels [Holtz2022]_.

    Cells that are drawn to share the value of a factor have that value in their labels; each of them shows that value
    with noise, drawn separately for each cell. The other factors are drawn as usual.

    Parameters
    ----------
    book
        The codes.
    regime
        The regime of the noise, as in `noisy_labels`; the book gives the names of the factors.
    """

    def __init__(self, book: Codebook, regime: Regime) -> None:
        self.sizes, self.names, self.exact, self._book = book.sizes, book.names, book.exact, book
        self._levels = levels_of(regime, book.names, len(book.sizes))
        self._drawn = np.isin(np.arange(len(book.sizes)), list(categorical_factors(None, book.names, len(book.sizes))))

    def __len__(self) -> int:
        return len(self._book)

    @property
    def has_images(self) -> bool:
        """False if the book was made from codes alone."""
        return self._book.has_images

    @property
    def seconds(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Time spent encoding so far."""
        return self._book.seconds

    def prepare(self, cells: ArrayLike) -> None:
        """Encode the cells that are not encoded yet."""
        self._book.prepare(cells)

    def rows(self, cells: ArrayLike) -> np.ndarray:
        """Return the rows at which the codes of these cells are stored."""
        return self._book.rows(cells)

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the codes that are stored at these rows."""
        return self._book.of_rows(rows)

    def images(self, cells: ArrayLike) -> np.ndarray:
        """Return the images of the cells with these indices."""
        return self._book.images(cells)

    def draw_pairs(self, count: int, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw factors (count,), and pairs of cells (count, batch, 2) whose labels agree in the factor."""
        factors, pairs = self._book.draw_pairs(count, batch, rng)
        return factors, self._mislabelled(pairs, factors[:, None, None], rng)

    def draw_batches(self, count: int, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw factors (count,), and cells (count, batch) whose labels agree in the factor."""
        factors, cells = self._book.draw_batches(count, batch, rng)
        return factors, self._mislabelled(cells, factors[:, None], rng)

    def _mislabelled(self, cells: Integers, factors: Integers, rng: np.random.Generator) -> Integers:
        """Return cells (...) with noise in the value of one factor each; the book makes the draws before it."""
        factors = np.broadcast_to(factors, cells.shape)
        sizes, levels = np.asarray(self.sizes)[factors], self._levels[factors]
        label = value_of(cells, factors, self.sizes)
        anything = rng.integers(sizes)
        replaced = np.where(rng.random(cells.shape) < levels, anything, label)
        moved = np.rint(label + levels * (sizes - 1) * rng.normal(size=cells.shape)).astype(np.int64)
        shown = np.where(self._drawn[factors], replaced, np.clip(moved, 0, sizes - 1))
        return with_value(cells, factors, shown, self.sizes)


def with_label_noise(inputs: Mapping[str, Any], regime: int) -> dict[str, Any]:
    """Return the inputs of metrics with noise in the labels of all rows, and in the batches drawn by labels.

    Parameters
    ----------
    inputs
        Checked inputs, as `gather` returns them, with clean labels.
    regime
        1, 2 or 3.
    """
    if inputs.get("factors") is None:
        return dict(inputs)
    if inputs["continuous"]:
        raise UsageError("label noise needs factors that are classes: set bin_factors (--bin-factors)")
    names, seed = inputs["names"], inputs["seed"]
    test = inputs["test"]
    rows = len(inputs["factors"])
    both = inputs["factors"] if test is None else np.concatenate([inputs["factors"], test[1]])
    noisy = _noisy(both, regime, names, seed)
    changed = {**inputs, "factors": noisy[:rows], "label_noise": regime}
    changed["test"] = None if test is None else (test[0], noisy[rows:])
    source = inputs.get("source")
    if isinstance(source, Pool):
        changed["source"] = Pool(source.table, _noisy(source.factors, regime, names, seed))
    elif source is not None:
        changed["source"] = MislabelledBook(source, regime)
    return changed


def _noisy(factors: np.ndarray, regime: int, names: Sequence[str] | None, seed: int) -> np.ndarray:
    return noisy_labels(factors, regime=regime, names=names, seed=seed)
