"""Sets that are not drawn uniformly: factors are correlated, or combinations held out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.dataset import Dataset, Inputs, Option
from unweave.data.factors import FactorSpace, Integers
from unweave.data.statistics import Statistics
from unweave.data.table import require_classes, require_grid
from unweave.data.wrapper import Wrapper
from unweave.errors import UsageError

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

CONDITION = re.compile(r"\s*(.+?)\s*(!=|<=|>=|==|=|<|>)\s*(\d+)\s*")
COMPARE: dict[str, Callable[[Integers, int], Mask]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
PARTS = ("train", "held-out")
MARGINALS = ("", "uniform")
ROUNDS, EVEN = 20_000, 1e-9
"""Largest number of scalings of rows and columns, and the relative tolerance of the marginals."""


class Reweighted(Wrapper):
    """The same images with the same indices, drawn for training with other probabilities.

    The probability of an image is its probability in `base` times its weight, normalised, so such sets can be nested.
    """

    def __init__(self, base: Dataset, weights: Floats, **options: Option) -> None:
        super().__init__(base, **options)
        weights = weights * probabilities(base)
        self.allowed: Integers = np.flatnonzero(weights)
        """The indices that can be drawn, in order."""
        self._cumulative = np.cumsum(weights[self.allowed])

    @property
    def probabilities(self) -> Floats:
        """The probability (n,) with which each image is drawn."""
        result = np.zeros(len(self))
        result[self.allowed] = np.diff(self._cumulative, prepend=0) / self._cumulative[-1]
        return result

    def weights(self, indices: Integers) -> Floats:
        """Return the relative probabilities (n,) of these images: 0 for those that are never drawn."""
        places = np.minimum(np.searchsorted(self.allowed, indices), len(self.allowed) - 1)
        before = np.where(places > 0, self._cumulative[places - 1], 0.0)
        return np.where(self.allowed[places] == indices, self._cumulative[places] - before, 0.0)

    def sample(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw n indices with these probabilities."""
        places = self._cumulative[-1] * rng.random(n)
        return self.allowed[np.searchsorted(self._cumulative, places, side="right")]

    def inputs(self, indices: ArrayLike) -> Inputs:
        """Return the model's inputs for indices (n,)."""
        return self.base.inputs(indices)

    def statistics(self) -> Statistics:
        """Return the mean and standard deviation of each channel over all images, drawn or not."""
        return self.base.statistics()

    def scale(self) -> tuple[list[float], list[float]]:
        """Return the constants for standardising, over all images, drawn or not."""
        return self.base.scale()


class Correlated(Reweighted):
    r"""Correlates pairs of factors [Trauble2021]_; all others stay independent.

    With a and b the two factors scaled to [0, 1],

        p(a, b) ∝ exp(-(a - b)² / (2 strength²)).

    A small `strength` gives a strong correlation, a large one independence. Several pairs are joined by "&":
    "x+y&shape+scale".

    The ends of both factors are then drawn less often than their middle. With `marginals` "uniform", the rows and
    columns of p are scaled (Sinkhorn) until all values of either factor are equally probable.
    """

    suffix = "correlated"

    def __init__(self, base: Dataset, *, pair: str = "", strength: float = 0.2, marginals: str = "") -> None:
        require_grid(base, "a correlation of factors")
        if isinstance(strength, bool) or not isinstance(strength, Real) or not 0 < float(strength) < math.inf:
            raise UsageError(f"strength must be a positive number, not {strength!r}")
        if marginals not in MARGINALS:
            raise UsageError(f"marginals must be 'uniform' or left out, not {marginals!r}")
        couples = [_couple(base.factors, text) for text in str(pair).split("&")]
        factors = base.factors.from_index(np.arange(len(base)))
        weights = np.ones(len(base))
        for axes in couples:
            a, b = (np.linspace(0, 1, base.factors.sizes[axis]) for axis in axes)
            logs = -((a[:, None] - b) ** 2) / (2 * float(strength) ** 2)
            weights *= np.exp(_uniform(logs) if marginals else logs)[factors[:, axes[0]], factors[:, axes[1]]]
        written = "&".join("+".join(base.factors.names[axis] for axis in axes) for axes in couples)
        options: dict[str, Option] = {"marginals": marginals} if marginals else {}
        super().__init__(base, weights, pair=written, strength=float(strength), **options)


