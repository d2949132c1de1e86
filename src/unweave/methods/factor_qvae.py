"""The FactorQVAE: latents take scalars of one codebook, and their total correlation is penalised."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from unweave.errors import UsageError
from unweave.methods.base import Batch
from unweave.methods.factor_vae import FactorVAE
from unweave.methods.joint_vae import require_temperature
from unweave.nets import Model, Posterior
from unweave.nets.relaxed import TEMPERATURE, VALUES, Relaxed
from unweave.schedules import Scheduled, value_at


@dataclass(frozen=True)
class FactorQVAE(FactorVAE):
    r"""FactorQVAE [Baykal2024]_: -E_q[log p(x|z)] + pixels (beta mean_j KL(q(k_j|x) || U) + gamma TC(k)).

    Each latent takes one of the scalars e_k of a shared codebook: q(k_j|x) is the softmax of -(c_j - e_k)^2 for the
    encoder's output c_j. During training a latent is a mixture of scalars with relaxed one-hot weights [Jang2017]_. As
    in FactorVAE, an adversary estimates the total correlation of these weights. The paper's reconstruction is a mean
    over pixels; multiplying by the number of pixels keeps the meaning of its weights.
    """

    bottleneck: ClassVar[str] = "relaxed"

    gamma: Scheduled = 1e-4
    """Weight of the total correlation, relative to the mean loss of a pixel."""
    beta: Scheduled = 1e-3
    """Weight of the KL term, a mean over latents, relative to the mean loss of a pixel."""
    values: int = VALUES
    """Number of scalars in the codebook."""
    temperature: float = TEMPERATURE
    """Temperature of the relaxation: lower values give samples closer to one scalar, but noisier gradients."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("beta")
        if self.values < 2:
            raise UsageError(f"values must be at least 2, not {self.values}")
        require_temperature(self.temperature)

    @property
    def bottleneck_options(self) -> dict[str, Any]:
        """The codebook, and the temperature."""
        return {"values": self.values, "temperature": self.temperature}

    def adversary(self, latents: int) -> nn.Module:
        """Return the discriminator of FactorVAE, which takes the weights of all scalars of all latents."""
        return nn.Sequential(nn.Flatten(), super().adversary(latents * self.values))

    def infer(self, model: Model, batch: Batch, step: int, noise: torch.Generator) -> tuple[Posterior, Tensor]:
        """Return the posteriors of a batch, and for z the relaxed one-hot weights (n, latents, values)."""
        q = model.encode(batch.x)
        assert isinstance(q, Relaxed), "the bottleneck is relaxed"
        return q, q.weights(noise)

    def decoded(self, q: Posterior, z: Tensor) -> Tensor:
        """Return the scalars (n, latents) that the weights z mix."""
        assert isinstance(q, Relaxed), "the bottleneck is relaxed"
        return q.values(z)

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted KL term and total correlation, which trains the encoder but not the adversary."""
        pixels = math.prod(model.shape)
        terms = super().penalty(model, q, z, step)
        return {
            "kl": value_at(self.beta, step) * pixels * q.kl().mean(),
            "total_correlation": pixels * terms["total_correlation"],
        }
