"""Performing a run on another node: its log, and waiting for a folder that a lost worker may still hold."""

from __future__ import annotations

import time
from dataclasses import replace

from unweave.files import is_held
from unweave.study.engines.local import PATIENCE, Work, printing_to
from unweave.study.work import Job, Outcome


def for_node(job: Job, cpus: float) -> Job:
    """Return a job with absolute paths, and with as many threads as it has CPUs."""
    return replace(job, folder=job.folder.absolute(), threads=max(1, int(cpus)))


def perform_on_node(job: Job, work: Work) -> Outcome:
    """Perform a job once no other process holds its folder; what it prints goes to the study's logs.

    A worker whose node is lost, or whose Slurm job is stopped, takes a moment to end.
    """
    deadline = time.monotonic() + PATIENCE
    while is_held(job.folder / ".lock") and time.monotonic() < deadline:
        time.sleep(0.2)
    with printing_to(job.folder.parents[1] / "logs" / f"{job.task.name}.txt"):
        return work(job)
