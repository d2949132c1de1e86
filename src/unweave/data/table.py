"""Your own images and their factors, one row each, whether or not every combination of factors is there."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset, Images
from unweave.data.factors import FactorSpace, Integers, integers
from unweave.errors import UsageError

CHUNK = 1024
"""Rows looked at together."""


class Table(Dataset):
    """Images of your own with their factors, held in memory.

    Where the rows are a full grid, every combination of factors once, they are put into its order: index i is
    cell i, and `is_grid` is True. Otherwise they keep their order, and nothing can change one factor alone.

    >>> images = np.zeros((3, 8, 8, 1), dtype=np.uint8)
    >>> table = Table(images, [[0, 0], [0, 1], [1, 1]], names=["shape", "x"])
    >>> table.factors.sizes, len(table), table.is_grid
    ((2, 2), 3, False)
    """

    name = "table"
    licence = "your own"

    def __init__(
        self,
        images: ArrayLike,
        factors: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        sizes: Sequence[int] | None = None,
    ) -> None:
        """Take images (n, H, W) or (n, H, W, C), uint8 and not copied, and factors (n, k), integers from 0 on.

        `names` are the factors' names, by default factor0, factor1, …; `sizes` their numbers of values, by
        default the largest one that occurs, plus one.
        """
        self._images = _pixels(images)
        values = _matrix(factors, len(self._images))
        names = _names(names, values.shape[1])
        self.factors = _space(values, names, sizes)
        height, width, channels = self._images.shape[1:]
        self.shape = (height, width, channels)

        order = np.lexsort(values.T[::-1])  # by the first factor, then the second: the order of the grid's cells
        ordered = values[order]
        self.is_function = bool((ordered[1:] != ordered[:-1]).any(axis=1).all())
        self.is_grid = self.is_function and len(values) == math.prod(self.factors.sizes)
        self._rows = order if self.is_grid else np.arange(len(values))
        self._values = values[self._rows]
        self.binary = all(((part == 0) | (part == 255)).all() for part in self._parts())
        self.digest = self._digest()
        self.options = {"shape": "x".join(map(str, self.shape)), "digest": self.digest}

    def __len__(self) -> int:
        return len(self._rows)

    def values(self, indices: ArrayLike) -> Integers:
        """Return the factors (n, k) of the images with these indices (n,)."""
        return self._values[self._checked(indices)]

    def _draw(self, indices: Integers) -> Images:
        return self._images[self._rows[self._checked(indices)]]

    def _checked(self, indices: ArrayLike) -> Integers:
        indices = integers(indices, "indices")
        if indices.size and not (indices.min() >= 0 and indices.max() < len(self)):
            raise UsageError(f"indices must lie between 0 and {len(self) - 1}")
        return indices

    def _parts(self) -> Iterator[Images]:
        """Yield all images in the order of their indices, a few at a time."""
        for start in range(0, len(self), CHUNK):
            yield self._images[self._rows[start : start + CHUNK]]

    def _digest(self) -> str:
        """Return the first 16 digits of the SHA-256 of names, sizes, factors and images."""
        head = [self.factors.names, self.factors.sizes, self._images.shape]
        content = hashlib.sha256(json.dumps(head).encode())
        content.update(np.ascontiguousarray(self._values, dtype="<i8").data)
        for part in self._parts():
            content.update(part.data)
        return content.hexdigest()[:16]


class AbsentTable(Dataset):
    """A `Table` known from a run's configuration only: the shape of its images, but neither them nor factors."""

    name = "table"

    def __init__(self, *, shape: str = "", digest: str = "") -> None:
        if not shape or not digest:
            raise UsageError("a table is made of arrays, in Python: unweave.data.Table(images, factors)")
        sides = re.fullmatch(r"(\d+)x(\d+)x(\d+)", str(shape))
        if sides is None:
            raise UsageError(f"the shape of a table is written 64x64x3, not '{shape}'")
        height, width, channels = map(int, sides.groups())
        self.shape = (height, width, channels)
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
            "make the same Table again and hand it over: Run.open(folder, data=table)"
        )


class Gridded(Protocol):
    """Anything with a name that may be a full grid."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def is_grid(self) -> bool: ...  # noqa: D102


def require_grid(data: Gridded, what: str) -> None:
    """Raise the error that says that `what` needs interventions, unless the set is a full grid."""
    if not data.is_grid:
        raise UsageError(f"{what} needs every combination of factors; {data.name} is not a full grid")


def _pixels(images: ArrayLike) -> Images:
    """Return images as uint8 (n, H, W, C), or say how to make them so."""
    array = np.asarray(images)
    if array.dtype == np.bool_:
        raise UsageError("images must be uint8, not bool; convert them: 255 * images.astype('uint8')")
    if np.issubdtype(array.dtype, np.floating):
        convert = "(255 * images).round().astype('uint8')"
        raise UsageError(f"images must be uint8, not {array.dtype}; convert those in [0, 1]: {convert}")
    if array.dtype != np.uint8:
        raise UsageError(f"images must be uint8, not {array.dtype}")
    if array.ndim == 3:
        array = array[..., None]
    if array.ndim != 4 or 0 in array.shape:
        raise UsageError(f"images must have the shape (n, H, W) or (n, H, W, C), none of them 0, not {array.shape}")
    if array.shape[3] not in (1, 3):
        swapped = array.shape[1] in (1, 3)
        hint = "; put the channels last: images.transpose(0, 2, 3, 1)" if swapped else ""
        raise UsageError(f"images (n, H, W, C) need 1 or 3 channels, but the shape is {array.shape}{hint}")
    if array.max() == 1:
        raise UsageError("the images hold nothing but 0 and 1, and white is 255; convert them: 255 * images")
    return array


def _matrix(factors: ArrayLike, count: int) -> Integers:
    """Return factors as int64 (n, k), one row an image."""
    values = integers(factors, "factors")
    if values.ndim != 2 or values.shape[1] == 0:
        raise UsageError(f"factors must have the shape (n, k), one row an image, not {values.shape}")
    if len(values) != count:
        raise UsageError(f"there are {count:,} images, but factors of {len(values):,}")
    return values


def _names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"factor{number}" for number in range(count))
    if isinstance(names, str) or len(names) != count:
        raise UsageError(f"names must be a list of {count}, one a factor, not {names!r}")
    return tuple(map(str, names))


def _space(values: Integers, names: tuple[str, ...], sizes: Sequence[int] | None) -> FactorSpace:
    """Return the grid that the factors lie in."""
    if (values < 0).any():
        row, axis = map(int, np.argwhere(values < 0)[0])
        raise UsageError(f"factors are numbered 0, 1, 2, …, but '{names[axis]}' of image {row} is {values[row, axis]}")
    largest = values.max(axis=0)
    counts = [int(size) for size in (largest + 1 if sizes is None else sizes)]
    if len(counts) != len(names):
        raise UsageError(f"sizes must be a list of {len(names)}, one a factor, not {sizes!r}")
    space = FactorSpace(names, tuple(counts))
    for name, size, value in zip(space.names, space.sizes, largest, strict=True):
        if value >= size:
            raise UsageError(f"factor '{name}' has {size} values, 0 to {size - 1}, but {value} occurs")
    return space
