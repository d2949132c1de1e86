"""Hausdorff factorised support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.fields import later
from unweave.methods.base import Batch
from unweave.methods.beta_vae import BetaVAE
from unweave.nets import Gaussian, Model, Posterior
from unweave.penalties import hausdorff_support, soft_hausdorff_support, total_correlation
from unweave.schedules import Scheduled, value_at


@dataclass(frozen=True)
class HFS(BetaVAE):
    r"""HFS [Roth2023]_: beta-VAE + gamma sum_{i<j} max_{(a, b) in Z_i x Z_j} min_{z in Z} |(a, b) - (z_i, z_j)|^2.

    Z are the batch's posterior means, Z_i their values of latent i. The term is zero if the batch contains every
    combination of two latents' values, even if unevenly. With `tc` it is HFS on a beta-TCVAE.
    """

    min_batch: ClassVar[int] = 2

    beta: Scheduled = 1.0
    """Weight of the KL term; a number, or a schedule such as 1:4@10000."""
    gamma: Scheduled = 1.0
    """Weight of the distance between the support of pairs of latents and the product of their supports."""
    delta: Scheduled = 0.0
    """Weight of a term against shrinking codes: sum_j max(0, 1 - standard deviation of latent j in the batch)."""
    pairs: int = 25
    """Number of pairs of latents drawn at each step; at most all pairs."""
    temperature: float = later(0.0)
    """Temperature of soft extremes that replace max and min, in units of squared distances; 0: hard extremes."""
    tc: Scheduled = later(0.0)  # noqa: RUF009
    """Weight of an additional total correlation term; beta 1 and tc B - 1 give HFS on a beta-TCVAE with beta B."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("gamma", "delta", "temperature", "tc")
        if self.pairs < 1:
            raise UsageError(f"pairs must be at least 1, not {self.pairs}")

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the terms of the beta-VAE, the distance of supports, and the optional terms with a weight."""
        terms = super().terms(model, batch, q, z, step)
        terms["support"] = value_at(self.gamma, step) * self._distance(q.mean, batch.choices)
        if self.delta:
            terms["scale"] = value_at(self.delta, step) * shrinkage(q.mean)
        if self.tc:
            assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
            correlation = total_correlation(z, q.mean, q.log_variance)
            terms["total_correlation"] = value_at(self.tc, step) * correlation
        return terms

    def _distance(self, codes: Tensor, choices: torch.Generator) -> Tensor:
        """Return the distance of the codes' support from a product, with hard or soft extremes."""
        if self.temperature:
            return soft_hausdorff_support(codes, temperature=self.temperature, pairs=self.pairs, generator=choices)
        return hausdorff_support(codes, pairs=self.pairs, generator=choices)


def shrinkage(codes: Tensor) -> Tensor:
    """Return sum_j max(0, 1 - standard deviation of latent j over the batch)."""
    deviation = (codes.var(0, correction=0) + 1e-6).sqrt()
    return (1 - deviation).clamp(min=0).sum()
