"""Rows of codes and factors to draw from, where there is no grid of factors to encode."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.errors import UsageError
from unweave.metrics.codebook import Codebook, Encode, open_codebook
from unweave.metrics.inputs import check, varying
from unweave.metrics.resampling import Sampled

REPLICATES = 10
"""Half-samples of a pool for an interval; each draws all batches again."""


class Pool:
    """Codes (n, d) and factors (n, k) of the same rows, grouped by the values of each factor.

    The β-VAE and FactorVAE scores draw rows that share the value of a factor. A grid has such rows for every
    combination of values; a pool has only the rows given. Rows are drawn with replacement.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import Pool
    >>> pool = Pool([[0.1], [0.2], [1.1], [1.2]], [[0], [0], [1], [1]])
    >>> pool.alike(np.array([0, 3]), np.array([0, 0]), np.random.default_rng(0)) // 2
    array([0, 1])
    """

    def __init__(self, codes: ArrayLike, factors: ArrayLike) -> None:
        self.table, self.factors = check(codes, factors)
        labels = self.factors
        self.varying = np.flatnonzero(varying(labels))
        self._labels = np.stack([np.unique(factor, return_inverse=True)[1] for factor in labels.T], axis=1)
        counts = [np.bincount(factor) for factor in self._labels.T]
        widest = max(map(len, counts))
        self._order = np.argsort(self._labels, axis=0, kind="stable")  # (n, k): rows by value
        self._counts = np.stack([np.pad(count, (0, widest - len(count))) for count in counts])  # (k, values)
        self._starts = np.cumsum(self._counts, axis=1) - self._counts

    def __len__(self) -> int:
        return len(self.table)

    def prepare(self, rows: Integers) -> None:
        """Do nothing: a pool already has all its codes."""

    def codes(self, rows: Integers) -> np.ndarray:
        """Return the codes (..., d) of rows (...)."""
        return self.table[rows]

    def draw(self, shape: int | tuple[int, ...], rng: np.random.Generator) -> Integers:
        """Draw rows."""
        return rng.integers(len(self), size=shape)

    def alike(self, rows: Integers, factors: Integers, rng: np.random.Generator) -> Integers:
        """Draw for each row one that has the same value of a factor; `factors` are broadcast to the rows."""
        factors = np.broadcast_to(factors, rows.shape)
        value = self._labels[rows, factors]
        place = self._starts[factors, value] + rng.integers(self._counts[factors, value])
        return self._order[place, factors]

    def draw_factors(self, count: int, rng: np.random.Generator) -> Integers:
        """Draw factors (count,) that vary; raise a `UsageError` if one has too many values for the number of rows."""
        for k in self.varying:
            if 2 * (values := int((self._counts[k] > 0).sum())) > len(self):
                raise UsageError(
                    f"factor {k + 1} has {values:,} values in {len(self):,} rows: "
                    "this metric compares rows that share a value; use more rows, or bin the factor"
                )
        return rng.choice(self.varying, size=count)

    def draw_pairs(self, count: int, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw factors (count,), and pairs of rows (count, batch, 2) that share the factor's value within a pair."""
        factors = self.draw_factors(count, rng)
        first = self.draw((count, batch), rng)
        return factors, np.stack([first, self.alike(first, factors[:, None], rng)], axis=2)

    def draw_batches(self, count: int, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw factors (count,), and rows (count, batch) that share the factor's value within a batch."""
        factors = self.draw_factors(count, rng)
        first = np.broadcast_to(self.draw((count, 1), rng), (count, batch))
        return factors, self.alike(first, factors[:, None], rng)


Source: TypeAlias = Codebook | Pool
"""What batches that share a factor's value are drawn from."""


def open_source(source: ArrayLike | Encode | Source, data: ArrayLike | Dataset | None) -> Source:
    """Return the source given, or the one made of an encoder and a data set, or of codes and factors."""
    if isinstance(source, Pool):
        if data is not None:
            raise UsageError("a Pool has its own factors: pass the Pool alone")
        return source
    if isinstance(source, Codebook) or callable(source):
        return open_codebook(source, data if data is None or isinstance(data, Dataset) else _refuse())
    if data is None or isinstance(data, Dataset):
        raise UsageError("give codes and factors, a Codebook or a Pool, or an encoder and a data set")
    return Pool(source, data)


def resampled(sample: Callable[[Source], Sampled[float]], source: Source) -> Sampled[float]:
    """Return the score of a source; for a pool, the rows are the units to resample.

    The rows of a pool are a sample themselves, and vary more than the batches drawn from them.
    """
    if not isinstance(source, Pool):
        return sample(source)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return np.array([sample(Pool(source.table[kept], source.factors[kept])).score for kept in subsets])

    whole = sample(source)
    return Sampled(whole.score, len(source), rescore, REPLICATES, step=whole.step)


def _refuse() -> Dataset:
    raise UsageError("an encoder needs a data set, a Codebook nothing else")
