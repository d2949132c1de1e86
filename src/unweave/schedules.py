"""A hyper-parameter that moves while the model is trained."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from unweave.errors import UsageError

WRITTEN = re.compile(r"(?P<start>[^:@]+):(?P<end>[^:@]+)@(?P<steps>[^:@]+)")


@dataclass(frozen=True)
class Schedule:
    """A number that goes from `start` to `end` in a straight line over `steps` steps, and stays there.

    >>> Schedule(1.0, 4.0, 300).at(100)
    2.0
    >>> str(Schedule.read("1:4@300"))
    '1:4@300'
    """

    start: float
    end: float
    steps: int

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end) and self.steps >= 1):
            raise UsageError(f"a schedule goes between two finite numbers in at least one step, not '{self}'")

    @classmethod
    def read(cls, text: str) -> Schedule:
        """Return the schedule written as START:END@STEPS."""
        found = WRITTEN.fullmatch(text)
        try:
            if found is None:
                raise ValueError
            return cls(float(found["start"]), float(found["end"]), int(found["steps"]))
        except ValueError:
            raise UsageError(f"'{text}' is neither a number nor a schedule such as 1:4@10000 (from:to@steps)") from None

    def __str__(self) -> str:
        return f"{self.start:g}:{self.end:g}@{self.steps}"

    def at(self, step: int) -> float:
        """Return the number before step `step`, counted from 0."""
        return self.start + (self.end - self.start) * min(step / self.steps, 1.0)


Scheduled = float | Schedule
"""A hyper-parameter that may be a number or a schedule."""


def value_at(value: Scheduled, step: int) -> float:
    """Return the number that a hyper-parameter is at a step."""
    return value.at(step) if isinstance(value, Schedule) else float(value)


def extremes(value: Scheduled) -> tuple[float, float]:
    """Return the least and the largest number a hyper-parameter takes."""
    return (min(value.start, value.end), max(value.start, value.end)) if isinstance(value, Schedule) else (value, value)
