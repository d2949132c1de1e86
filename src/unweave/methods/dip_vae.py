"""The DIP-VAE: codes with the covariance of the prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from torch import Tensor

from unweave.errors import unknown
from unweave.fields import OneOf
from unweave.methods.base import Method
from unweave.nets import Gaussian, Model, Posterior
from unweave.penalties import dip_covariance
from unweave.schedules import Scheduled, value_at

KINDS = ("I", "II")


@dataclass(frozen=True)
class DIPVAE(Method):
    r"""DIP-VAE [Kumar2018]_, eq. 6: VAE + lambda_od sum_{i!=j} C_ij^2 + lambda_d sum_i (C_ii - 1)^2, C = Cov[z]."""

    min_batch: ClassVar[int] = 2

    kind: Annotated[str, OneOf(KINDS)] = "I"
    """Covariance to penalise: I, that of the posterior means; II, that of samples (plus the mean variances)."""
    lambda_od: Scheduled = 10.0
    """Weight of the squared off-diagonal entries of the covariance."""
    lambda_d: Scheduled = 100.0
    """Weight of the squared distance of the diagonal from 1; the large study uses 10 lambda_od (I), lambda_od (II)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in KINDS:
            raise unknown("kind of DIP-VAE", self.kind, KINDS)
        self.require_not_negative("lambda_od", "lambda_d")

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the KL term and the two weighted terms of the covariance."""
        log_variance = None
        if self.kind == "II":
            assert isinstance(q, Gaussian), "the bottleneck is Gaussian"
            log_variance = q.log_variance
        off_diagonal, diagonal = dip_covariance(q.mean, log_variance)
        return {
            "kl": q.kl().sum(1).mean(),
            "off_diagonal": value_at(self.lambda_od, step) * off_diagonal,
            "diagonal": value_at(self.lambda_d, step) * diagonal,
        }
