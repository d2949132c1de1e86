"""What every data set offers: a grid of factors, and the image of any of its cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.factors import FactorSpace, Integers, integers
from unweave.data.statistics import Statistics, summarise
from unweave.errors import UsageError

Images = NDArray[np.uint8]
Option = int | float | str | bool

SIZES = (32, 64, 128)
"""The widths at which the embedded sets are drawn."""


class Dataset(ABC):
    """A grid of factors and the images they generate.

    A subclass sets the five attributes and writes `_draw`. The parameters of its constructor are the
    data set's options. A set that is no full grid also overrides `__len__` and `values`, and sets `is_grid`.
    """

    name: str
    factors: FactorSpace
    shape: tuple[int, int, int]
    """Height, width and channels of an image."""
    binary: bool
    """True when every value of every image is 0 or 255."""
    options: dict[str, Option]
    is_grid: bool = True
    """True when index i is cell i of the grid of factors, so that one factor can be changed and the others kept."""
    is_function: bool = True
    """True when the factors decide the image; False when it holds anything else, such as noise."""

    licence: str = "Apache-2.0, as unweave itself, which draws it"
    """Under which terms the images may be used."""

    def __len__(self) -> int:
        return len(self.factors)

    def __repr__(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"<{self.name}:{options}, {len(self):,} images {self.shape}>"

    @property
    def description(self) -> dict[str, Option]:
        """The name and the options: `load(**description)` builds this set again."""
        return {"name": self.name, **self.options}

    @property
    def nbytes(self) -> int:
        """Bytes of memory the set holds."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def values(self, indices: ArrayLike) -> Integers:
        """Return the factors (n, k) of the images with these indices (n,)."""
        return self.factors.from_index(indices)

    def sample(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw n indices as training does: uniformly, unless the set says otherwise."""
        return rng.integers(len(self), size=n)

    def images(self, indices: ArrayLike) -> Images:
        """Return the images (n, H, W, C) with these indices (n,), uint8 and C-contiguous."""
        indices = integers(indices, "indices")
        if indices.ndim != 1:
            raise UsageError(f"indices must be a list of numbers, but their shape is {indices.shape}")
        return fit(self._draw(indices), self.shape)

    def statistics(self) -> Statistics:
        """Return the mean and the deviation of each channel, exact over the whole set."""
        indices = self._representatives()
        parts = np.array_split(indices, -(-len(indices) // 64))
        return summarise(self.images(part) for part in parts)

    @abstractmethod
    def _draw(self, indices: Integers) -> Images:
        """Return the images with these indices, at `shape` or at twice its height and width."""

    def _representatives(self) -> Integers:
        """Return indices whose images have, channel by channel, the statistics of the whole set."""
        return np.arange(len(self))


def fit(images: Images, shape: tuple[int, int, int]) -> Images:
    """Return images of this shape; those of twice its size become the rounded means of 2×2 pixels."""
    if images.shape[1:] == shape:
        return images
    rows = images[:, ::2].astype(np.uint16)
    rows += images[:, 1::2]
    blocks = rows[:, :, ::2] + rows[:, :, 1::2]
    return ((blocks + 2) >> 2).astype(np.uint8)


def integer_option(name: str, value: object, allowed: Sequence[int]) -> int:
    """Return the value of an option, or raise the error that lists what it may be."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value in allowed:
        return int(value)
    raise UsageError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")
