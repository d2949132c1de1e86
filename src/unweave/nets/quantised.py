"""Bottlenecks whose codes take few values: learned ones, or the levels of a fixed grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from unweave.nets.bottleneck import Head

VALUES = 10
"""Learned values a latent can take, by default."""
LEVELS = 12
"""Levels of the fixed grid, by default."""


@dataclass(frozen=True)
class Quantised:
    """A deterministic code, each latent one of a few values; there is no variance."""

    continuous: Tensor  # (n, latents): what the encoder says
    nearest: Tensor  # (n, latents): the value next to it, differentiable in the codebook, if that is learned
    values: int | Sequence[int]
    """How many values a latent can take: each of them, or all."""

    @property
    def mean(self) -> Tensor:
        """The nearest values; gradients go straight through to the continuous code."""
        # The difference is zero, exactly: codes are codebook values to the last bit.
        return self.nearest.detach() + (self.continuous - self.continuous.detach())

    def sample(self, noise: torch.Generator) -> Tensor:
        """Return the code itself."""
        return self.mean

    def rows(self, which: slice | Tensor) -> Quantised:
        """Return the codes of some of the images."""
        return Quantised(self.continuous[which], self.nearest[which], self.values)

    def kl(self) -> Tensor:
        """Return the divergence from a prior that takes all values for equally likely: log(values) each."""
        each = [self.values] if isinstance(self.values, int) else self.values
        return self.continuous.new_tensor([math.log(values) for values in each]).expand_as(self.continuous)


class CodebookHead(Head):
    """A linear head, and learned values for each latent [Hsu2023]_: at first even steps of [-1/2, 1/2]."""

    def __init__(self, features: int, latents: int, values: int = VALUES) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents)
        # What is learned is how far the values have moved, for all parameters but weight matrices start at zero.
        self.moves = nn.Parameter(torch.empty(latents, values))

    @property
    def codebook(self) -> Tensor:
        """The values (latents, values) that codes take."""
        return torch.linspace(-0.5, 0.5, self.moves.shape[1], device=self.moves.device) + self.moves

    def forward(self, features: Tensor) -> Quantised:
        """Return the code, in float32 whatever the precision of the features."""
        continuous, codebook = self.mean(features).float(), self.codebook
        places = (continuous.detach()[..., None] - codebook.detach()).abs().argmin(-1)  # (n, latents)
        # Picked by a product, whose gradient is the same every time on every device.
        nearest = (functional.one_hot(places, codebook.shape[1]) * codebook).sum(-1)
        return Quantised(continuous, nearest, codebook.shape[1])


class GridHead(Head):
    """A linear head, squashed by tanh and rounded to one of `levels` even steps of [-1, 1] [Mentzer2024]_.

    Several numbers of levels are those of the latents in turn, from the first again where there are more latents.
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
