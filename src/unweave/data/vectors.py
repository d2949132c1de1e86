"""Your own vectors, (n, D) numbers, with their factors if they are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.dataset import Dataset, Inputs
from unweave.data.factors import Integers, integers
from unweave.data.statistics import Statistics
from unweave.data.table import Table
from unweave.data.wrapper import Wrapper
from unweave.errors import UsageError


class Sparse(Protocol):
    """A sparse matrix of scipy."""

    def tocsr(self) -> Any:
        """Return it in compressed rows."""
        ...


Allowed = Callable[[NDArray[Any]], NDArray[np.bool_]]
"""Returns which values are allowed."""


class Vectors(Table):
    """Your own vectors in memory as float32, with their factors if they are known.

    Factors follow the rules of `Table`. A sparse matrix stays sparse; rows become dense when they are read.

    Examples
    --------
    >>> vectors = Vectors([[0.5, 1.0], [1.5, 3.0], [2.5, 5.0]], features=["height", "weight"])
    >>> vectors.inputs([0, 2]).tolist(), vectors.shape, vectors.is_labelled
    ([[0.5, 1.0], [2.5, 5.0]], (2,), False)
    """

    white = 1

    def __init__(
        self,
        values: ArrayLike | Sparse,
        factors: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
        sizes: Sequence[int] | None = None,
        features: Sequence[str] | None = None,
        standardise: bool = True,
    ) -> None:
        """Make a data set of vectors (n, D) and, optionally, their factors.

        Parameters
        ----------
        values
            Finite numbers: an array, a table with named columns, or a sparse matrix of scipy.
        factors, names, sizes
            As for `unweave.data.Table`.
        features
            The names of the D features; by default those of the table's columns, or x0, x1, …
        standardise
            Whether models standardise every feature to mean 0 and standard deviation 1, if their loss is for real
            numbers.
        """
        self.standardise = standardise
        self.features = _feature_names(values, features)
        rows: Any = values  # `Table` takes arrays only; `_hold` takes both
        super().__init__(rows, factors, names=names, sizes=sizes)
        self.features = self.features or tuple(f"x{number}" for number in range(self.shape[0]))
        if len(self.features) != self.shape[0]:
            raise UsageError(f"there are {self.shape[0]:,} features, but {len(self.features):,} names of features")
        if not self.varies.any():
            raise UsageError("no feature varies: there is nothing to learn")

    def __repr__(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"<{self.name}:{options}, {len(self):,} vectors of {self.shape[0]:,} features>"

    @property
    def nbytes(self) -> int:
        """Memory used by the set, in bytes; for a sparse matrix, that of the stored entries."""
        held = self._images
        parts = () if isinstance(held, np.ndarray) else (held.data, held.indices, held.indptr)
        return super().nbytes + sum(part.nbytes for part in parts)

    @cached_property
    def library(self) -> float:
        """The median total of the rows that are not empty: the default total of decoded counts."""
        totals = np.concatenate([part.sum(axis=1, dtype=np.float64) for part in self._parts()])
        return float(np.median(totals[totals > 0])) if (totals > 0).any() else 1.0

    @cached_property
    def varies(self) -> NDArray[np.bool_]:
        """Which features (D,) have more than one value."""
        lows, highs = zip(*((part.min(axis=0), part.max(axis=0)) for part in self._parts()), strict=True)
        return np.min(lows, axis=0) < np.max(highs, axis=0)

    def inputs(self, indices: ArrayLike) -> Inputs:
        """Return the vectors (n, D) with these indices (n,), float32."""
        indices = integers(indices, "indices")
        if indices.ndim != 1:
            raise UsageError(f"indices must be a list of numbers, but their shape is {indices.shape}")
        return self._draw(indices)

    def images(self, indices: ArrayLike) -> NoReturn:
        """Raise a `UsageError`: vectors have no pixels."""
        raise UsageError(f"'{self.name}' has no images: its rows are vectors")

    def statistics(self) -> Statistics:
        """Return the mean and standard deviation of each feature, exact over the whole set."""
        mean = sum(part.sum(axis=0, dtype=np.float64) for part in self._parts()) / len(self)
        squares = sum(np.square(part - mean).sum(axis=0) for part in self._parts())
        deviation = tuple(np.where(self.varies, np.sqrt(squares / len(self)), 0.0).tolist())
        return Statistics(tuple(np.atleast_1d(mean).tolist()), deviation, deviation)

    def scale(self) -> tuple[list[float], list[float]]:
        """Return the mean and standard deviation of each feature; a constant feature is only centred."""
        found = self.statistics()
        return list(found.mean), [deviation or 1.0 for deviation in found.deviation]

    def outside(self, allowed: Allowed) -> tuple[int, int] | None:
        """Return the row and the feature of the first value that is not allowed, or None."""
        start = 0
        for part in self._parts():
            wrong = np.argwhere(~allowed(part))
            if len(wrong):
                return int(self._rows[start + wrong[0, 0]]), int(wrong[0, 1])
            start += len(part)
        return None

    def require(self, allowed: Allowed, what: str, by: str) -> None:
        """Raise a `UsageError` that names the first value that is not allowed, if there is one."""
        if (place := self.outside(allowed)) is not None:
            row, column = place
            value = self._take(np.array([row]))[0, column]
            raise UsageError(f"{by} needs {what}, but '{self.features[column]}' of row {row} is {value:g}")

    def _hold(self, images: Any) -> Any:
        given = _matrix(images)
        with np.errstate(over="ignore"):  # values beyond float32 are found below
            held = given.astype(np.float32)
        finite = np.isfinite(held if isinstance(held, np.ndarray) else held.data)
        if not finite.all():
            raise _not_finite(given, finite, self.features)
        return np.ascontiguousarray(held) if isinstance(held, np.ndarray) else held

    def _take(self, rows: Integers) -> Inputs:
        found = self._images[rows]
        return found if isinstance(found, np.ndarray) else found.toarray()


def are_counts(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are non-negative integers."""
    return (values >= 0) & (values == np.floor(values))


