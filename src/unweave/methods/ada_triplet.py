"""The adaptive triplet loss, which makes anchors and negatives differ in few latents."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from unweave.methods.adaptive import absolute, require_fraction, shared
from unweave.methods.triplets import TripletLoss
from unweave.nets import Posterior
from unweave.schedules import Schedule, Scheduled, value_at


@dataclass(frozen=True)
class AdaptiveTriplet(TripletLoss):
    """Gives less weight to latents that anchor and negative seem to share [Michlo2022]_, 5.17 to 5.21."""

    omega: Scheduled = field(default=Schedule(1.0, 0.5, share=1.0))
    """Weight of shared latents, 0 to 1; works best if it decreases over the whole run, as by default."""
    eta: Scheduled = 0.5
    """Threshold for shared latents, from 0 (smallest difference, none is shared) to 1 (largest difference)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fraction(self, "omega", "eta")

    def weights(self, anchor: Posterior, negative: Posterior, step: int) -> Tensor:
        """Return omega for shared latents and 1 for the others."""
        delta = self.delta(anchor, negative)
        return torch.where(shared(delta, value_at(self.eta, step)), value_at(self.omega, step), 1.0)

    def delta(self, anchor: Posterior, negative: Posterior) -> Tensor:
        """Return how far apart the latents of anchors and negatives are."""
        return absolute(anchor, negative)
