"""What the report needs of a data set and of a run, and nothing more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

    from unweave.data.factors import FactorSpace

Images = NDArray[np.uint8]
Floats = NDArray[np.floating[Any]]


class DataLike(Protocol):
    """A grid of factors and the images they generate; `unweave.data.Dataset` is one."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def factors(self) -> FactorSpace: ...  # noqa: D102
    @property
    def shape(self) -> tuple[int, int, int]: ...  # noqa: D102
    def __len__(self) -> int: ...
    def values(self, indices: NDArray[np.int64], /) -> NDArray[np.int64]:
        """Return the factors (n, k) of the images at these indices."""
        ...

    def images(self, indices: NDArray[np.int64], /) -> Images:
        """Return the images (n, H, W, C) at these indices."""
        ...


class RunLike(Protocol):
    """A trained model in its folder; `unweave.Run` is one."""

    @property
    def path(self) -> Path: ...  # noqa: D102
    @property
    def config(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def state(self) -> str: ...  # noqa: D102
    @property
    def step(self) -> int: ...  # noqa: D102
    @property
    def data(self) -> DataLike: ...  # noqa: D102
    def log(self) -> polars.DataFrame:
        """Return the training curve: step, seconds, loss and every term."""
        ...

    def scores(self) -> polars.DataFrame | None:
        """Return the saved table of scores, or None."""
        ...

    def posterior(self, images: Images, /) -> tuple[Floats, Floats]:
        """Return means and log-variances, each (n, latents)."""
        ...

    def decode(self, codes: Floats, /) -> Images:
        """Return the images of codes (n, latents)."""
        ...

    def reconstruct(self, images: Images, /) -> Images:
        """Return what the model makes of images."""
        ...
