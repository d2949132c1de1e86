"""The AnnealedVAE: a VAE with a growing capacity."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from unweave.methods.base import Method
from unweave.nets import Model, Posterior
from unweave.schedules import Schedule, Scheduled, value_at

GROWING = Schedule(0.0, 25.0, share=1 / 3)
"""The study's 100,000 of 300,000 steps [Locatello2019]_."""


@dataclass(frozen=True)
class AnnealedVAE(Method):
    r"""AnnealedVAE [Burgess2017]_, eq. 8: -E_q[log p(x|z)] + gamma |KL(q(z|x) || p(z)) - C(step)|."""

    gamma: Scheduled = 1000.0
    """Weight of the distance between the KL term and the capacity."""
    capacity: Scheduled = GROWING
    """Target C of the KL term, in nats; a schedule lets it grow."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("gamma", "capacity")

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return how far the batch's mean KL is from the capacity, weighted."""
        distance = (q.kl().sum(1).mean() - value_at(self.capacity, step)).abs()
        return {"capacity": value_at(self.gamma, step) * distance}

    def diagnostics(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the KL term itself, in nats: it should follow the capacity."""
        return {"kl": q.kl().sum(1).mean()}
