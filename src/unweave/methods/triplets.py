"""Common parts of the methods that learn from triplets of images."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from unweave.data import Dataset
from unweave.data.sampling import ORDERS, draw_triplets
from unweave.data.table import require_classes
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.methods.adaptive import parts
from unweave.methods.base import Batch, Method
from unweave.nets import Model, Posterior
from unweave.schedules import Scheduled, value_at

NORMS = {"l1": 1, "l2": 2}


@dataclass(frozen=True)
class TripletLoss(Method):
    """Adds a term that makes the means of positives nearer to their anchors than the means of negatives."""

    scale: Scheduled = 1.0
    """Weight of the triplet loss."""
    normalise_scale: bool = True
    """Multiply scale by the number of pixels, because the losses of the thesis are means over pixels, not sums."""
    margin: Scheduled = 10.0
    """How much further away than positives negatives must be for the loss to be zero."""
    soft_margin: bool = False
    """Use ln(1 + exp(d(a, p) - d(a, n))), which has no margin, instead of max(0, margin + d(a, p) - d(a, n))."""
    norm: Annotated[str, OneOf(NORMS)] = "l1"
    """Distance between codes: l1 or l2."""
    decoder_gradient: bool = True
    """Let the reconstruction loss train the encoder too; otherwise it trains only the decoder."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("scale", "margin")
        if self.norm not in NORMS:
            raise unknown("distance between codes", self.norm, NORMS)

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return all terms of the objective."""
        z = z if self.decoder_gradient else z.detach()
        return {**super().terms(model, batch, q, z, step), "triplet": self.triplet(model, batch, q, step)}

    def triplet(self, model: Model, batch: Batch, q: Posterior, step: int) -> Tensor:
        """Return the weighted triplet loss [Michlo2022]_, eq. 5.1 and 5.2."""
        a, p, n = self.split(batch, q, step)
        excess = self.length(a.mean - p.mean) - self.length(self.weights(a, n, step) * (a.mean - n.mean))
        margin = value_at(self.margin, step)
        loss = functional.softplus(excess) if self.soft_margin else functional.relu(margin + excess)
        pixels = math.prod(model.shape) if self.normalise_scale else 1
        return value_at(self.scale, step) * pixels * loss.mean()

    def split(self, batch: Batch, q: Posterior, step: int) -> list[Posterior]:
        """Return the posteriors of anchors, positives and negatives: the batch's three groups."""
        return parts(q, 3)

    def length(self, difference: Tensor) -> Tensor:
        """Return the norm of each row."""
        return torch.linalg.vector_norm(difference, ord=NORMS[self.norm], dim=1)

    def weights(self, anchor: Posterior, negative: Posterior, step: int) -> Tensor | float:
        """Return the weights of latents in the distance between anchors and negatives: by default, 1."""
        return 1.0


@dataclass(frozen=True)
class Triplets(TripletLoss):
    """Draws triplets that are ordered by their factors."""

    group_size: ClassVar[int] = 3

    by: Annotated[str, OneOf(ORDERS)] = "distance-scaled"
    """Order of positives and negatives: difference (number of factors), distance, distance-scaled or category."""
    category: str = ""
    """Factor that is an image's category, for `by` category; by default the first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by not in ORDERS:
            raise unknown("order of triplets", self.by, ORDERS)

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (3, n) of anchors, positives and negatives."""
        return draw_triplets(data, n, rng, by=self.by, category=self.category or 0)

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` if no factor varies, or if the factor that is the category does not."""
        require_classes(data, "a triplet ordered by factors")
        sizes = data.factors.sizes
        category = data.factors.axis(self.category or 0)
        if max(sizes) < 2:
            raise UsageError(f"{data.name} has no factor that varies, so triplets cannot be ordered")
        if self.by == "category" and sizes[category] < 2:
            raise UsageError(f"the category '{data.factors.names[category]}' has a single value; choose another")
