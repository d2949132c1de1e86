"""How far a study is: the state of every run, and the time that is left."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from unweave.study.folder import State

STATES: tuple[State, ...] = ("done", "failed", "running", "todo")


@dataclass(frozen=True)
class Status:
    """Which runs of a study are done."""

    states: dict[str, State]
    """The state of every task, by name."""
    driver: dict[str, Any]
    """Who runs the study now: pid, host, since, workers; empty if nobody does."""

    @property
    def counts(self) -> dict[str, int]:
        """How many tasks are done, failed, running and to do."""
        found = Counter(self.states.values())
        return {state: found[state] for state in STATES}

    @property
    def rate(self) -> float | None:
        """Runs per hour since the driver started."""
        if not self.driver.get("finished"):
            return None
        return 3600 * self.driver["finished"] / max(time.time() - self.driver["started"], 1e-9)

    @property
    def hours_left(self) -> float | None:
        """Hours until all is done, at this rate."""
        left = self.counts["todo"] + self.counts["running"]
        return left / self.rate if self.rate else None
