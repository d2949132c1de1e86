"""Studies: many runs given as data, on this machine or a cluster, and the table of their scores."""

from __future__ import annotations

from unweave.study.noise import score_under_noise
from unweave.study.opening import open_runs
from unweave.study.plan import Plan, Scoring
from unweave.study.study import Status, Study
from unweave.study.task import Task
from unweave.study.work import Outcome

__all__ = ["Outcome", "Plan", "Scoring", "Status", "Study", "Task", "open_runs", "score_under_noise"]
