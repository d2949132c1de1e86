"""Your own images, with their factors if they are known."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset, Images, Inputs, Values
from unweave.data.factors import FactorSpace, Integers, integers
from unweave.errors import UsageError

CHUNK = 1 << 22
"""Size in bytes of a part of the images that is processed at once."""


class Table(Dataset):
    """Your own images in memory, with their factors if they are known.

    Without factors, `factors.names` is () and `is_labelled` is False. A factor with a value that is not an integer is
    `continuous`: its values are kept, and its size is the number of distinct values.

    If the rows are a full grid, with every combination of factors once, they are sorted into grid order: index i is
    cell i, and `is_grid` is True. Otherwise they keep their order, and features that change one factor alone do not
    work.

    Examples
    --------
    >>> images = np.zeros((3, 8, 8, 1), dtype=np.uint8)
    >>> table = Table(images, [[0, 0], [0, 1], [1, 1]], names=["shape", "x"])
    >>> table.factors.sizes, len(table), table.is_grid
    ((2, 2), 3, False)
    """

    name = "table"
    licence = "your own"
    white: ClassVar[int] = 255
    """The larger value of a binary table."""

    def __init__(
        self,
        images: ArrayLike,
        factors: ArrayLike | None = None,
        *,
        names: Sequence[str] | None = None,
        sizes: Sequence[int] | None = None,
    ) -> None:
        """Make a data set of images and, optionally, their factors.

        Parameters
        ----------
        images
            Images (n, H, W) or (n, H, W, C), uint8, with 1 or 3 channels; they are not copied.
        factors
            Factors (n, k): columns of classes 0, 1, 2, …, or of real numbers; None if there are no labels.
        names
            The names of the factors; by default factor0, factor1, …
        sizes
            The number of values of each factor; by default its largest value plus one.
        """
        self._images = self._hold(images)
        values, real = _matrix(factors, self._images.shape[0])
        self.factors = _space(values, real, _names(names, values.shape[1]), sizes)
        self.continuous = tuple(name for name, is_real in zip(self.factors.names, real, strict=True) if is_real)
        self.shape = tuple(self._images.shape[1:])

        # Sorted by the first factor, then the second: the order of the grid's cells.
        order = np.lexsort(values.T[::-1]) if self.is_labelled else np.arange(len(values))
        ordered = values[order]
        self.is_function = self.is_labelled and bool((ordered[1:] != ordered[:-1]).any(axis=1).all())
        self.is_grid = self.is_function and not self.continuous and len(values) == math.prod(self.factors.sizes)
        self._rows = order if self.is_grid else np.arange(len(values))
        self._values = values[self._rows]
        self.binary = all(((part == 0) | (part == self.white)).all() for part in self._parts())
        self.digest = self._digest()
        self.options = {"shape": "x".join(map(str, self.shape)), "digest": self.digest}

    def __len__(self) -> int:
        return len(self._rows)

    def values(self, indices: ArrayLike) -> Values:
        """Return the factors (n, k) of images with these indices (n,); float64 if some are continuous."""
        return self._values[self._checked(indices)]

    def _draw(self, indices: Integers) -> Images:
        return self._take(self._rows[self._checked(indices)])

    def _hold(self, images: Any) -> Any:
        """Return the rows in the form that is stored, or raise a `UsageError` that says what they must be."""
        return _pixels(images)

    def _take(self, rows: Integers) -> Inputs:
        """Return rows by their position in the stored array."""
        return self._images[rows]

    def _checked(self, indices: ArrayLike) -> Integers:
        indices = integers(indices, "indices")
        if indices.size and not (indices.min() >= 0 and indices.max() < len(self)):
            raise UsageError(f"indices must lie between 0 and {len(self) - 1}")
        return indices

    def _parts(self) -> Iterator[Inputs]:
        """Yield all rows in the order of their indices, in parts."""
        step = max(1, CHUNK // math.prod(self.shape))
        for start in range(0, len(self), step):
            yield self._take(self._rows[start : start + step])

    def _digest(self) -> str:
        """Return the first 16 digits of the SHA-256 of names, sizes, factors and images."""
        head = [self.factors.names, self.factors.sizes, self._images.shape]
        content = hashlib.sha256(json.dumps(head).encode())
        content.update(np.ascontiguousarray(self._values, dtype="<f8" if self.continuous else "<i8").data)
        for part in self._parts():
            content.update(part.data)
        return content.hexdigest()[:16]


class AbsentTable(Dataset):
    """A `Table` that is known only from a run's configuration: the shape of its images, but no images and factors."""

    name = "table"

    def __init__(self, *, shape: str = "", digest: str = "") -> None:
        if not shape or not digest:
            raise UsageError("a table is made from arrays in Python: unweave.data.Table(images, factors)")
        if not re.fullmatch(r"\d+(x\d+x\d+)?", str(shape)):
            raise UsageError(f"the shape of a table is written 64x64x3, or 20 for vectors, not '{shape}'")
        self.shape = tuple(map(int, str(shape).split("x")))
        self.options = {"shape": str(shape), "digest": str(digest)}

    def __repr__(self) -> str:
        return f"<table:digest={self.options['digest']}, images {self.shape} that are not here>"

    def __len__(self) -> int:
        self._refuse()

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("factors", "binary"):
            self._refuse()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _draw(self, indices: Integers) -> Images:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UsageError(
            f"the arrays of the table {self.options['digest']} are not stored anywhere; "
            "pass the same images: Run.open(folder, data=table), or --data FILE.npz"
        )


