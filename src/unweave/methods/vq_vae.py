"""The VQ-VAE, for flat codes: each latent is one of a few learned vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from unweave.errors import UsageError
from unweave.methods.base import Method
from unweave.nets import Model, Posterior
from unweave.nets.vectors import CATEGORIES, SIZE, Vectors
from unweave.schedules import Scheduled, value_at


@dataclass(frozen=True)
class VQVAE(Method):
    r"""VQ-VAE [Oord2017]_, eq. 3: -log p(x|e) + sum_j (quantisation |sg[c_j] - e_j|^2 + commitment |c_j - sg[e_j]|^2).

    e_j is the vector of latent j's codebook that is nearest to the encoder's c_j, and sg stops gradients; those of the
    reconstruction go straight through from e to c. A code holds the numbers of the vectors: every latent is
    categorical. The codebook learns by the second term, not by moving averages.
    """

    bottleneck: ClassVar[str] = "vectors"

    quantisation: Scheduled = 1.0
    """Weight of the term that draws vectors to what the encoder says."""
    commitment: Scheduled = 0.25
    """Weight of the term that draws what the encoder says to its vectors; 0.25 is the paper's."""
    categories: int = CATEGORIES
    """Vectors in a codebook, and so categories of each latent."""
    size: int = SIZE
    """Numbers in a vector."""
    shared: bool = False
    """Have one codebook for all latents, as the paper has for all places of an image, instead of one for each."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("quantisation", "commitment")
        if self.categories < 2:
            raise UsageError(f"a codebook has at least 2 vectors, not {self.categories}")
        if self.size < 1:
            raise UsageError(f"a vector has at least one number, not {self.size}")

    @property
    def bottleneck_options(self) -> dict[str, Any]:
        """The codebooks."""
        return {"categories": self.categories, "size": self.size, "shared": self.shared}

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the weighted terms of quantisation and commitment."""
        assert isinstance(q, Vectors), "the bottleneck has vectors"
        to_codes = (q.continuous.detach() - q.nearest).square().sum((1, 2)).mean()
        to_vectors = (q.continuous - q.nearest.detach()).square().sum((1, 2)).mean()
        return {
            "quantisation": value_at(self.quantisation, step) * to_codes,
            "commitment": value_at(self.commitment, step) * to_vectors,
        }
