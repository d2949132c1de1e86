"""A bottleneck whose latents are scalars of one learnt codebook, mixed by Gumbel-softmax during training."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor, nn

from unweave.nets.bottleneck import Head
from unweave.nets.categorical import kl_to_uniform, one_hot, relaxed

VALUES = 64
"""Default number of scalars in the codebook."""
TEMPERATURE = 1.0


@dataclass(frozen=True)
class Relaxed:
    """q(k|x) = softmax over k of -(c - e_k)^2 for each latent: c is the encoder's output, e the codebook."""

    continuous: Tensor  # (n, latents): c
    codebook: Tensor  # (values,): e
    temperature: float

    @property
    def logits(self) -> Tensor:
        """The negative squared distances (n, latents, values)."""
        return -(self.continuous[..., None] - self.codebook).square()

    @property
    def mean(self) -> Tensor:
        """The most likely scalars (n, latents): those nearest to the encoder's outputs.

        The gradient passes to the scalars, and straight through to the encoder's outputs.
        """
        nearest = self.values(one_hot(self.logits.argmax(-1).to(self.continuous), len(self.codebook)))
        # The difference is exactly zero, so codes are scalars of the codebook bit for bit.
        return nearest + (self.continuous - self.continuous.detach())

    def weights(self, noise: torch.Generator) -> Tensor:
        """Draw relaxed one-hot vectors (n, latents, values)."""
        return relaxed(self.logits, self.temperature, noise)

    def values(self, weights: Tensor) -> Tensor:
        """Return the mixtures of scalars (n, latents) with weights (n, latents, values)."""
        return weights @ self.codebook

    def sample(self, noise: torch.Generator) -> Tensor:
        """Draw mixtures of scalars (n, latents) with relaxed one-hot weights."""
        return self.values(self.weights(noise))

    def rows(self, which: slice | Tensor) -> Relaxed:
        """Return the posteriors of some of the images."""
        return Relaxed(self.continuous[which], self.codebook, self.temperature)

    def kl(self) -> Tensor:
        """Return the divergence of each latent from the uniform distribution: (n, latents)."""
        return kl_to_uniform(self.logits)


class RelaxedHead(Head):
    """A linear head, and a codebook of scalars that all latents share [Baykal2024]_.

    The scalars start at evenly spaced quantiles of N(0, 1).
    """

    def __init__(self, features: int, latents: int, values: int = VALUES, temperature: float = TEMPERATURE) -> None:
        super().__init__()
        self.mean = nn.Linear(features, latents)
        # The parameter is the offset from the initial values, because all parameters but weight matrices start at zero.
        self.moves = nn.Parameter(torch.empty(values))
        self._start = [NormalDist().inv_cdf((place + 0.5) / values) for place in range(values)]
        self._temperature = temperature

    @property
    def codebook(self) -> Tensor:
        """The scalars (values,)."""
        return self.moves.new_tensor(self._start) + self.moves

    def forward(self, features: Tensor) -> Relaxed:
        """Return the posterior; in float32 whatever the precision of the features."""
        return Relaxed(self.mean(features).float(), self.codebook, self._temperature)
