"""The β-VAE."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from unweave.methods.base import Method
from unweave.nets import Model, Posterior
from unweave.schedules import Scheduled, value_at


@dataclass(frozen=True)
class BetaVAE(Method):
    r"""beta-VAE [Higgins2017]_, eq. 4: -E_q[log p(x|z)] + beta KL(q(z|x) || p(z))."""

    beta: Scheduled = 4.0
    """Weight of the KL term; a number, or a schedule such as 1:4@10000."""
    normalise_beta: bool = False
    """Take beta as the size-normalised weight of Higgins et al.: the KL term is weighted by beta * pixels / latents."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("beta")

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted KL term."""
        scale = math.prod(model.shape) / model.latents if self.normalise_beta else 1
        return {"kl": value_at(self.beta, step) * scale * q.kl().sum(1).mean()}
