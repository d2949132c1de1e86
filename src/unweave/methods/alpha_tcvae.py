"""The α-TCVAE: a lower bound on the total correlation between latents and image."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

from torch import Tensor

from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.fields import OneOf
from unweave.methods.base import Method
from unweave.methods.beta_tcvae import ESTIMATORS, check_estimator
from unweave.nets import Gaussian, Model, Posterior
from unweave.penalties import kl_parts
from unweave.schedules import Scheduled, extremes, value_at


@dataclass(frozen=True)
class AlphaTCVAE(Method):
    r"""alpha-TCVAE [Meo2024]_: -E_q[log p(x|z)] + K alpha / (K - alpha) I(x; z) + (1 - alpha) / (1 - alpha / K) KL.

    K is the number of latents, KL the divergence of q(z|x) from the prior. Up to a constant and the factor of the
    reconstruction, the negative objective is a lower bound on sum_k I(x; z_k) - I(x; z), the total correlation between
    latents and image. I(x; z) replaces the conditional information I(x; z | z_k), of which it is an upper bound. It is
    estimated from the batch, as in the beta-TCVAE.
    """

    min_batch: ClassVar[int] = 2

    alpha: Scheduled = 0.25
    """Balance, 0 to 1, between the variational bottleneck (0, the KL term) and the conditional one (1, I(x; z))."""
    beta: Scheduled = 1.0
    """Additional weight of the variational bottleneck; with alpha 0 the method is a beta-VAE."""
    estimator: Annotated[str, OneOf(ESTIMATORS)] = "weighted"
    """Estimator of q(z): weighted (all images of the batch count equally) or stratified (uses data_size)."""
    data_size: int = 0
    """Number of images in the data set, for the stratified estimator; 0: the actual number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("alpha", "beta")
        if extremes(self.alpha)[1] > 1:
            raise UsageError(f"alpha must be a number from 0 to 1, not {self.alpha}")
        check_estimator(self.estimator, self.data_size)

    def resolve(self, data: Dataset, lr: float) -> Self:
        """Return the method with the number of images, if the estimator needs it."""
        return self if self.estimator == "weighted" or self.data_size else replace(self, data_size=len(data))

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` for a single latent, or a stratified estimate with the wrong number of images."""
        if latents < 2:
            raise UsageError("alpha-tcvae needs at least 2 latents: a single one has no total correlation")
        check_estimator(self.estimator, self.data_size, data)

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted information and the weighted KL term."""
        assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
        size = self.data_size if self.estimator == "stratified" else None
        information = kl_parts(z, q.mean, q.log_variance, data_size=size).information
        alpha, latents = value_at(self.alpha, step), model.latents
        variational = value_at(self.beta, step) * (1 - alpha) / (1 - alpha / latents)
        return {
            "information": latents * alpha / (latents - alpha) * information,
            "kl": variational * q.kl().sum(1).mean(),
        }
