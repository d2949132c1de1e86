"""What methods share that learn from pairs of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from unweave.data import Dataset
from unweave.data.sampling import RULES, draw_pairs, require_pairs
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.methods.base import Method


@dataclass(frozen=True)
class Pairs(Method):
    """Draws pairs of images that share some of their factors; which ones, the method is not told."""

    group_size: ClassVar[int] = 2

    changed: int | None = None
    """Factors that differ within a pair; by default another number for each pair, 1 to all but one."""
    rule: Annotated[str, OneOf(RULES)] = "exact"
    """How pairs are drawn: exact (that many factors differ), redrawn (that many are drawn again, and may come out
    as they were), or dlib, disentanglement_lib's (redrawn, and half of the time one factor only)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.changed is not None and self.changed < 1:
            raise UsageError(f"at least 1 factor must change within a pair, not {self.changed}")
        if self.rule not in RULES:
            raise unknown("rule of pairs", self.rule, RULES)

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (2, n) of a batch's pairs."""
        return draw_pairs(data, n, rng, changed=self.changed, rule=self.rule)

    def check(self, data: Dataset, latents: int) -> None:
        """Refuse data in which factors cannot be changed at will."""
        require_pairs(data, self.changed, self.rule)
