"""A bottleneck with Gaussian latents and categorical latents, which are relaxed by Gumbel-softmax."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from unweave.nets.bottleneck import Gaussian, GaussianHead, Head

CATEGORICAL = 1
"""Default number of categorical latents."""
CATEGORIES = 10
"""Default number of categories of each."""
TEMPERATURE = 0.67
"""Default temperature of the relaxation, as in the authors' code."""


@dataclass(frozen=True)
class Joint:
    """q(z, c|x): Gaussian latents followed by categorical latents, all independent given the image."""

    numbers: Gaussian  # (n, numbers)
    logits: Tensor  # (n, categorical, categories)
    temperature: float

    @property
    def mean(self) -> Tensor:
        """The posterior means of the Gaussian latents, and the most likely categories of the others."""
        return torch.cat([self.numbers.mean, self.logits.argmax(-1).to(self.numbers.mean)], 1)

    @property
    def log_variance(self) -> Tensor:
        """The log-variances of the Gaussian latents, and -inf for the categorical ones."""
        exact = torch.full_like(self.logits[..., 0], -math.inf)
        return torch.cat([self.numbers.log_variance, exact], 1)

    def sample(self, noise: torch.Generator) -> Tensor:
        """Draw Gaussian latents and relaxed one-hot vectors: (n, numbers + categorical * categories)."""
        drawn = self.numbers.sample(noise)
        return torch.cat([drawn, relaxed(self.logits, self.temperature, noise).flatten(1)], 1)

    def rows(self, which: slice | Tensor) -> Joint:
        """Return the posteriors of some of the images."""
        return Joint(self.numbers.rows(which), self.logits[which], self.temperature)

    def kl(self) -> Tensor:
        """Return the divergence of each latent from its prior, N(0, 1) or uniform: (n, latents)."""
        return torch.cat([self.numbers.kl(), kl_to_uniform(self.logits)], 1)


def relaxed(logits: Tensor, temperature: float, noise: torch.Generator) -> Tensor:
    """Draw relaxed one-hot vectors, softmax((logits + Gumbel noise) / temperature), over the last axis [Jang2017]_."""
    gumbel = -torch.empty_like(logits).exponential_(generator=noise).log()
    return torch.softmax((logits + gumbel) / temperature, -1)


def kl_to_uniform(logits: Tensor) -> Tensor:
    """Return sum_k p_k log(p_k K) of p = softmax(logits) over the K entries of the last axis, in nats."""
    logs = torch.log_softmax(logits, -1)
    return (logs.exp() * logs).sum(-1) + math.log(logits.shape[-1])


class JointHead(Head):
    """Linear heads: mean and log-variance of the first latents, logits of the last `categorical` ones [Dupont2018]_."""

    def __init__(
        self,
        features: int,
        latents: int,
        categorical: int = CATEGORICAL,
        categories: int = CATEGORIES,
        temperature: float = TEMPERATURE,
    ) -> None:
        super().__init__()
        self.numbers = GaussianHead(features, latents - categorical)
        self.logits = nn.Linear(features, categorical * categories)
        self._shape = (categorical, categories)
        self._temperature = temperature

    @classmethod
    def widths(
        cls, latents: int, categorical: int = CATEGORICAL, categories: int = CATEGORIES, **options: Any
    ) -> tuple[int, ...]:
        """Return one input for each Gaussian latent, and one for each category of the others."""
        return (1,) * (latents - categorical) + (categories,) * categorical

    @classmethod
    def categories(
        cls, latents: int, categorical: int = CATEGORICAL, categories: int = CATEGORIES, **options: Any
    ) -> tuple[int, ...]:
        """Return 0 for each Gaussian latent, and the number of categories for each of the others."""
        return (0,) * (latents - categorical) + (categories,) * categorical

    def forward(self, features: Tensor) -> Joint:
        """Return the posterior; in float32 whatever the precision of the features."""
        logits = self.logits(features).float().unflatten(1, self._shape)
        return Joint(self.numbers(features), logits, self._temperature)

    def embed(self, codes: Tensor) -> Tensor:
        """Return the Gaussian latents, and a one-hot vector for each categorical one."""
        numbers, categories = codes.tensor_split([codes.shape[1] - self._shape[0]], dim=1)
        return torch.cat([numbers, one_hot(categories, self._shape[1]).flatten(1)], 1)


def one_hot(codes: Tensor, categories: int) -> Tensor:
    """Return category indices (...) as one-hot vectors (..., categories); numbers are rounded to the nearest index."""
    places = codes.round().clamp(0, categories - 1).long()
    return functional.one_hot(places, categories).to(codes.dtype)
