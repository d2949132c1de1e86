"""LeJEPA: codes of two views of one thing agree, and all codes together are standard normal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import Tensor

from unweave.data import Dataset
from unweave.data.consecutive import draw_consecutive, require_consecutive
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.methods.base import Batch
from unweave.methods.pairs import Pairs
from unweave.nets import Model, Posterior
from unweave.penalties import sigreg
from unweave.schedules import Scheduled, extremes, value_at

VIEWS = ("factors", "walk", "rows", "noise")


@dataclass(frozen=True)
class LeJEPA(Pairs):
    r"""LeJEPA [Balestriero2025]_: (1 - weight) mean_v |z_v - mean z|^2 / latents + weight mean_v SIGReg(z_v).

    z_v are the codes of two views v of the same thing. The first term makes them agree, the second keeps all codes of
    a view at N(0, I). There is no decoder. Where the world's latents are Gaussian, and a view is a small step of
    theirs, the optimum is a rotation of them [Klindt2026]_.
    """

    bottleneck: ClassVar[str] = "point"
    min_batch: ClassVar[int] = 2
    decoder: ClassVar[bool] = False

    weight: Scheduled = 0.05
    """Weight of the normality of the codes, from 0 to 1; the rest is that of their agreement."""
    directions: int = 256
    """Random directions a step in which codes are compared with a normal distribution."""
    views: Annotated[str, OneOf(VIEWS)] = "factors"
    """What two views are: factors (images that share factors), walk (every factor moves a little), rows (neighbouring
    rows of your data, whose order is time) or noise (one image, with other noise)."""
    step: int = 1
    """Values by which a factor moves at most in a walk."""
    noise: float = 0.1
    """Deviation of the noise of views that are noise, in the units that the encoder sees."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("weight")
        if extremes(self.weight)[1] > 1:
            raise UsageError(f"weight lies between 0 and 1, not {self.weight}")
        if self.directions < 1 or self.step < 1:
            raise UsageError(f"directions and step must be at least 1, not {self.directions} and {self.step}")
        if self.views not in VIEWS:
            raise unknown("kind of views", self.views, VIEWS)
        if not 0 < self.noise < math.inf:
            raise UsageError(f"noise must be a positive number, not {self.noise}")

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (2, n) of both views."""
        if self.views == "noise":
            return np.tile(data.sample(n, rng), (2, 1))
        if self.views in ("walk", "rows"):
            return draw_consecutive(data, n, rng, time=self.views, step=self.step)
        return super().draw(data, n, rng)

    def check(self, data: Dataset, latents: int) -> None:
        """Refuse data that do not have these views."""
        if self.views in ("walk", "rows"):
            require_consecutive(data, self.views, self.step)
        elif self.views == "factors":
            super().check(data, latents)

    def infer(self, model: Model, batch: Batch, step: int, noise: torch.Generator) -> tuple[Posterior, Tensor]:
        """Return the codes of both views."""
        x = batch.x
        if self.views == "noise":
            x = x + self.noise * torch.randn(x.shape, generator=batch.choices).to(x)
        q = model.encode(x)
        return q, q.mean

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted agreement of the views and normality of the codes."""
        weight, views = value_at(self.weight, step), z.chunk(2)
        normality = [sigreg(view, directions=self.directions, generator=batch.choices) for view in views]
        return {
            "alignment": (1 - weight) * alignment(*views),
            "sigreg": weight * torch.stack(normality).mean(),
        }

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return nothing: both terms need the batch's random choices."""
        return {}


def alignment(a: Tensor, b: Tensor) -> Tensor:
    """Return the squared distance of each view's codes from the mean of both, a mean over views, rows and latents."""
    return (a - b).square().mean() / 4
