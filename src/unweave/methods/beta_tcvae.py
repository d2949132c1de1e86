"""The β-TCVAE: the KL term in three parts, each with a weight."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

import torch
from torch import Tensor

from unweave.data import Dataset
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.methods.base import Method
from unweave.nets import Gaussian, Model, Posterior
from unweave.schedules import Scheduled, value_at

ESTIMATORS = ("weighted", "stratified")
LOG_2PI = math.log(2 * math.pi)


@dataclass(frozen=True)
class BetaTCVAE(Method):
    r"""beta-TCVAE [Chen2018]_, eq. 4: -E_q[log p(x|z)] + alpha I(x; z) + beta TC(z) + gamma sum_j KL(q(z_j) || p(z_j)).

    The aggregate q(z) and its margins q(z_j) are estimated from the batch, at one sample a posterior. The last part is
    what the first two leave of the KL term, which is exact, so that the three add up to it.
    """

    min_batch: ClassVar[int] = 2

    beta: Scheduled = 6.0
    """Weight of the total correlation KL(q(z) || prod_j q(z_j))."""
    alpha: Scheduled = 1.0
    """Weight of the mutual information between image and code."""
    gamma: Scheduled = 1.0
    """Weight of the divergence of each latent from its prior."""
    estimator: Annotated[str, OneOf(ESTIMATORS)] = "weighted"
    """How q(z) is estimated: weighted (every image of the batch counts the same) or stratified (one of data_size)."""
    data_size: int = 0
    """Number of images in the data set, for the stratified estimator; 0: as many as there are."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("beta", "alpha", "gamma")
        if self.estimator not in ESTIMATORS:
            raise unknown("estimator", self.estimator, ESTIMATORS)
        if self.data_size < 0:
            raise UsageError(f"data_size is a number of images, not {self.data_size}")

    def resolve(self, data: Dataset, lr: float) -> Self:
        """Return the method with the number of images, where the estimator needs it."""
        return self if self.estimator == "weighted" or self.data_size else replace(self, data_size=len(data))

    def check(self, data: Dataset, latents: int) -> None:
        """Refuse a stratified estimate with another number of images than there are."""
        if self.estimator == "stratified" and (self.data_size != len(data) or len(data) < 2):
            raise UsageError(f"the stratified estimator needs data_size={len(data)} (2 or more) for '{data.name}'")

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the three weighted parts of the KL term."""
        assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
        densities = log_densities(q, z)
        weights = self._log_weights(len(z), z.device)
        own = densities.diagonal().sum(0).mean()  # log q(z|x)
        joint = (weights + densities.sum(2)).logsumexp(1).mean()  # log q(z)
        margins = (weights[:, :, None] + densities).logsumexp(1).sum(1).mean()  # sum_j log q(z_j)
        information, total_correlation = own - joint, joint - margins
        remainder = q.kl().sum(1).mean() - information - total_correlation
        return {
            "information": value_at(self.alpha, step) * information,
            "total_correlation": value_at(self.beta, step) * total_correlation,
            "dimension_kl": value_at(self.gamma, step) * remainder,
        }

    def _log_weights(self, n: int, device: torch.device) -> Tensor:
        """Return the logarithm of what the posterior of image i counts in q(z) at the sample of image k: (k, i)."""
        if self.estimator == "weighted":
            return torch.full((n, n), -math.log(n), device=device)
        # A sample's own image is one of all; the others of the batch stand for all the rest.
        own, others = 1 / self.data_size, (1 - 1 / self.data_size) / max(n - 1, 1)
        weights = torch.full((n, n), others, device=device)
        return weights.fill_diagonal_(own).log()


def log_densities(q: Gaussian, z: Tensor) -> Tensor:
    """Return log q(z_kj | x_i) for samples k, images i and latents j: (k, i, j)."""
    precision = (-q.log_variance).exp()
    distance = (z[:, None] - q.mean).square() * precision
    return -0.5 * (distance + q.log_variance + LOG_2PI)
