"""The quantised-latent autoencoder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from unweave.errors import UsageError
from unweave.fields import later
from unweave.methods.base import Method
from unweave.nets import Model, Posterior
from unweave.nets.quantised import VALUES, Quantised
from unweave.schedules import Scheduled, value_at


@dataclass(frozen=True)
class QLAE(Method):
    r"""QLAE [Hsu2023]_: -log p(x|v) + pixels * mean_j (quantisation (sg[c_j] - v_j)^2 + commitment (c_j - sg[v_j])^2).

    Each latent takes one of a few learnt values: v_j is the value nearest to the encoder's output c_j. sg stops
    gradients. The paper's terms are means over pixels and latents; multiplying by the number of pixels keeps the
    meaning of its weights.
    """

    bottleneck: ClassVar[str] = "codebook"

    quantisation: Scheduled = 0.01
    """Weight of the term that pulls values towards the encoder's outputs, relative to the mean loss of a pixel."""
    commitment: Scheduled = 0.01
    """Weight of the term that pulls the encoder's outputs towards values, relative to the mean loss of a pixel."""

    values: int = later(VALUES)
    """Number of values that each latent can take."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("quantisation", "commitment")
        if self.values < 2:
            raise UsageError(f"values must be at least 2, not {self.values}")

    @property
    def bottleneck_options(self) -> dict[str, Any]:
        """The number of values."""
        return {"values": self.values}

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted terms of quantisation and commitment."""
        assert isinstance(q, Quantised), "the bottleneck is a codebook"
        pixels = math.prod(model.shape)
        to_codes = (q.continuous.detach() - q.nearest).square().mean()
        to_values = (q.continuous - q.nearest.detach()).square().mean()
        return {
            "quantisation": value_at(self.quantisation, step) * pixels * to_codes,
            "commitment": value_at(self.commitment, step) * pixels * to_values,
        }
