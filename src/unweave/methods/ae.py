"""The plain autoencoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unweave.methods.base import Method
from unweave.nets import Model, Posterior


@dataclass(frozen=True)
class AE(Method):
    r"""Autoencoder [Hinton2006]_: -log p(x|z) with z = f(x), one point per image and no prior."""

    bottleneck: ClassVar[str] = "point"

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return no terms: the objective is the reconstruction alone."""
        return {}
