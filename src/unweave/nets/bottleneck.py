"""The bottleneck between encoder and decoder: a diagonal Gaussian posterior."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Gaussian:
    """q(z|x) = N(mean, diag(exp(log_variance))), one row an image."""

    mean: Tensor  # (n, latents)
    log_variance: Tensor  # (n, latents)

    def sample(self, noise: torch.Generator) -> Tensor:
        """Draw one z a row, differentiable in mean and log_variance."""
        epsilon = torch.empty_like(self.mean).normal_(generator=noise)
        return self.mean + (0.5 * self.log_variance).exp() * epsilon

    def kl(self) -> Tensor:
        """Return KL(q(z_j|x) || N(0, 1)) in nats for every image and latent: (n, latents)."""
        return 0.5 * (self.mean.square() + self.log_variance.exp() - self.log_variance - 1)


class GaussianHead(nn.Module):
    """Two linear heads on the encoder's features, for mean and log-variance."""

    def __init__(self, features: int, latents: int) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents)
        self.log_variance = nn.Linear(features, latents)

    def forward(self, features: Tensor) -> Gaussian:
        """Return the posterior; in float32 whatever the precision of the features."""
        return Gaussian(self.mean(features).float(), self.log_variance(features).float())
