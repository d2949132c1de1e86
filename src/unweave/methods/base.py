"""What a method is: hyper-parameters, and an objective as a dict of named terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import torch
from torch import Tensor

from unweave.errors import unknown
from unweave.losses import LOSSES
from unweave.nets import Gaussian, Model


@dataclass(frozen=True)
class Method(ABC):
    """A method's fields are its hyper-parameters; `terms` is its objective.

    All terms are sums over pixels and latents, means over the batch, in nats, and already weighted: the
    trainer adds them up, so what is logged is what is optimised.
    """

    loss: str = field(default="auto", kw_only=True)
    """Reconstruction loss: bce (Bernoulli), mse (Gaussian), or auto: bce where all pixels are black or white."""

    def __post_init__(self) -> None:
        if self.loss != "auto" and self.loss not in LOSSES:
            raise unknown("reconstruction loss", self.loss, ["auto", *LOSSES])

    @abstractmethod
    def penalty(self, model: Model, q: Gaussian, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the terms beside the reconstruction, for posteriors q and one sample z of each."""

    def terms(self, model: Model, x: Tensor, step: int, noise: torch.Generator) -> dict[str, Tensor]:
        """Return every term of the objective on the pixels x (n, C, H, W)."""
        q = model.encode(x)
        z = q.sample(noise)
        reconstruction = LOSSES[self.loss].distance(x, model.decode(z))
        return {"reconstruction": reconstruction, **self.penalty(model, q, z, step)}
