"""LeJEPA: the codes of two views of one scene agree, and all codes together are standard normal."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
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
USED_BY = {
    "changed": "factors",
    "rule": "factors",
    "step_rate": "factors",
    "always_shared": "factors",
    "step": "walk",
    "noise": "noise",
}
"""The views that a field belongs to."""


@dataclass(frozen=True)
class LeJEPA(Pairs):
    r"""LeJEPA [Balestriero2025]_: (1 - weight) mean_v |z_v - mean z|^2 / latents + weight mean_v SIGReg(z_v).

    z_v are the codes of two views v of the same scene. The first term makes them agree, the second makes the codes of
    each view follow N(0, I). There is no decoder. If the true latents are Gaussian and the second view is a small step
    from the first, the optimum is a rotation of the true latents [Klindt2026]_.
    """

    bottleneck: ClassVar[str] = "point"
    min_batch: ClassVar[int] = 2
    decoder: ClassVar[bool] = False

    weight: Scheduled = 0.05
    """Weight of the normality of the codes, from 0 to 1; their agreement has the weight 1 - weight."""
    directions: int = 256
    """Number of random directions per step in which codes are compared with a normal distribution."""
    views: Annotated[str, OneOf(VIEWS)] = "factors"
    """How the two views differ: factors (images that share factors), walk (every factor moves a little), rows
    (consecutive rows of your data, in temporal order) or noise (the same image with different noise)."""
    step: int = 1
    """Largest number of values by which a factor moves in a walk."""
    noise: float = 0.1
    """Standard deviation of the noise for views=noise, in the units of the encoder's input."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("weight")
        if extremes(self.weight)[1] > 1:
            raise UsageError(f"weight must be between 0 and 1, not {self.weight}")
        if self.directions < 1 or self.step < 1:
            raise UsageError(f"directions and step must be at least 1, not {self.directions} and {self.step}")
        if self.views not in VIEWS:
            raise unknown("kind of views", self.views, VIEWS)
        if not 0 < self.noise < math.inf:
            raise UsageError(f"noise must be a positive number, not {self.noise}")
        for spec in fields(self):
            views = USED_BY.get(spec.name, self.views)
            if views != self.views and getattr(self, spec.name) != spec.default:
                raise UsageError(f"{spec.name} has no effect with the views '{self.views}', only with '{views}'")

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (2, n) of both views."""
        if self.views == "noise":
            return np.tile(data.sample(n, rng), (2, 1))
        if self.views in ("walk", "rows"):
            return draw_consecutive(data, n, rng, time=self.views, step=self.step)
        return super().draw(data, n, rng)

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` if the data set does not have these views."""
        if self.views in ("walk", "rows"):
            require_consecutive(data, self.views, self.step)
        elif self.views == "factors":
            if not data.is_grid:
                needs = f"views that share factors need a full grid of factors, which {data.name} does not have"
                raise UsageError(f"{needs}: use the views rows (consecutive rows) or noise")
            super().check(data, latents)

    def infer(self, model: Model, batch: Batch, step: int, noise: torch.Generator) -> tuple[Posterior, Tensor]:
        """Return the codes of both views."""
        x = batch.x
        if self.views == "noise":
            x = x + self.noise * torch.randn(x.shape, generator=batch.choices).to(x)
        q = model.encode(x)
        return q, q.mean

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted agreement of the views, and the weighted normality of the codes."""
        weight, views = value_at(self.weight, step), z.chunk(2)
        normality = [sigreg(view, directions=self.directions, generator=batch.choices) for view in views]
        return {
            "alignment": (1 - weight) * alignment(*views),
            "sigreg": weight * torch.stack(normality).mean(),
        }

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return no terms: both need the batch, and are in `terms`."""
        return {}


def alignment(a: Tensor, b: Tensor) -> Tensor:
    """Return the squared distance of each view's codes from their mean, averaged over views, rows and latents."""
    return (a - b).square().mean() / 4