class Restricted(Reweighted):
    """Holds combinations of factors out of training, or draws only from these.

    `keep` and `exclude` are conditions on factors, such as "shape=0&x>=16|scale!=5"; "&" binds more tightly than "|".
    Training draws from images that are kept and not excluded; the part "held-out" contains the rest.
    """

    suffix = "restricted"

    def __init__(self, base: Dataset, *, exclude: str = "", keep: str = "", part: str = "train") -> None:
        require_classes(base, "a restriction")
        if not exclude and not keep:
            raise UsageError(f"{base.name}-restricted needs a condition, such as {_example(base.factors)}")
        if part not in PARTS:
            raise UsageError(f"part must be one of {', '.join(PARTS)}, not {part!r}")
        factors = base.values(np.arange(len(base)))
        allowed = np.ones(len(base), dtype=bool)
        options: dict[str, Option] = {}
        if exclude:
            excluded, options["exclude"] = _evaluate(str(exclude), base.factors, factors)
            allowed &= ~excluded
        if keep:
            kept, options["keep"] = _evaluate(str(keep), base.factors, factors)
            allowed &= kept
        if part == "held-out":
            allowed = ~allowed
        if not (allowed & (probabilities(base) > 0)).any():
            conditions = ", ".join(f"{name}={text}" for name, text in options.items())
            raise UsageError(f"{base.name}-restricted:{conditions} leaves no image in its part '{part}'")
        super().__init__(base, allowed.astype(np.float64), **options, part=part)


def reweighted(data: Dataset) -> Reweighted | None:
    """Return the set, or the one it is made from, that decides how images are drawn; None if all are equally likely."""
    while isinstance(data, Wrapper) and not isinstance(data, Reweighted):
        data = data.base
    return data if isinstance(data, Reweighted) else None


def probabilities(data: Dataset) -> Floats:
    """Return the probability (n,) with which a set draws each of its images."""
    drawn = reweighted(data)
    return np.full(len(data), 1 / len(data)) if drawn is None else drawn.probabilities


def drawn_cells(data: Dataset) -> Integers:
    """Return the indices that a set can draw, in order: all, unless some are held out."""
    return np.flatnonzero(probabilities(data))


def _couple(space: FactorSpace, text: str) -> tuple[int, int]:
    """Return the positions of the factors in "x+y"."""
    first, plus, second = (part.strip() for part in text.partition("+"))
    if not plus:
        raise UsageError(f"a pair of factors is written pair={'+'.join(space.names[-2:])}, not '{text}'")
    axes = space.axis(first), space.axis(second)
    if axes[0] == axes[1]:
        raise UsageError(f"a pair needs two different factors, not {first} twice")
    for axis in axes:
        if space.sizes[axis] == 1:
            raise UsageError(f"factor '{space.names[axis]}' has one value, so it cannot be correlated")
    return axes


def _uniform(logs: Floats) -> Floats:
    """Scale rows and columns of a table of log-weights (a, b) until all rows, and all columns, have the same sum."""
    for _ in range(ROUNDS):
        logs = logs - np.logaddexp.reduce(logs, axis=0)
        rows = np.logaddexp.reduce(logs, axis=1)
        if np.ptp(rows) <= EVEN:
            return logs
        logs = logs - rows[:, None]
    sizes = f"{logs.shape[0]} and {logs.shape[1]} values"
    raise UsageError(f"no uniform marginals were found for a pair of {sizes}: choose a larger strength")


def _evaluate(text: str, space: FactorSpace, factors: Integers) -> tuple[Mask, str]:
    """Return which rows of factors satisfy a condition, and the condition in normalised form."""
    found = np.zeros(len(factors), dtype=bool)
    alternatives = []
    for alternative in text.split("|"):
        both = np.ones(len(factors), dtype=bool)
        terms = []
        for term in alternative.split("&"):
            axis, sign, value = _condition(term, space)
            both &= COMPARE[sign](factors[:, axis], value)
            terms.append(f"{space.names[axis]}{sign}{value}")
        found |= both
        alternatives.append("&".join(terms))
    return found, "|".join(alternatives)


def _condition(term: str, space: FactorSpace) -> tuple[int, str, int]:
    """Read "x>=16": the position of the factor, the comparison and the value."""
    parts = CONDITION.fullmatch(term)
    if parts is None:
        raise UsageError(f"'{term}' is not a condition on a factor, such as {_example(space)}")
    axis, value = space.axis(parts[1]), int(parts[3])
    if value >= space.sizes[axis]:
        raise UsageError(f"'{term}': factor '{parts[1]}' must lie between 0 and {space.sizes[axis] - 1}")
    return axis, "=" if parts[2] == "==" else parts[2], value


def _example(space: FactorSpace) -> str:
    return f"exclude={space.names[0]}=0&{space.names[-1]}>=1"
