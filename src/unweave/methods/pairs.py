"""Common parts of the methods that learn from pairs of images."""

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
    """Draws pairs of images that share some of their factors; the method does not know which."""

    group_size: ClassVar[int] = 2

    changed: int | None = None
    """Number of factors that differ within a pair; by default drawn for each pair from 1 to all but one."""
    rule: Annotated[str, OneOf(RULES)] = "exact"
    """How pairs are drawn: exact (the chosen factors take a different value), redrawn (they are drawn again and may
    keep their value), dlib (as in disentanglement_lib: redrawn, but half of the pairs change one factor), or laplace
    (small steps of any number of factors)."""
    step_rate: float = later(1.0)
    """For the rule laplace: how fast longer steps become rarer (divided by the log of a factor's size)."""
    always_shared: str = later("")
    """Factors that never change within a pair, such as those without an order: comma-separated names."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.changed is not None and self.changed < 1:
            raise UsageError(f"at least 1 factor must change within a pair, not {self.changed}")
        self.changes()  # raises for a wrong one

    def changes(self) -> Changes:
        """Return the rule for what differs within a pair."""
        return Changes(self.changed, self.rule, self.step_rate, self.always_shared)

    def draw(self, data: Dataset, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return the indices (2, n) of a batch's pairs."""
        return draw_groups(data, n, rng, self.changes(), self.group_size)

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` if the data set is not a full grid of factors."""
        self.changes().check(data)
