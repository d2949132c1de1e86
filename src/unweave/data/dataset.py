"""What every data set offers: a grid of factors, and the image of any of its cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.factors import FactorSpace, Integers, integers
from unweave.data.statistics import Statistics, summarise
from unweave.errors import UsageError
from unweave.plugins import Kind, dashed, is_builtin

Images = NDArray[np.uint8]
Inputs = NDArray[Any]
"""What a model is given: images (n, H, W, C), uint8, or vectors (n, D), float32."""
Values = NDArray[Any]
"""Factors (n, k): int64, or float64 where some are real numbers."""
Option = int | float | str | bool

SIZES = (32, 64, 128)
"""The widths at which the embedded sets are drawn."""


class Dataset(ABC):
    """A grid of factors and the images they generate.

    A subclass sets the five attributes and writes `_draw`. The parameters of its constructor are the
    data set's options. A set that is no full grid also overrides `__len__` and `values`, and sets `is_grid`.
    A subclass outside unweave without a `name` is called by its class, MyData my-data, and `load` finds it by its name.
    """

    name: str
    factors: FactorSpace
    shape: tuple[int, ...]
    """Height, width and channels of an image, or the number of features of a vector."""
    binary: bool
    """True when every value of every image is 0 or 255, or every feature of every vector 0 or 1."""
    options: dict[str, Option]
    earlier: ClassVar[dict[str, Option]] = {}
    """Options that came after the first runs were recorded, and the values that records without them have."""
    count: ClassVar[int | None] = None
    """How many images a set has that is no full grid and knows so before it is loaded."""
    is_grid: bool = True
    """True when index i is cell i of the grid of factors, so that one factor can be changed and the others kept."""
    is_function: bool = True
    """True when the factors decide the image; False when it holds anything else, such as noise."""
    continuous: tuple[str, ...] = ()
    """The factors that are real numbers, not classes; where there are any, `values` gives floats."""

    standardise: bool = False
    """True when models standardise its values, unless their loss needs them as they are."""
    licence: str = "Apache-2.0, as unweave itself, which draws it"
    """Under which terms the images may be used."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if is_builtin(cls):
            return
        inherited = getattr(cls, "name", "")
        if "name" not in vars(cls) and (not inherited or KIND.get(inherited) in cls.__mro__):
            cls.name = dashed(cls.__name__)
        if cls.licence == Dataset.licence:
            cls.licence = "your own"
        if "name" in vars(cls):
            KIND.define(cls.name, cls)

    def __len__(self) -> int:
        return type(self).count or len(self.factors)

    def __repr__(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"<{self.name}:{options}, {len(self):,} images {self.shape}>"

    def _repr_html_(self) -> str:
        from unweave.report.notebook import data_html

        return data_html(self)

    @property
    def is_labelled(self) -> bool:
        """True when the factors of the images are known; a set without them has `factors.names == ()`."""
        return bool(self.factors.names)

    @property
    def description(self) -> dict[str, Option]:
        """The name and the options: `load(**description)` builds this set again."""
        return {"name": self.name, **self.options}

    @property
    def nbytes(self) -> int:
        """Bytes of memory the set holds."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def values(self, indices: ArrayLike) -> Values:
        """Return the factors (n, k) of the images with these indices (n,): integers, unless some are `continuous`."""
        return self.factors.from_index(indices)

    def sample(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw n indices as training does: uniformly, unless the set says otherwise."""
        return rng.integers(len(self), size=n)

    @property
    def has_images(self) -> bool:
        """False of vectors, which have no pixels."""
        return len(self.shape) == 3

    def inputs(self, indices: ArrayLike) -> Inputs:
        """Return what a model is given of these indices (n,): images, or vectors where a set has these instead."""
        return self.images(indices)

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

    def scale(self) -> tuple[list[float], list[float]]:
        """Return what models standardise by: the mean and the deviation of each channel, or of each feature."""
        statistics = self.statistics()
        if not min(statistics.deviation):
            raise UsageError(f"a channel of '{self.name}' never changes within an image: it cannot be standardised")
        return list(statistics.mean), list(statistics.deviation)

    @abstractmethod
    def _draw(self, indices: Integers) -> Images:
        """Return the images with these indices, at `shape` or at twice its height and width."""

    def _representatives(self) -> Integers:
        """Return indices whose images have, channel by channel, the statistics of the whole set."""
        return np.arange(len(self))


KIND: Kind[type[Dataset]] = Kind("data set")
"""The data sets by name."""


def fit(images: Images, shape: tuple[int, ...]) -> Images:
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
