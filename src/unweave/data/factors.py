"""The grid of ground-truth factors behind a data set: indices, samples, traversals and distances."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.errors import UsageError, unknown

Integers = NDArray[np.int64]
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that move the cursor or end a line."""


def integers(values: ArrayLike, what: str) -> Integers:
    """Return `values` as int64, or raise a `UsageError` if they are not integers."""
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise UsageError(f"{what} must be integers, not {array.dtype}")
    return array.astype(np.int64)


@dataclass(frozen=True)
class FactorSpace:
    """A grid of factors. Cells are numbered row by row: the last factor changes fastest.

    A data set without labels has a space without factors, `FactorSpace((), ())`.

    Examples
    --------
    >>> grid = FactorSpace(("shape", "x"), (3, 4))
    >>> grid.from_index(6)
    array([1, 2])
    >>> int(grid.to_index([1, 2]))
    6
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.sizes):
            raise UsageError(f"{len(self.names)} factor names and {len(self.sizes)} sizes do not make a grid")
        if len(set(self.names)) < len(self.names):
            raise UsageError(f"factor names must differ: {', '.join(self.names)}")
        if broken := next((name for name in self.names if CONTROL.search(name)), None):
            raise UsageError(f"the name of a factor is one line of plain text, not {broken!r}")
        if min(self.sizes, default=1) < 1:
            raise UsageError(f"every factor needs at least one value, but the sizes are {self.sizes}")

    def __len__(self) -> int:
        return math.prod(self.sizes)

    def axis(self, factor: str | int) -> int:
        """Return the position of a factor given by its name or by its position."""
        if isinstance(factor, str):
            if factor not in self.names:
                raise unknown("factor", factor, self.names)
            return self.names.index(factor)
        if not 0 <= factor < len(self.names):
            raise UsageError(f"there is no factor {factor}; they are numbered 0 to {len(self.names) - 1}")
        return int(factor)

    def from_index(self, indices: ArrayLike) -> Integers:
        """Return the factors (..., k) of the cells with these indices (...)."""
        indices = integers(indices, "indices")
        if indices.size and not (indices.min() >= 0 and indices.max() < len(self)):
            raise UsageError(f"indices must lie between 0 and {len(self) - 1}")
        return np.stack(np.unravel_index(indices, self.sizes), axis=-1)

    def to_index(self, factors: ArrayLike) -> Integers:
        """Return the indices (...) of the cells with these factors (..., k)."""
        strides = [math.prod(self.sizes[i + 1 :]) for i in range(len(self.sizes))]
        return self._vectors(factors) @ np.array(strides, dtype=np.int64)

    def sample(self, n: int, rng: np.random.Generator, fixed: Mapping[str | int, Any] | None = None) -> Integers:
        """Draw factor vectors uniformly.

        Parameters
        ----------
        n
            Number of vectors.
        rng
            The random generator.
        fixed
            Factors that are fixed at a value, or at n values. The draws of the other factors do not depend on them.

        Returns
        -------
        np.ndarray
            Factors (n, k).
        """
        factors = rng.integers(0, self.sizes, size=(n, len(self.sizes)))
        for factor, value in (fixed or {}).items():
            factors[:, self.axis(factor)] = integers(value, "fixed factors")
        return self._vectors(factors)

    def traversal(self, factor: str | int, base: ArrayLike) -> Integers:
        """Return (size, k) vectors in which one factor takes all its values and the others stay as in `base`."""
        axis = self.axis(factor)
        factors = np.tile(self._vectors(base), (self.sizes[axis], 1))
        factors[:, axis] = np.arange(self.sizes[axis])
        return factors

    def distance(self, a: ArrayLike, b: ArrayLike) -> Integers:
        """Return the ℓ1 distance between factor vectors, sum_i |a_i - b_i|."""
        return np.abs(self._vectors(a) - self._vectors(b)).sum(axis=-1)

    @property
    def denominator(self) -> int:
        """The least common multiple of size - 1 over the factors that vary."""
        return math.lcm(*(size - 1 for size in self.sizes if size > 1))

    def scaled_distance(self, a: ArrayLike, b: ArrayLike) -> Integers:
        r"""Return `denominator` times the distance with every factor scaled to length 1 [Michlo2022]_, eq. 5.11.

            d(a, b) = sum_i |a_i - b_i| / (f_i - 1),    f_i the number of values of factor i.

        These numerators are integers, so equal distances compare as equal. Sums of floats do not:
        1/7 + 1/7 + 1/7 + 1/7 + 1/7 + 1/7 + 1/7 is less than 7/7.
        """
        if len(self.sizes) * self.denominator > np.iinfo(np.int64).max:
            raise UsageError(f"scaled distances on the grid {self.sizes} do not fit into 64 bits")
        weights = [self.denominator // (size - 1) if size > 1 else 0 for size in self.sizes]
        return np.abs(self._vectors(a) - self._vectors(b)) @ np.array(weights, dtype=np.int64)

    def _vectors(self, factors: ArrayLike) -> Integers:
        """Return factor vectors (..., k) as int64 after checking that they lie in the grid."""
        factors = integers(factors, "factors")
        if factors.shape[-1:] != (len(self.sizes),):
            raise UsageError(f"factor vectors need {len(self.sizes)} entries, but the shape is {factors.shape}")
        outside = ((factors < 0) | (factors >= self.sizes)).reshape(-1, len(self.sizes)).any(axis=0)
        if outside.any():
            axis = int(outside.argmax())
            raise UsageError(f"factor '{self.names[axis]}' must lie between 0 and {self.sizes[axis] - 1}")
        return factors
