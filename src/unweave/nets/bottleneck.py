"""Bottlenecks between encoder and decoder: their interface, a diagonal Gaussian posterior, and a single point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import torch
from torch import Tensor, nn

from unweave.variances import inverse_variance


class Posterior(Protocol):
    """The encoder's output for a batch of images, with one row for each image."""

    @property
    def mean(self) -> Tensor:
        """The codes (n, latents) of the images; for a categorical latent, the index of its category."""
        ...

    def sample(self, noise: torch.Generator) -> Tensor:
        """Draw one z for each row, as the decoder's input (n, inputs), usually one number for each latent."""
        ...

    def rows(self, which: slice | Tensor) -> Self:
        """Return the posteriors of some of the images."""
        ...

    def kl(self) -> Tensor:
        """Return the divergence from the prior in nats for every image and latent: (n, latents)."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """q(z|x) = N(mean, diag(exp(log_variance))), with one row for each image."""

    mean: Tensor  # (n, latents)
    log_variance: Tensor  # (n, latents)

    def sample(self, noise: torch.Generator) -> Tensor:
        """Draw one z for each row, differentiable in mean and log_variance."""
        epsilon = torch.empty_like(self.mean).normal_(generator=noise)
        return self.mean + (0.5 * self.log_variance).exp() * epsilon

    def rows(self, which: slice | Tensor) -> Gaussian:
        """Return the posteriors of some of the images."""
        return Gaussian(self.mean[which], self.log_variance[which])

    def kl(self) -> Tensor:
        """Return KL(q(z_j|x) || N(0, 1)) in nats for every image and latent: (n, latents)."""
        return 0.5 * (self.mean.square() + self.log_variance.exp() - self.log_variance - 1)

    def divergence(self, p: Gaussian) -> Tensor:
        """Return KL(q || p) in nats for every image and latent: (n, latents)."""
        ratio = self.log_variance - p.log_variance
        apart = (self.mean - p.mean).square() * inverse_variance(p.log_variance)
        return 0.5 * (ratio.exp() + apart - 1 - ratio)


@dataclass(frozen=True)
class Point:
    """A deterministic code: all mass is on `mean`, and there is no variance."""

    mean: Tensor  # (n, latents)

    def sample(self, noise: torch.Generator) -> Tensor:
        """Return the code itself."""
        return self.mean

    def rows(self, which: slice | Tensor) -> Point:
        """Return the codes of some of the images."""
        return Point(self.mean[which])

    def kl(self) -> Tensor:
        """Return zeros: the divergence of a point is not defined."""
        return torch.zeros_like(self.mean)


class Head(nn.Module):
    """The layer between encoder and decoder: maps features (n, F) to a posterior, and codes to the decoder's input.

    A latent is a number, unless `categories` says otherwise. The class methods take the options of the layer, because a
    net calls them before the layer exists.
    """

    @classmethod
    def widths(cls, latents: int, **options: Any) -> tuple[int, ...]:
        """Return the number of the decoder's inputs for each latent: by default, 1."""
        return (1,) * latents

    @classmethod
    def inputs(cls, latents: int, **options: Any) -> int:
        """Return the number of the decoder's inputs."""
        return sum(cls.widths(latents, **options))

    @classmethod
    def categories(cls, latents: int, **options: Any) -> tuple[int, ...]:
        """Return the number of categories of each latent: 0 for a numeric latent, the default."""
        return (0,) * latents

    def initialise(self, generator: torch.Generator) -> None:
        """Draw parameters that need an initialisation of their own: by default, none."""

    def embed(self, codes: Tensor) -> Tensor:
        """Return the decoder's input (n, inputs) for codes (n, latents): by default, the codes."""
        return codes


class GaussianHead(Head):
    """Two linear heads on the encoder's features, for mean and log-variance."""

    def __init__(self, features: int, latents: int) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents)
        self.log_variance = nn.Linear(features, latents)

    def forward(self, features: Tensor) -> Gaussian:
        """Return the posterior; in float32 whatever the precision of the features."""
        return Gaussian(self.mean(features).float(), self.log_variance(features).float())


class PointHead(Head):
    """One linear head on the encoder's features."""

    def __init__(self, features: int, latents: int) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents)

    def forward(self, features: Tensor) -> Point:
        """Return the code."""
        return Point(self.mean(features).float())
