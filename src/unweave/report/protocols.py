"""The part of a run that the report needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

    from unweave.data import Dataset

Images = NDArray[np.uint8]
Floats = NDArray[np.floating[Any]]


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
    def data(self) -> Dataset: ...  # noqa: D102
    @property
    def has_decoder(self) -> bool: ...  # noqa: D102
    @property
    def categories(self) -> tuple[int, ...]: ...  # noqa: D102
    def log(self) -> polars.DataFrame:
        """Return the training curve: step, loss and every term."""
        ...

    def scores(self) -> polars.DataFrame | None:
        """Return the saved table of scores, each with its step and whether it is current, or None."""
        ...

    def posterior(self, images: Images, /) -> tuple[Floats, Floats | None]:
        """Return means and log-variances, each (n, latents); models without posterior variances have only means."""
        ...

    def decode(self, codes: Floats, /) -> Images:
        """Return the images of codes (n, latents)."""
        ...

    def reconstruct(self, images: Images, /) -> Images:
        """Return the reconstructions of images."""
        ...
