"""Which tasks are begun again on a cluster: those whose process died, and those whose node or job was lost."""

from __future__ import annotations

from collections import Counter

from unweave.study.engines.local import ATTEMPTS
from unweave.study.folder import SCORED, read_object
from unweave.study.work import Job, Outcome

LOSSES = 10
"""Times in a row that a run may be lost without having got further."""


class Tries:
    """How often tasks have been begun in vain."""

    def __init__(self) -> None:
        self._deaths: Counter[str] = Counter()
        self._losses: Counter[str] = Counter()
        self._reached: dict[str, object] = {}

    def after_death(self, job: Job, reason: str, traceback: str = "") -> Outcome | None:
        """Return the failure of a task whose process has died too often; None: begin it again."""
        name = job.task.name
        self._deaths[name] += 1
        count = self._deaths[name]
        return None if count < ATTEMPTS else Outcome(name, "failed", f"{reason}, {count} times", traceback)

    def after_loss(self, job: Job, reason: str) -> Outcome | None:
        """Return that a task is not done, where it is lost again and again; None: begin it again.

        The loss of a node is not the task's fault, and so no failure; one that gets further each time is never given
        up.
        """
        name, reached = job.task.name, _reached(job)
        self._losses[name] = self._losses[name] + 1 if self._reached.get(name) == reached else 1
        self._reached[name] = reached
        if self._losses[name] < LOSSES:
            return None
        return Outcome(name, "interrupted", f"{reason}, {LOSSES} times in a row")


def _reached(job: Job) -> object:
    """Return how far a run has got: its last checkpoint, and its scores."""
    status = read_object(job.folder / "status.json") or {}
    return status.get("step"), read_object(job.folder / SCORED)
