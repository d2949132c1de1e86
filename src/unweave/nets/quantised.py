"""Bottlenecks whose latents take few values: learnt values, or the levels of a fixed grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from unweave.nets.bottleneck import Head

VALUES = 10
"""Default number of learnt values of a latent."""
LEVELS = 12
"""Default number of levels of the fixed grid."""


@dataclass(frozen=True)
class Quantised:
    """A deterministic code whose latents take one of a few values; there is no variance."""

    continuous: Tensor  # (n, latents): the encoder's outputs
    nearest: Tensor  # (n, latents): the values nearest to them, differentiable in a learnt codebook
    values: int | Sequence[int]
    """Number of values of a latent: one number for all, or one for each."""

    @property
    def mean(self) -> Tensor:
        """The nearest values; the gradient passes straight through to the encoder's outputs."""
        # The difference is exactly zero, so codes are codebook values bit for bit.
        return self.nearest.detach() + (self.continuous - self.continuous.detach())

    def sample(self, noise: torch.Generator) -> Tensor:
        """Return the code itself."""
        return self.mean

    def rows(self, which: slice | Tensor) -> Quantised:
        """Return the codes of some of the images."""
        return Quantised(self.continuous[which], self.nearest[which], self.values)

    def kl(self) -> Tensor:
        """Return the divergence from a uniform prior over the values: log(values) for each latent."""
        each = [self.values] if isinstance(self.values, int) else self.values
        return self.continuous.new_tensor([math.log(values) for values in each]).expand_as(self.continuous)


class CodebookHead(Head):
    """A linear head, and learnt values for each latent [Hsu2023]_, which start evenly spaced in [-1/2, 1/2]."""

    def __init__(self, features: int, latents: int, values: int = VALUES) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents)
        # The parameter is the offset from the initial values, because all parameters but weight matrices start at zero.
        self.moves = nn.Parameter(torch.empty(latents, values))

    @property
    def codebook(self) -> Tensor:
        """The values (latents, values) that latents can take."""
        return torch.linspace(-0.5, 0.5, self.moves.shape[1], device=self.moves.device) + self.moves

    def forward(self, features: Tensor) -> Quantised:
        """Return the code, in float32 whatever the precision of the features."""
        continuous, codebook = self.mean(features).float(), self.codebook
        places = (continuous.detach()[..., None] - codebook.detach()).abs().argmin(-1)  # (n, latents)
        # Selected by a product, because its gradient is deterministic on every device.
        nearest = (functional.one_hot(places, codebook.shape[1]) * codebook).sum(-1)
        return Quantised(continuous, nearest, codebook.shape[1])


class GridHead(Head):
    """A linear head, squashed by tanh and rounded to one of `levels` evenly spaced values in [-1, 1] [Mentzer2024]_.

    A list gives the number of levels of each latent; it repeats if there are more latents.
    """

    def __init__(self, features: int, latents: int, levels: int | Sequence[int] = LEVELS) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents)
        self.levels = levels if isinstance(levels, int) else [levels[j % len(levels)] for j in range(latents)]

    def forward(self, features: Tensor) -> Quantised:
        """Return the code, in float32 whatever the precision of the features."""
        continuous = torch.tanh(self.mean(features).float())
        if isinstance(self.levels, int):
            steps = (self.levels - 1) / 2
        else:
            steps = continuous.new_tensor([(levels - 1) / 2 for levels in self.levels])
        return Quantised(continuous, ((continuous.detach() + 1) * steps).round() / steps - 1, self.levels)
