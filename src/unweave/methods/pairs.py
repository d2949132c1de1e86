"""What methods share that learn from pairs of images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from unweave.data import Dataset
from unweave.data.changes import RULES, Changes
from unweave.data.sampling import draw_groups
from unweave.errors import UsageError
from unweave.fields import OneOf, later
from unweave.methods.base import Method


@dataclass(frozen=True)
class Pairs(Method):
    """Draws pairs of images that share some of their factors; which ones, the method is not told."""

    group_size: ClassVar[int] = 2

    changed: int | None = None
    """Factors that differ within a pair; by default another number for each pair, 1 to all but one."""
    rule: Annotated[str, OneOf(RULES)] = "exact"
    """How pairs are drawn: exact (that many factors differ), redrawn (that many are drawn again, and may come out
    as they were), dlib, disentanglement_lib's (redrawn, and half of the time one factor only), or laplace (small
    steps of any number of factors, the nearer the likelier)."""
    step_rate: float = later(1.0)
    """For the rule laplace: how fast steps become rarer with their length, divided by the log of a factor's size."""
    always_shared: str = later("")
    """Factors that no pair changes, such as one without order: names with commas between."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.changed is not None and self.changed < 1:
            raise UsageError(f"at least 1 factor must change within a pair, not {self.changed}")
        self.changes()  # raises for a wrong one

    def changes(self) -> Changes:
        """Return what differs within a pair."""
        return Changes(self.changed, self.rule, self.step_rate, self.always_shared)

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (2, n) of a batch's pairs."""
        return draw_groups(data, n, rng, self.changes(), self.group_size)

    def check(self, data: Dataset, latents: int) -> None:
        """Refuse data in which factors cannot be changed at will."""
        self.changes().check(data)
