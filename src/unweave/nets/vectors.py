"""A bottleneck whose latents are categories, each represented by one of a few learnt vectors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from unweave.nets.bottleneck import Head
from unweave.nets.categorical import one_hot

CATEGORIES = 16
"""Default number of vectors in the codebook of a latent."""
SIZE = 8
"""Default length of a vector."""


@dataclass(frozen=True)
class Vectors:
    """A deterministic code: each latent is the index of the vector that is nearest to the encoder's output."""

    places: Tensor  # (n, latents): indices of the vectors
    continuous: Tensor  # (n, latents, size): the encoder's outputs
    nearest: Tensor  # (n, latents, size): the vectors nearest to them, differentiable in the codebook
    categories: int

    @property
    def mean(self) -> Tensor:
        """The indices of the vectors, as floats."""
        return self.places.to(self.continuous)

    def sample(self, noise: torch.Generator) -> Tensor:
        """Return the concatenated vectors (n, latents * size); the gradient passes straight through to the encoder."""
        # The difference is exactly zero, so the decoder gets the codebook vectors bit for bit.
        return (self.nearest.detach() + (self.continuous - self.continuous.detach())).flatten(1)

    def rows(self, which: slice | Tensor) -> Vectors:
        """Return the codes of some of the images."""
        return Vectors(self.places[which], self.continuous[which], self.nearest[which], self.categories)

    def kl(self) -> Tensor:
        """Return the divergence from a uniform prior over the vectors: log(categories) for each latent."""
        return torch.full_like(self.mean, math.log(self.categories))


class VectorHead(Head):
    """A linear head, and learnt vectors: a codebook for each latent, or one that all share [Oord2017]_."""

    def __init__(
        self, features: int, latents: int, categories: int = CATEGORIES, size: int = SIZE, shared: bool = False
    ) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents * size)
        self.vectors = nn.Parameter(torch.empty(1 if shared else latents, categories, size))

    @classmethod
    def widths(cls, latents: int, categories: int = CATEGORIES, size: int = SIZE, **options: Any) -> tuple[int, ...]:
        """Return the length of the vector of each latent."""
        return (size,) * latents

    @classmethod
    def categories(cls, latents: int, categories: int = CATEGORIES, **options: Any) -> tuple[int, ...]:
        """Return the number of vectors for each latent."""
        return (categories,) * latents

    def initialise(self, generator: torch.Generator) -> None:
        """Draw vectors of length about 1."""
        nn.init.normal_(self.vectors, std=self.vectors.shape[2] ** -0.5, generator=generator)

    def forward(self, features: Tensor) -> Vectors:
        """Return the code, in float32 for features of any precision."""
        continuous = self.mean(features).float().unflatten(1, (-1, self.vectors.shape[2]))
        apart = continuous.detach()[:, :, None] - self.vectors.detach()  # (n, latents, categories, size)
        places = apart.square().sum(-1).argmin(-1)
        return Vectors(places, continuous, self._vectors(places.float()), self.vectors.shape[1])

    def embed(self, codes: Tensor) -> Tensor:
        """Return the concatenated vectors of codes (n, latents)."""
        return self._vectors(codes).flatten(1)

    def _vectors(self, codes: Tensor) -> Tensor:
        """Return the vectors (n, latents, size) of codes (n, latents)."""
        # Selected by a product, because its gradient is deterministic on every device.
        return (one_hot(codes, self.vectors.shape[1])[:, :, None] @ self.vectors).squeeze(2)
