"""The SlowVAE: a sparse prior on the changes between two images."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.fields import later
from unweave.methods.adaptive import parts
from unweave.methods.pairs import Pairs
from unweave.nets import Gaussian, Model, Posterior
from unweave.schedules import Scheduled, extremes, value_at

ENTROPY = 0.5 * math.log(2 * math.pi * math.e)
"""Entropy of the standard normal distribution, in nats."""


@dataclass(frozen=True)
class SlowVAE(Pairs):
    r"""SlowVAE [Klindt2021]_: -E_q[log p(x, x'|z, z')] + beta KL(q(z|x) || p(z)) + gamma E_q KL(q(z'|x') || p(z'|z)).

    p(z'|z) is a Laplace density around z with this `rate`. The objective of a pair is summed over both directions and
    divided by four: it is a mean over images and directions.
    """

    beta: Scheduled = 1.0
    """Weight of the KL term of a single image."""
    gamma: Scheduled = 10.0
    """Weight of the KL term of an image given the other image of its pair."""
    rate: Scheduled = 6.0
    """Rate of the Laplace prior on changes; larger values expect smaller changes."""
    double_cross_entropy: bool = later(False)
    """Count the cross-entropy of the transition twice and its entropy once, as the authors' code does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("beta", "gamma", "rate")
        if extremes(self.rate)[0] == 0:
            raise UsageError("rate must be a positive number, not 0")

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted KL terms: of single images, and given the other image."""
        assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
        a, b = parts(q, 2)
        alone = q.kl().sum(1).mean()
        rate = value_at(self.rate, step)
        given = transition_kl(a, b, rate).sum(1).mean()
        if self.double_cross_entropy:
            given = given + transition_cross_entropy(a, b, rate).sum(1).mean()
        return {"kl": value_at(self.beta, step) / 2 * alone, "transition": value_at(self.gamma, step) / 2 * given}


def transition_kl(a: Gaussian, b: Gaussian, rate: float) -> Tensor:
    """Return the mean of E_a KL(b || Laplace(z_a)) and E_b KL(a || Laplace(z_b)), exact, for every pair and latent."""
    entropy = ENTROPY + (a.log_variance + b.log_variance) / 4
    return transition_cross_entropy(a, b, rate) - entropy


def transition_cross_entropy(a: Gaussian, b: Gaussian, rate: float) -> Tensor:
    """Return -E log p(z_b|z_a), the same in both directions: rate * E|z_a - z_b| - log(rate / 2).

    The difference of two Gaussian numbers is Gaussian too.
    """
    spread = torch.logaddexp(a.log_variance, b.log_variance)
    return rate * mean_magnitude(a.mean - b.mean, spread) - math.log(rate / 2)


def mean_magnitude(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return E|d| of d ~ N(mean, exp(log_variance))."""
    deviation = (0.5 * log_variance.clamp(min=-80)).exp()  # far below any mean, but its inverse can be squared
    ratio = mean / (deviation * math.sqrt(2))
    return deviation * math.sqrt(2 / math.pi) * (-ratio.square()).exp() + mean * torch.erf(ratio)
