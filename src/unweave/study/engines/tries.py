"""Which tasks start again on a cluster: those whose process died, and those whose node or job was lost."""

from __future__ import annotations

from collections import Counter

from unweave.study.engines.local import ATTEMPTS
from unweave.study.folder import SCORED, read_object
from unweave.study.work import Job, Outcome

LOSSES = 10
"""Number of times in a row that a run may be lost without progress."""


class Tries:
    """How often tasks have started without success."""

    def __init__(self) -> None:
        self._deaths: Counter[str] = Counter()
        self._losses: Counter[str] = Counter()
        self._reached: dict[str, object] = {}

    def after_death(self, job: Job, reason: str, traceback: str = "") -> Outcome | None:
        """Return the failure of a task whose process has died too often; None: start it again."""
        name = job.task.name
        self._deaths[name] += 1
        count = self._deaths[name]
        return None if count < ATTEMPTS else Outcome(name, "failed", f"{reason}, {count} times", traceback)

    def after_loss(self, job: Job, reason: str) -> Outcome | None:
        """Return an outcome for a task that has been lost too often; None: start it again.

        A lost node is not the task's fault and does not count as a failure. A task that progresses each time always
        starts again.
        """
        name, reached = job.task.name, _reached(job)
        self._losses[name] = self._losses[name] + 1 if self._reached.get(name) == reached else 1
        self._reached[name] = reached
        if self._losses[name] < LOSSES:
            return None
        return Outcome(name, "interrupted", f"{reason}, {LOSSES} times in a row")


def _reached(job: Job) -> object:
    """Return the progress of a run: its last checkpoint, and its scores."""
    status = read_object(job.folder / "status.json") or {}
    return status.get("step"), read_object(job.folder / SCORED)