class Factored(Protocol):
    """Anything with a name and factors that may be a full grid."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def is_grid(self) -> bool: ...  # noqa: D102
    @property
    def is_labelled(self) -> bool: ...  # noqa: D102
    @property
    def continuous(self) -> Sequence[str]: ...  # noqa: D102


def require_factors(data: Factored, what: str) -> None:
    """Raise a `UsageError` that `what` needs factors, unless the set has factors."""
    if not data.is_labelled:
        raise UsageError(f"{what} needs factors, but {data.name} has none")


def require_classes(data: Factored, what: str) -> None:
    """Raise a `UsageError` that `what` needs classes, unless the set has factors and all of them are classes."""
    require_factors(data, what)
    if data.continuous:
        listed = ", ".join(data.continuous)
        raise UsageError(f"{what} needs factors that are classes; those of {data.name} hold real numbers: {listed}")


def require_grid(data: Factored, what: str) -> None:
    """Raise a `UsageError` that `what` needs every combination of factors, unless the set is a full grid."""
    require_classes(data, what)
    if not data.is_grid:
        raise UsageError(f"{what} needs every combination of factors; {data.name} is not a full grid")


def _pixels(images: ArrayLike) -> Images:
    """Return images as uint8 (n, H, W, C), or raise a `UsageError` that says how to convert them."""
    array = np.asarray(images)
    if array.dtype == np.bool_:
        raise UsageError("images must be uint8, not bool; convert them: 255 * images.astype('uint8')")
    if np.issubdtype(array.dtype, np.floating):
        convert = "(255 * images).round().astype('uint8')"
        raise UsageError(f"images must be uint8, not {array.dtype}; convert those in [0, 1]: {convert}")
    if array.dtype != np.uint8:
        raise UsageError(f"images must be uint8, not {array.dtype}; convert those in 0 to 255: images.astype('uint8')")
    if array.ndim == 3:
        array = array[..., None]
    if array.ndim != 4 or 0 in array.shape:
        raise UsageError(f"images must have the shape (n, H, W) or (n, H, W, C) and not be empty, not {array.shape}")
    if array.shape[3] not in (1, 3):
        swapped = array.shape[1] in (1, 3)
        hint = "; put the channels last: images.transpose(0, 2, 3, 1)" if swapped else ""
        raise UsageError(f"images (n, H, W, C) need 1 or 3 channels, but the shape is {array.shape}{hint}")
    if array.max() == 1:
        raise UsageError("the images contain only 0 and 1, but white is 255; convert them: 255 * images")
    return array


def _matrix(factors: ArrayLike | None, count: int) -> tuple[Values, list[bool]]:
    """Return factors (n, k), and which of them are real numbers; int64 if none is."""
    if factors is None:
        return np.zeros((count, 0), dtype=np.int64), []
    values = np.asarray(factors)
    if not np.issubdtype(values.dtype, np.floating):
        values = integers(values, "factors")
    if values.ndim != 2 or values.shape[1] == 0:
        raise UsageError(f"factors must have the shape (n, k), one row for each image, not {values.shape}")
    if len(values) != count:
        raise UsageError(f"factors must have one row for each of the {count:,} images, not {len(values):,} rows")
    if not np.isfinite(values).all():
        row, axis = map(int, np.argwhere(~np.isfinite(values))[0])
        raise UsageError(f"factors must be finite numbers, but column {axis} of image {row} is not")
    real = [bool(is_real) for is_real in (values != np.floor(values)).any(axis=0)]
    return (values.astype(np.float64) if any(real) else values.astype(np.int64)), real


def _names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"factor{number}" for number in range(count))
    if isinstance(names, str) or len(names) != count:
        raise UsageError(f"names must be a list of {count}, one for each factor, not {names!r}")
    return tuple(map(str, names))


def _space(values: Values, real: list[bool], names: tuple[str, ...], sizes: Sequence[int] | None) -> FactorSpace:
    """Return the grid of the factors; a real-valued factor has as many values as there are distinct ones."""
    if sizes is not None and len(sizes) != len(names):
        raise UsageError(f"sizes must be a list of {len(names)}, one for each factor, not {sizes!r}")
    counts = [
        len(np.unique(column)) if is_real else _count(column, name, None if sizes is None else sizes[axis])
        for axis, (column, name, is_real) in enumerate(zip(values.T, names, real, strict=True))
    ]
    return FactorSpace(names, tuple(counts))


def _count(column: Values, name: str, size: int | None) -> int:
    """Return the number of values of a factor that is numbered from 0."""
    if (column < 0).any():
        row = int((column < 0).argmax())
        raise UsageError(f"factors are numbered 0, 1, 2, …, but '{name}' of image {row} is {column[row]:.0f}")
    largest = int(column.max())
    if size is not None and largest >= size:
        raise UsageError(f"factor '{name}' has {size} values, 0 to {size - 1}, but {largest} occurs")
    return largest + 1 if size is None else int(size)