def are_unit(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are between 0 and 1."""
    return (values >= 0) & (values <= 1)


def vectors_of(data: Dataset) -> Vectors | None:
    """Return the vectors of a data set, or None if it has images."""
    while isinstance(data, Wrapper):
        data = data.base
    return data if isinstance(data, Vectors) else None


def _matrix(values: Any) -> Any:
    """Return numbers (n, D), an array or a sparse matrix, or raise a `UsageError` that says what they must be."""
    sparse = hasattr(values, "tocsr")
    try:
        matrix = values.tocsr() if sparse else np.asarray(values)
    except (TypeError, ValueError) as error:
        raise UsageError(f"vectors must be one array (n, D): {str(error).splitlines()[0]}") from error
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise UsageError(f"vectors must have the shape (n, D) and not be empty, not {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        what = "strings" if matrix.dtype.kind in "USO" else f"of type {matrix.dtype}"
        raise UsageError(f"vectors must be numbers, not {what}; columns of other kinds may be factors")
    if matrix.shape[0] < 2:
        raise UsageError("vectors need at least two rows: there is nothing to learn from a single one")
    return matrix


def _not_finite(matrix: Any, finite: NDArray[np.bool_], features: Sequence[str]) -> UsageError:
    """Return the error that names the first value that is NaN, infinite or beyond float32."""
    if isinstance(matrix, np.ndarray):
        row, column = map(int, np.argwhere(~finite)[0])
    else:
        place = int((~finite).argmax())
        row, column = int(np.searchsorted(matrix.indptr, place, side="right")) - 1, int(matrix.indices[place])
    name = features[column] if features else f"x{column}"
    value = matrix[row, column]
    return UsageError(f"vectors must be finite numbers, but '{name}' of row {row} is {value}; leave the row out")


def _feature_names(values: Any, features: Sequence[str] | None) -> tuple[str, ...]:
    """Return the given names, or those of a table's columns, or none."""
    if isinstance(features, str):
        raise UsageError(f"features must be a list of names, not '{features}'")
    columns = getattr(values, "columns", ()) if features is None else features
    return tuple(map(str, columns))
