"""Average the posteriors of a group of images in the latents that they share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import torch
from torch import Tensor

from unweave.data import Dataset
from unweave.data.sampling import draw_groups
from unweave.errors import UsageError
from unweave.fields import later
from unweave.methods.adaptive import parts
from unweave.methods.base import Batch
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.pairs import Pairs
from unweave.nets import Gaussian, Posterior


@dataclass(frozen=True)
class SharedPosteriors(Pairs, BetaVAE):
    """A beta-VAE that averages the posteriors of a group in some latents: `same` says which, `average` how."""

    group: int = later(2)
    """Number of images in a group, which all share the same factors: 2 (pairs) or more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.group < 2:
            raise UsageError(f"group must be at least 2, not {self.group}")

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (group, n) of a batch's groups."""
        return draw_groups(data, n, rng, self.changes(), self.group)

    def posterior(self, q: Posterior, batch: Batch, step: int) -> Posterior:
        """Return the posteriors with the shared latents averaged."""
        assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
        members = parts(q, self.group)
        same = self.same(members, batch, step).repeat(self.group, 1)
        mean, log_variance = (value.repeat(self.group, 1) for value in self.average(members))
        return Gaussian(torch.where(same, mean, q.mean), torch.where(same, log_variance, q.log_variance))

    @abstractmethod
    def same(self, members: Sequence[Gaussian], batch: Batch, step: int) -> Tensor:
        """Return which latents (n, latents) the images of each group share."""

    @abstractmethod
    def average(self, members: Sequence[Gaussian]) -> tuple[Tensor, Tensor]:
        """Return the mean and the log-variance of a group's average posterior."""


def mean_posterior(members: Sequence[Gaussian]) -> tuple[Tensor, Tensor]:
    """Return the mean of the means, and the logarithm of the mean variance."""
    mean = reduce(torch.add, (q.mean for q in members)) / len(members)
    return mean, reduce(torch.logaddexp, (q.log_variance for q in members)) - math.log(len(members))


def product_posterior(members: Sequence[Gaussian]) -> tuple[Tensor, Tensor]:
    """Return the means weighted by the precisions, and the mean precision as the logarithm of a variance.

    This is the normalised geometric mean of the densities.
    """
    mean, log_precision = members[0].mean, -members[0].log_variance
    for q in members[1:]:
        weight = torch.sigmoid(log_precision + q.log_variance)  # of those before, against the precision of this one
        mean = weight * mean + (1 - weight) * q.mean
        log_precision = torch.logaddexp(log_precision, -q.log_variance)
    return mean, math.log(len(members)) - log_precision
