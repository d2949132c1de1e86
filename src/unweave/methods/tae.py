"""The triplet autoencoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unweave.methods.triplets import Triplets
from unweave.nets import Model, Posterior


@dataclass(frozen=True)
class TAE(Triplets):
    r"""TAE [Michlo2022]_, section 5.3: reconstruction + scale * triplet loss of deterministic codes of (a, p, n)."""

    bottleneck: ClassVar[str] = "point"

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return no terms: the triplet loss is in `terms`."""
        return {}
