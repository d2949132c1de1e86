"""The variational autoencoder."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from unweave.methods.base import Method
from unweave.nets import Model, Posterior


@dataclass(frozen=True)
class VAE(Method):
    r"""VAE [Kingma2014]_, eq. 7: -E_q[log p(x|z)] + KL(q(z|x) || p(z))."""

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the KL term."""
        return {"kl": q.kl().sum(1).mean()}
