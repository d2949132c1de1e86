"""The base class of data sets: a grid of factors, and the image of each of its cells."""

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
"""The input of a model: images (n, H, W, C), uint8, or vectors (n, D), float32."""
Values = NDArray[Any]
"""Factors (n, k): int64, or float64 if some are real numbers."""
Option = int | float | str | bool

SIZES = (32, 64, 128)
"""The image sizes at which built-in sets are drawn."""


class Dataset(ABC):
    """A grid of factors and the images they generate.

    A subclass sets the five attributes and writes `_draw`. The parameters of its constructor are the options of the
    data set. A set that is not a full grid also overrides `__len__` and `values`, and sets `is_grid`. The name of your
    own subclass comes from its class (MyData becomes my-data) unless it sets `name`, and `load` finds it by that name.

    Examples
    --------
    >>> data = unweave.load("xysquares:size=32")
    >>> len(data), data.shape, data.factors.names
    (262144, (32, 32, 3), ('x_R', 'y_R', 'x_G', 'y_G', 'x_B', 'y_B'))
    >>> data.images([0, 1]).shape, data.values([1])
    ((2, 32, 32, 3), array([[0, 0, 0, 0, 0, 1]]))
    """

    name: str
    factors: FactorSpace
    shape: tuple[int, ...]
    """Height, width and channels of an image, or the number of features of a vector."""
    binary: bool
    """True if every value of every image is 0 or 255, or every feature of every vector 0 or 1."""
    options: dict[str, Option]
    earlier: ClassVar[dict[str, Option]] = {}
    """Options that were added later, and their values for records without them."""
    count: ClassVar[int | None] = None
    """Number of images of a set that is not a full grid, if it is known before loading."""
    is_grid: bool = True
    """True if index i is cell i of the grid of factors, so one factor can be changed while the others are kept."""
    is_function: bool = True
    """True if the factors determine the image; False if it contains anything else, such as noise."""
    continuous: tuple[str, ...] = ()
    """The factors that are real numbers, not classes; if there are any, `values` gives floats."""

    standardise: bool = False
    """True if models standardise its values, unless their loss needs unscaled values."""
    licence: str = "Apache-2.0, as unweave itself, which draws it"
    """The licence of the images."""

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
        """True if the factors of the images are known; a set without them has `factors.names == ()`."""
        return bool(self.factors.names)

    @property
    def description(self) -> dict[str, Option]:
        """The name and the options: `load(**description)` builds this set again."""
        return {"name": self.name, **self.options}

    @property
    def nbytes(self) -> int:
        """Memory used by the set, in bytes."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def values(self, indices: ArrayLike) -> Values:
        """Return the factors of images.

        Parameters
        ----------
        indices
            Indices (n,).

        Returns
        -------
        np.ndarray
            Factors (n, k): integers, unless some factors are `continuous`.
        """
        return self.factors.from_index(indices)

    def sample(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw indices as training does: uniformly, unless the set defines another distribution.

        Parameters
        ----------
        n
            Number of indices.
        rng
            The random generator.

        Returns
        -------
        np.ndarray
            Indices (n,).
        """
        return rng.integers(len(self), size=n)

    @property
    def has_images(self) -> bool:
        """False for vectors, which have no pixels."""
        return len(self.shape) == 3

    def inputs(self, indices: ArrayLike) -> Inputs:
        """Return the model's inputs for indices (n,): images, or vectors if the set has vectors."""
        return self.images(indices)

    def images(self, indices: ArrayLike) -> Images:
        """Return images.

        Parameters
        ----------
        indices
            Indices (n,).

        Returns
        -------
        np.ndarray
            Images (n, H, W, C), uint8 and C-contiguous.
        """
        indices = integers(indices, "indices")
        if indices.ndim != 1:
            raise UsageError(f"indices must be a list of numbers, but their shape is {indices.shape}")
        return fit(self._draw(indices), self.shape)

    def statistics(self) -> Statistics:
        """Return the mean and standard deviation of each channel, exact over the whole set."""
        indices = self._representatives()
        parts = np.array_split(indices, -(-len(indices) // 64))
        return summarise(self.images(part) for part in parts)

    def scale(self) -> tuple[list[float], list[float]]:
        """Return the constants for standardising: mean and standard deviation of each channel or feature."""
        statistics = self.statistics()
        if not min(statistics.deviation):
            raise UsageError(f"a channel of '{self.name}' never changes within an image: it cannot be standardised")
        return list(statistics.mean), list(statistics.deviation)

    @abstractmethod
    def _draw(self, indices: Integers) -> Images:
        """Return the images with these indices, of size `shape` or of twice its height and width."""

    def _representatives(self) -> Integers:
        """Return indices whose images have, channel by channel, the statistics of the whole set."""
        return np.arange(len(self))


KIND: Kind[type[Dataset]] = Kind("data set")
"""The data sets by name."""


def fit(images: Images, shape: tuple[int, ...]) -> Images:
    """Return images of this shape; images of twice the size are reduced to rounded means of 2×2 pixels."""
    if images.shape[1:] == shape:
        return images
    rows = images[:, ::2].astype(np.uint16)
    rows += images[:, 1::2]
    blocks = rows[:, :, ::2] + rows[:, :, 1::2]
    return ((blocks + 2) >> 2).astype(np.uint8)


def integer_option(name: str, value: object, allowed: Sequence[int]) -> int:
    """Return the value of an option, or raise a `UsageError` that lists the allowed values."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value in allowed:
        return int(value)
    raise UsageError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}")
