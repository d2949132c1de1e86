"""Studies: many runs given as data, on this machine or a cluster, and the table of their scores.

Notes
-----
- `grid` (combinations, TOML), `plan`, `task` and `checks`: what to run.
- `study` (`Study`) with `running` (gives tasks to an engine) and `status` (how far it is), `folder` (what is done),
  `work` (the one function that every engine calls), `sessions` (when and how the study was run), `integrity` (is a run
  complete?), `engines` (processes, Ray, Slurm).
- `table` with `run_files` (reads many run folders fast), `opening` (the runs below folders and studies), `noise`
  (scores under label noise), `analysis` (pure functions of the table).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from unweave.late import public_name

if TYPE_CHECKING:
    from unweave.study.noise import score_under_noise as score_under_noise
    from unweave.study.opening import open_runs as open_runs
    from unweave.study.plan import Plan as Plan
    from unweave.study.plan import Scoring as Scoring
    from unweave.study.status import Status as Status
    from unweave.study.study import Study as Study
    from unweave.study.task import Task as Task
    from unweave.study.work import Outcome as Outcome

_HOME = {
    "Outcome": "work",
    "Plan": "plan",
    "Scoring": "plan",
    "Status": "status",
    "Study": "study",
    "Task": "task",
    "open_runs": "opening",
    "score_under_noise": "noise",
}

__all__ = ["Outcome", "Plan", "Scoring", "Status", "Study", "Task", "open_runs", "score_under_noise"]


def __getattr__(name: str) -> object:
    """Import a public name on first use: metrics take long, and a table of runs needs none."""
    if name == "analysis":
        return import_module(f"{__name__}.{name}")
    return public_name(__name__, _HOME, name)
