"""The β-VAE."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from unweave.errors import UsageError
from unweave.methods.base import Method
from unweave.nets import Gaussian, Model


@dataclass(frozen=True)
class BetaVAE(Method):
    r"""beta-VAE [Higgins2017]_, eq. 4: -E_q[log p(x|z)] + beta KL(q(z|x) || p(z))."""

    beta: float = 4.0
    """Weight of the KL term."""
    normalise_beta: bool = False
    """Read beta as Higgins' size-normalised one: beta * pixels / latents weighs the KL term."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.beta < math.inf:
            raise UsageError(f"beta must be a number that is not negative, not {self.beta}")

    def penalty(self, model: Model, q: Gaussian, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted KL term."""
        scale = math.prod(model.shape) / model.latents if self.normalise_beta else 1
        return {"kl": self.beta * scale * q.kl().sum(1).mean()}
