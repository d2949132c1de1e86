"""Finite scalar quantisation: codes are rounded to a fixed grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from unweave.errors import UsageError
from unweave.methods.base import Method
from unweave.nets import Model, Posterior

LEVELS = "8,5,5,5"
"""The paper's choice for about a thousand codes."""


@dataclass(frozen=True)
class FSQ(Method):
    r"""FSQ [Mentzer2024]_: -log p(x|z), where z_j is tanh(c_j) rounded to one of a few even levels in [-1, 1].

    There is no codebook to learn and no further term; the gradient passes straight through the rounding.
    """

    bottleneck: ClassVar[str] = "grid"

    levels: str = LEVELS
    """Number of levels of each latent, comma-separated; the list repeats if there are more latents."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self._levels) < 2:
            raise UsageError(f"levels must be at least 2, not {min(self._levels)}")

    @property
    def _levels(self) -> list[int]:
        try:
            return [int(level) for level in self.levels.split(",")]
        except ValueError:
            wanted = f"comma-separated integers, such as {LEVELS}"
            raise UsageError(f"levels must be {wanted}, not '{self.levels}'") from None

    @property
    def bottleneck_options(self) -> dict[str, Any]:
        """The levels of each latent."""
        return {"levels": self._levels}

    def penalty(self, model: Model, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return no terms: the objective is the reconstruction alone."""
        return {}
