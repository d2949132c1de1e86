"""The InfoVAE: matches the aggregate posterior to the prior by maximum mean discrepancy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

from torch import Tensor

from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.methods.base import Method
from unweave.nets import Model, Posterior
from unweave.penalties.mmd import KERNELS, mmd
from unweave.schedules import Scheduled, extremes, value_at


@dataclass(frozen=True)
class InfoVAE(Method):
    r"""InfoVAE [Zhao2019]_: -E_q[log p(x|z)] + (1 - alpha) KL(q(z|x) || p(z)) + (alpha + lambda - 1) MMD(q(z), p)."""

    min_batch: ClassVar[int] = 2

    alpha: Scheduled = 1.0
    """Preference for information in the codes: 0 keeps the KL term, 1 removes it (MMD-VAE)."""
    lambda_mmd: Scheduled = 1000.0
    """Weight of the divergence between q(z) and the prior; the discrepancy is weighted by alpha + lambda_mmd - 1."""
    kernel: Annotated[str, OneOf(KERNELS)] = "imq"
    """Kernel of the discrepancy: imq, C / (C + d^2), or gaussian, exp(-d^2 / C), at distance d."""
    bandwidth: float = 1.0
    """C, in units of the mean squared distance between two draws from the prior, 2 * latents."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("lambda_mmd")
        if self.kernel not in KERNELS:
            raise unknown("kernel", self.kernel, KERNELS)
        if not 0 < self.bandwidth < math.inf:
            raise UsageError(f"bandwidth must be positive, not {self.bandwidth}")
        low, high = extremes(self.alpha)
        if not -math.inf < low <= high <= 1:
            raise UsageError(f"alpha must be at most 1, not {self.alpha}")
        if low + extremes(self.lambda_mmd)[0] < 1:
            raise UsageError(f"alpha + lambda_mmd must be at least 1, not {self.alpha} + {self.lambda_mmd}")

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted KL term and the weighted discrepancy."""
        alpha = value_at(self.alpha, step)
        discrepancy = mmd(z, kernel=self.kernel, bandwidth=self.bandwidth)
        return {
            "kl": (1 - alpha) * q.kl().sum(1).mean(),
            "mmd": (alpha + value_at(self.lambda_mmd, step) - 1) * discrepancy,
        }
