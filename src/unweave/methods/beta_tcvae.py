"""The β-TCVAE: the KL term split into three weighted parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Self

from torch import Tensor

from unweave.data import Dataset
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.methods.base import Method
from unweave.nets import Gaussian, Model, Posterior
from unweave.penalties import kl_parts
from unweave.schedules import Scheduled, value_at

ESTIMATORS = ("weighted", "stratified")


@dataclass(frozen=True)
class BetaTCVAE(Method):
    r"""beta-TCVAE [Chen2018]_, eq. 4: -E_q[log p(x|z)] + alpha I(x; z) + beta TC(z) + gamma sum_j KL(q(z_j) || p(z_j)).

    The aggregate posterior q(z) and its marginals q(z_j) are estimated from the batch, with one sample per posterior.
    The last part is the remainder of the exact KL term, so the three parts add up to it.
    """

    min_batch: ClassVar[int] = 2

    beta: Scheduled = 6.0
    """Weight of the total correlation KL(q(z) || prod_j q(z_j))."""
    alpha: Scheduled = 1.0
    """Weight of the mutual information between images and codes."""
    gamma: Scheduled = 1.0
    """Weight of the divergence of single latents from their prior."""
    estimator: Annotated[str, OneOf(ESTIMATORS)] = "weighted"
    """Estimator of q(z): weighted (all images of the batch count equally) or stratified (uses data_size)."""
    data_size: int = 0
    """Number of images in the data set, for the stratified estimator; 0: the actual number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("beta", "alpha", "gamma")
        check_estimator(self.estimator, self.data_size)

    def resolve(self, data: Dataset, lr: float) -> Self:
        """Return the method with the number of images, if the estimator needs it."""
        return self if self.estimator == "weighted" or self.data_size else replace(self, data_size=len(data))

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` if a stratified estimate has the wrong number of images."""
        check_estimator(self.estimator, self.data_size, data)

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the three weighted parts of the KL term."""
        assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
        size = self.data_size if self.estimator == "stratified" else None
        information, correlation, remainder = kl_parts(z, q.mean, q.log_variance, data_size=size)
        return {
            "information": value_at(self.alpha, step) * information,
            "total_correlation": value_at(self.beta, step) * correlation,
            "dimension_kl": value_at(self.gamma, step) * remainder,
        }


def check_estimator(estimator: str, data_size: int, data: Dataset | None = None) -> None:
    """Raise a `UsageError` for an unknown estimator, or a stratified one with the wrong number of images."""
    if estimator not in ESTIMATORS:
        raise unknown("estimator", estimator, ESTIMATORS)
    if data_size < 0:
        raise UsageError(f"data_size is a number of images and cannot be negative: {data_size}")
    if data is not None and estimator == "stratified" and (data_size != len(data) or len(data) < 2):
        raise UsageError(f"the stratified estimator needs data_size={len(data)} (2 or more) for '{data.name}'")
