"""The adaptive VAEs of pairs: Ada-GVAE and Ada-ML-VAE."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from unweave.errors import unknown
from unweave.methods.adaptive import DIFFERENCES, parts, require_fraction, shared
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.pairs import Pairs
from unweave.nets import Gaussian, Posterior
from unweave.schedules import Scheduled, value_at


@dataclass(frozen=True)
class AdaptiveVAE(Pairs, BetaVAE):
    """A beta-VAE whose two posteriors of a pair are averaged in the latents that the pair seems to share."""

    eta: Scheduled = 0.5
    """Share of the way from the least to the largest difference below which latents are shared; 0: none is."""
    difference: str = "symmetric-kl"
    """How far apart two posteriors are: symmetric-kl, kl (of the first from the second, as published) or absolute."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fraction(self, "eta")
        if self.difference not in DIFFERENCES:
            raise unknown("difference of posteriors", self.difference, DIFFERENCES)

    def posterior(self, q: Posterior, step: int) -> Posterior:
        """Return the posteriors with what is shared averaged."""
        assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
        a, b = parts(q, 2)
        same = shared(DIFFERENCES[self.difference](a, b), value_at(self.eta, step)).repeat(2, 1)
        mean, log_variance = (value.repeat(2, 1) for value in self.average(a, b))
        return Gaussian(torch.where(same, mean, q.mean), torch.where(same, log_variance, q.log_variance))

    @abstractmethod
    def average(self, a: Gaussian, b: Gaussian) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance of the average of two posteriors."""


@dataclass(frozen=True)
class AdaGVAE(AdaptiveVAE):
    r"""Ada-GVAE [Locatello2020]_: beta-VAE on pairs, with q = N((m1 + m2)/2, (v1 + v2)/2) in the latents they share.

    Also [Michlo2022]_, eq. 2.10 to 2.16. v is the variance: variances are averaged, not deviations.
    """

    def average(self, a: Gaussian, b: Gaussian) -> tuple[Tensor, Tensor]:
        """Return the means of the means and of the variances."""
        return (a.mean + b.mean) / 2, torch.logaddexp(a.log_variance, b.log_variance) - math.log(2)


@dataclass(frozen=True)
class AdaMLVAE(AdaptiveVAE):
    r"""Ada-ML-VAE [Locatello2020]_: beta-VAE on pairs, with q1 q2 (normalised) in the latents they share.

    The product is that of [Bouchacourt2018]_ as disentanglement_lib has it, with the mean of both precisions:
    1/v = (1/v1 + 1/v2) / 2 and m/v = (m1/v1 + m2/v2) / 2.
    """

    def average(self, a: Gaussian, b: Gaussian) -> tuple[Tensor, Tensor]:
        """Return the means weighted by the precisions, and the mean precision."""
        log_variance = math.log(2) - torch.logaddexp(-a.log_variance, -b.log_variance)
        weight = torch.sigmoid(b.log_variance - a.log_variance)
        return weight * a.mean + (1 - weight) * b.mean, log_variance
