"""A data set made from another: the same factors, with other images or another way of drawing them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset, Images, Option, Values
from unweave.data.factors import Integers
from unweave.plugins import Kind, dashed, is_builtin


class Wrapper(Dataset):
    """A data set made from `base`, named BASE-SUFFIX; its options are those of the base and its own.

    A subclass sets `suffix`, passes its own options on, and overrides what it changes.
    """

    suffix: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if not is_builtin(cls):
            SUFFIXES.define(vars(cls).get("suffix") or dashed(cls.__name__), cls)

    def __init__(self, base: Dataset, **options: Option) -> None:
        self.base = base
        self.name = f"{base.name}-{self.suffix}"
        self.factors = base.factors
        self.shape = base.shape
        self.binary = base.binary
        self.is_grid = base.is_grid
        self.is_function = base.is_function
        self.continuous = base.continuous
        self.standardise = base.standardise
        self.licence = base.licence
        self.options = {**base.options, **options}

    def __len__(self) -> int:
        return len(self.base)

    @property
    def nbytes(self) -> int:
        """Memory used by the set and its base, in bytes."""
        return super().nbytes + self.base.nbytes

    def values(self, indices: ArrayLike) -> Values:
        """Return the factors (n, k) of the images with these indices (n,)."""
        return self.base.values(indices)

    def sample(self, n: int, rng: np.random.Generator) -> Integers:
        """Draw n indices as training does."""
        return self.base.sample(n, rng)

    def _draw(self, indices: Integers) -> Images:
        return self.base.images(indices)


SUFFIXES: Kind[type[Wrapper]] = Kind("suffix of data sets")
"""The wrappers by their suffix."""
