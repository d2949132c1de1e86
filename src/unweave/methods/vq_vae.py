"""The VQ-VAE for flat codes: each latent is one of a few learnt vectors."""

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

    e_j is the vector of latent j's codebook that is nearest to the encoder's output c_j. sg stops gradients; the
    gradient of the reconstruction passes straight through from e to c. Codes are indices of vectors, so every latent is
    categorical. The second term trains the codebook; there are no moving averages.
    """

    bottleneck: ClassVar[str] = "vectors"

    quantisation: Scheduled = 1.0
    """Weight of the term that pulls vectors towards the encoder's outputs."""
    commitment: Scheduled = 0.25
    """Weight of the term that pulls the encoder's outputs towards their vectors; the paper uses 0.25."""
    categories: int = CATEGORIES
    """Number of vectors in a codebook, which is the number of categories of each latent."""
    size: int = SIZE
    """Length of a vector."""
    shared: bool = False
    """Use one codebook for all latents, as the paper does for all positions of an image, instead of one for each."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("quantisation", "commitment")
        if self.categories < 2:
            raise UsageError(f"categories must be at least 2, not {self.categories}")
        if self.size < 1:
            raise UsageError(f"size must be at least 1, not {self.size}")

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
