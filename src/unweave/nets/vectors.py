"""A bottleneck that takes each latent for one of a few learned vectors: categories, each with a place of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from unweave.nets.bottleneck import Head
from unweave.nets.categorical import one_hot

CATEGORIES = 16
"""Vectors in the codebook of a latent, by default."""
SIZE = 8
"""Numbers in a vector, by default."""


@dataclass(frozen=True)
class Vectors:
    """A deterministic code: each latent is the number of the vector that is next to what the encoder says."""

    places: Tensor  # (n, latents): which vectors
    continuous: Tensor  # (n, latents, size): what the encoder says
    nearest: Tensor  # (n, latents, size): the vectors next to it, differentiable in the codebook
    categories: int

    @property
    def mean(self) -> Tensor:
        """The numbers of the vectors, as floats."""
        return self.places.to(self.continuous)

    def sample(self, noise: torch.Generator) -> Tensor:
        """Return the vectors side by side, (n, latents * size); gradients go straight through to the encoder's."""
        # The difference is zero, exactly: what is decoded are codebook vectors to the last bit.
        return (self.nearest.detach() + (self.continuous - self.continuous.detach())).flatten(1)

    def rows(self, which: slice | Tensor) -> Vectors:
        """Return the codes of some of the images."""
        return Vectors(self.places[which], self.continuous[which], self.nearest[which], self.categories)

    def kl(self) -> Tensor:
        """Return the divergence from a prior that takes all vectors for equally likely: log(categories) each."""
        return torch.full_like(self.mean, math.log(self.categories))


class VectorHead(Head):
    """A linear head, and learned vectors: a codebook for each latent, or one that all share [Oord2017]_."""

    def __init__(
        self, features: int, latents: int, categories: int = CATEGORIES, size: int = SIZE, shared: bool = False
    ) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents * size)
        self.vectors = nn.Parameter(torch.empty(1 if shared else latents, categories, size))

    @classmethod
    def inputs(cls, latents: int, categories: int = CATEGORIES, size: int = SIZE, **options: Any) -> int:
        """Return the numbers of all vectors."""
        return latents * size

    @classmethod
    def categories(cls, latents: int, categories: int = CATEGORIES, **options: Any) -> tuple[int, ...]:
        """Return the number of vectors, for each latent."""
        return (categories,) * latents

    def initialise(self, generator: torch.Generator) -> None:
        """Draw vectors of about the length 1."""
        nn.init.normal_(self.vectors, std=self.vectors.shape[2] ** -0.5, generator=generator)

    def forward(self, features: Tensor) -> Vectors:
        """Return the code, in float32 whatever the precision of the features."""
        continuous = self.mean(features).float().unflatten(1, (-1, self.vectors.shape[2]))
        apart = continuous.detach()[:, :, None] - self.vectors.detach()  # (n, latents, categories, size)
        places = apart.square().sum(-1).argmin(-1)
        return Vectors(places, continuous, self._vectors(places.float()), self.vectors.shape[1])

    def embed(self, codes: Tensor) -> Tensor:
        """Return the vectors of codes (n, latents), side by side."""
        return self._vectors(codes).flatten(1)

    def _vectors(self, codes: Tensor) -> Tensor:
        """Return the vectors (n, latents, size) of codes (n, latents)."""
        # Picked by a product, whose gradient is the same every time on every device.
        return (one_hot(codes, self.vectors.shape[1])[:, :, None] @ self.vectors).squeeze(2)
