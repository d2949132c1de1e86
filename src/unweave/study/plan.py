"""The plan of a study: its tasks, how they are scored, and the steps at which weights and traces are saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from unweave.errors import UsageError
from unweave.origins import plugin_words
from unweave.study.task import JSON, Task, digest
from unweave.tracing import Tracing


@dataclass(frozen=True)
class Scoring:
    """Which metrics, on how many images, with which settings of `unweave.metrics.Request`."""

    metrics: tuple[str, ...] = ()
    """Names of metrics and groups; none: train only."""
    samples: int | None = None
    test_samples: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """preset, seed, intervals, floors, options …"""

    def keys(self) -> dict[str, str]:
        """Return for each metric a digest of everything that decides its score, to recognise existing scores.

        Returns
        -------
        dict
            Digests by the name of the metric.
        """
        from unweave.metrics.request import Request

        if not self.metrics:
            return {}
        request = Request.of(self.metrics, self.settings)
        common = {"samples": self.samples, "test_samples": self.test_samples, **self.settings}
        common = {name: value for name, value in common.items() if name not in ("options", "metrics")}
        return {name: digest([common, request.settings_of(name)]) for name in request.choose()}


@dataclass(frozen=True)
class Plan:
    """The tasks of a study in the order in which they run, and how each is performed."""

    tasks: tuple[Task, ...]
    scoring: Scoring = field(default_factory=Scoring)
    snapshots: tuple[int, ...] = ()
    tracing: Tracing | None = None
    plugins: tuple[str, ...] = ()
    """The plugins of the last call: files by absolute path, and modules."""

    def to_json(self) -> JSON:
        """Return the plan as plain JSON; `from_json` is the inverse.

        Returns
        -------
        dict
            Plain JSON.
        """
        return {
            "scoring": asdict(self.scoring),
            "snapshots": list(self.snapshots),
            **({"tracing": asdict(self.tracing)} if self.tracing else {}),
            **({"plugins": list(self.plugins)} if self.plugins else {}),
            "tasks": [asdict(task) for task in self.tasks],
        }

    def wanted(self) -> dict[str, str]:
        """Return the keys of the metrics that every run should have; the error for an unknown one names its plugins.

        Returns
        -------
        dict
            Keys by the name of the metric.
        """
        try:
            return self.scoring.keys()
        except UsageError as error:
            if not self.plugins:
                raise
            raise UsageError(f"{error}; the study was run with{plugin_words(self.plugins)}") from error

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_json` wrote.

        Parameters
        ----------
        values
            What `to_json` returned.

        Returns
        -------
        Plan
            The plan.
        """
        scoring = {**values["scoring"], "metrics": tuple(values["scoring"]["metrics"])}
        tasks = tuple(Task(**task) for task in values["tasks"])
        tracing = Tracing(**values["tracing"]) if "tracing" in values else None
        return cls(tasks, Scoring(**scoring), tuple(values["snapshots"]), tracing, tuple(values.get("plugins", ())))

    def cells(self) -> dict[str, list[Task]]:
        """Return the tasks of each cell, in the order of the plan.

        Returns
        -------
        dict
            Lists of tasks by cell.
        """
        found: dict[str, list[Task]] = {}
        for task in self.tasks:
            found.setdefault(task.cell, []).append(task)
        return found


@dataclass(frozen=True)
class Changes:
    """How a plan differs from the last one in the folder."""

    added: Sequence[str]
    """Cells that are new."""
    removed: Sequence[str]
    """Cells that are no longer in the plan; their runs are kept."""


def changes(before: Plan, after: Plan) -> Changes:
    """Return the cells in which two plans differ."""
    old, new = before.cells(), after.cells()
    return Changes([cell for cell in new if cell not in old], [cell for cell in old if cell not in new])
