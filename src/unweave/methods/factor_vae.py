"""The FactorVAE: total correlation estimated by a discriminator."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from torch import Tensor, nn

from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.fields import later
from unweave.methods.base import Method
from unweave.nets import Model, Posterior
from unweave.penalties import density_ratio, density_ratio_loss
from unweave.schedules import Scheduled, value_at

LAYERS = 6
SLOPE = 0.2


@dataclass(frozen=True)
class FactorVAE(Method):
    r"""FactorVAE [Kim2018]_, eq. 2: -E_q[log p(x|z)] + KL(q(z|x) || p(z)) + gamma KL(q(z) || prod_j q(z_j)).

    An adversary learns to distinguish codes from codes whose latents come from different images. Its log-odds estimate
    the last divergence, the total correlation.
    """

    min_batch: ClassVar[int] = 2

    gamma: Scheduled = 35.0
    """Weight of the total correlation; the paper uses 35 for dSprites."""
    same_batch: bool = False
    """Shuffle the latents of the same batch, as disentanglement_lib does; the paper shuffles those of another batch."""
    adversary_units: int = 1000
    """Units in each of the adversary's six hidden layers."""
    adversary_lr: float | None = later(None, earlier=1e-4)
    """Learning rate of the adversary; by default that of the run: the adversary must keep up with the encoder."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("gamma")
        if self.adversary_units < 1:
            raise UsageError(f"adversary_units must be at least 1, not {self.adversary_units}")
        if self.adversary_lr is not None and not 0 < self.adversary_lr < math.inf:
            raise UsageError(f"adversary_lr must be positive, not {self.adversary_lr}")

    def resolve(self, data: Dataset, lr: float) -> Self:
        """Return the method with the learning rate of its adversary."""
        return self if self.adversary_lr is not None else replace(self, adversary_lr=lr)

    @property
    def adversary_rate(self) -> float:
        """The learning rate of the adversary."""
        assert self.adversary_lr is not None, "it is resolved before training"
        return self.adversary_lr

    def adversary(self, latents: int) -> nn.Module:
        """Return the discriminator: codes (n, latents) to two logits, for actual and for shuffled codes."""
        widths = [latents, *[self.adversary_units] * LAYERS]
        hidden = [
            layer
            for i in range(LAYERS)
            for layer in (nn.Linear(widths[i], widths[i + 1]), nn.LeakyReLU(SLOPE, inplace=True))
        ]
        return nn.Sequential(*hidden, nn.Linear(self.adversary_units, 2))

    def adversary_loss(self, model: Model, z: Tensor, another: Callable[[], Tensor]) -> Tensor:
        """Return the cross-entropy of distinguishing codes (class 0) from shuffled codes (class 1)."""
        return density_ratio_loss(discriminator(model), z, z if self.same_batch else another())

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the KL term and the weighted total correlation, which trains the encoder but not the adversary."""
        total_correlation = density_ratio(discriminator(model), z)
        return {
            "kl": q.kl().sum(1).mean(),
            "total_correlation": value_at(self.gamma, step) * total_correlation,
        }


def discriminator(model: Model) -> nn.Module:
    """Return the model's adversary, which exists if the model was built for this method."""
    if model.adversary is None:
        raise ValueError("the model was built without an adversary")
    return model.adversary
