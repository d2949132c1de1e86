"""Hyper-parameters that change during training."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from unweave.errors import UsageError, unknown

LENGTH = r"(?:(?P<steps>[^:@%]+)|(?P<percent>[^:@%]+)%)"
WRITTEN = re.compile(rf"(?P<start>[^:@]+):(?P<end>[^:@]+)@{LENGTH}(?::(?P<shape>[a-z]+))?")
Settings = TypeVar("Settings")

PARTS: dict[str, Callable[[float], float]] = {
    "line": lambda time: min(time, 1.0),
    "step": lambda time: float(time >= 1),
    "cycle": lambda time: min(2 * (time % 1), 1.0),
}
"""Maps the time, in lengths of the schedule, to the fraction of the way from its start to its end."""


@dataclass(frozen=True)
class Schedule:
    """A number that goes linearly from `start` to `end` over `steps` steps, and then stays there.

    With the shape "step" it jumps after `steps` steps instead; with "cycle" it repeats every `steps` steps, and the
    line takes the first half of each cycle [Fu2019]_. The length may also be a `share` of the run, which is converted
    to steps when the run is set up.

    Examples
    --------
    >>> Schedule(1.0, 4.0, 300).at(100)
    2.0
    >>> str(Schedule.read("1:4@300"))
    '1:4@300'
    >>> str(Schedule.read("1:4@50%").in_steps(2000))
    '1:4@1000'
    >>> [Schedule.read("0:1@4:cycle").at(step) for step in range(6)]
    [0.0, 0.5, 1.0, 1.0, 0.0, 0.5]
    """

    start: float
    end: float
    steps: int | None = None
    share: float | None = None
    """The length as a fraction of the run, above 0 and at most 1, instead of `steps`."""
    shape: str = "line"
    """How it goes from start to end: line, step or cycle."""

    def __post_init__(self) -> None:
        if self.shape not in PARTS:
            raise unknown("shape of a schedule", self.shape, PARTS)
        if (self.steps is None) == (self.share is None):
            raise UsageError("a schedule needs either a number of steps or a share of the run")
        if not (math.isfinite(self.start) and math.isfinite(self.end) and (self.steps is None or self.steps >= 1)):
            raise UsageError(f"a schedule goes between two finite numbers in at least one step, not '{self}'")
        if self.share is not None and not 0 < self.share <= 1:
            raise UsageError(f"a schedule takes more than 0 % and at most 100 % of a run, not '{self}'")

    @classmethod
    def read(cls, text: str) -> Schedule:
        """Return the schedule written as START:END@STEPS or START:END@SHARE%, optionally with :step or :cycle."""
        found = WRITTEN.fullmatch(text)
        try:
            if found is None:
                raise ValueError
            start, end, shape = float(found["start"]), float(found["end"]), found["shape"] or "line"
            if found["percent"]:
                return cls(start, end, share=float(found["percent"]) / 100, shape=shape)
            return cls(start, end, int(found["steps"]), shape=shape)
        except ValueError:
            raise UsageError(
                f"'{text}' is neither a number nor a schedule such as 1:4@10000, 1:4@50% or 0:4@25%:cycle"
            ) from None

    def __str__(self) -> str:
        length = f"{100 * self.share:g}%" if self.share is not None else self.steps
        shape = "" if self.shape == "line" else f":{self.shape}"
        return f"{self.start:g}:{self.end:g}@{length}{shape}"

    def at(self, step: int) -> float:
        """Return the number before step `step`, counted from 0."""
        if self.steps is None:
            raise ValueError(f"'{self}' is a share of a run; call in_steps(steps) first")
        return self.start + (self.end - self.start) * PARTS[self.shape](step / self.steps)

    def in_steps(self, run: int) -> Schedule:
        """Return the schedule in steps, for a run of `run` steps."""
        if self.share is None:
            return self
        return replace(self, steps=max(round(self.share * run), 1), share=None)


Scheduled = float | Schedule
"""A hyper-parameter that may be a number or a schedule."""


def value_at(value: Scheduled, step: int) -> float:
    """Return the value of a hyper-parameter at a step.

    Parameters
    ----------
    value
        A number or a schedule.
    step
        The step, counted from 0.

    Returns
    -------
    float
        The value at that step.

    Examples
    --------
    >>> value_at(4, 100), value_at(Schedule(1.0, 4.0, 300), 100)
    (4.0, 2.0)
    """
    return value.at(step) if isinstance(value, Schedule) else float(value)


def extremes(value: Scheduled) -> tuple[float, float]:
    """Return the smallest and the largest value of a hyper-parameter."""
    return (min(value.start, value.end), max(value.start, value.end)) if isinstance(value, Schedule) else (value, value)


def in_steps(settings: Settings, run: int) -> Settings:
    """Return a dataclass with all its schedules in steps, for a run of `run` steps."""
    instance: Any = settings
    values = {spec.name: getattr(instance, spec.name) for spec in fields(instance)}
    moving = {name: value.in_steps(run) for name, value in values.items() if isinstance(value, Schedule)}
    return replace(instance, **moving)


def require_not_negative(settings: object, *names: str) -> None:
    """Raise a `UsageError` if a hyper-parameter, a number or a schedule, is ever negative or not finite."""
    for name in names:
        value: Scheduled = getattr(settings, name)
        low, high = extremes(value)
        if not 0 <= low <= high < math.inf:
            raise UsageError(f"{name} must be a number that is not negative, not {value}")
