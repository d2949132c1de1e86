"""Pairs of images whose posteriors are averaged in the latents that the two share."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from unweave.methods.adaptive import parts
from unweave.methods.base import Batch
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.pairs import Pairs
from unweave.nets import Gaussian, Posterior


@dataclass(frozen=True)
class SharedPosteriors(Pairs, BetaVAE):
    """A beta-VAE whose two posteriors of a pair are averaged in some latents: `same` says which, `average` how."""

    def posterior(self, q: Posterior, batch: Batch, step: int) -> Posterior:
        """Return the posteriors with what is shared averaged."""
        assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
        a, b = parts(q, 2)
        same = self.same(a, b, batch, step).repeat(2, 1)
        mean, log_variance = (value.repeat(2, 1) for value in self.average(a, b))
        return Gaussian(torch.where(same, mean, q.mean), torch.where(same, log_variance, q.log_variance))

    @abstractmethod
    def same(self, a: Gaussian, b: Gaussian, batch: Batch, step: int) -> Tensor:
        """Return which latents (n, latents) the images of each pair share."""

    @abstractmethod
    def average(self, a: Gaussian, b: Gaussian) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance of the average of two posteriors."""


def mean_posterior(a: Gaussian, b: Gaussian) -> tuple[Tensor, Tensor]:
    """Return the means of the means and of the variances, these as logarithms."""
    return (a.mean + b.mean) / 2, torch.logaddexp(a.log_variance, b.log_variance) - math.log(2)


def product_posterior(a: Gaussian, b: Gaussian) -> tuple[Tensor, Tensor]:
    """Return the means weighted by the precisions, and the mean precision as the logarithm of a variance."""
    log_variance = math.log(2) - torch.logaddexp(-a.log_variance, -b.log_variance)
    weight = torch.sigmoid(b.log_variance - a.log_variance)
    return weight * a.mean + (1 - weight) * b.mean, log_variance
