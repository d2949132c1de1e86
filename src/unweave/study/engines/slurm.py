"""Arrays of Slurm jobs through submitit, one run per job.

The outcome of a run is written as JSON into the study's folder. Unfinished runs are submitted again from the study's
plan: submitit's pickles carry a job to its node, and are never read here.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from unweave.files import write_json
from unweave.study.engines.local import PATIENCE, Work
from unweave.study.engines.node import for_node, perform_on_node
from unweave.study.engines.queues import ENDED, LocalQueue, Queue, SlurmQueue
from unweave.study.engines.table import Slurm, Started
from unweave.study.engines.tries import Tries
from unweave.study.folder import read_object
from unweave.study.work import Job, Outcome, attempt

FOLDER = "slurm"
"""Below the study's folder: what submitit writes, and how jobs ended."""
JOBS = "jobs.json"
"""The ids of submitted jobs, by task, so that the next driver finds the jobs of one that was killed."""
DIED = frozenset(("COMPLETED", "FAILED", "OUT_OF_MEMORY"))
"""States of a job whose process ended by itself; all others are caused by Slurm or a person."""


def run_slurm(
    jobs: Iterable[Job], options: Slurm, workers: int | None, started: Started, work: Work = attempt
) -> Generator[Outcome]:
    """Perform jobs as Slurm jobs, an array at a time, and yield how each ended.

    A job that somebody cancels stays to do until the study is run again. One that is preempted, loses its node or
    reaches its time limit is submitted again, and continues from its checkpoint. Closing the iterator, or an interrupt,
    cancels the jobs, which save checkpoints first.
    """
    waiting, again, tries = iter(jobs), list[Job](), Tries()
    kind = SlurmQueue if options.executor == "slurm" else LocalQueue
    if (first := next(waiting, None)) is None:
        return
    again, folder = [first], first.folder.absolute().parents[1] / FOLDER
    queue: Queue = kind(folder, options, workers)
    while batch := [*again, *islice(waiting, queue.size - len(again))]:
        under_way = _submit([for_node(job, options.cpus) for job in batch], folder, queue, work)
        again = []
        try:
            for identity, state in _ended(under_way, folder, queue, started):
                job = under_way.pop(identity)
                outcome = _outcome(job, identity, state, folder, queue, tries)
                if outcome is None:
                    again.append(job)
                else:
                    yield outcome
        finally:
            if _cancel(list(under_way), queue):
                shutil.rmtree(folder, ignore_errors=True)  # pickles, and submitit's logs


def _submit(batch: Sequence[Job], folder: Path, queue: Queue, work: Work) -> dict[str, Job]:
    """Submit jobs and return them by Slurm id; those that an earlier driver left in the queue are not repeated."""
    names = {job.task.name: job for job in batch}
    left = {name: identity for name, identity in (read_object(folder / JOBS) or {}).items() if name in names}
    states = queue.states(left.values()) if left else {}
    adopted = {name: identity for name, identity in left.items() if states.get(identity, "GONE") not in ENDED}
    new = [job for name, job in names.items() if name not in adopted]
    for job in new:
        _file_of(job, folder).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    identities = queue.submit(serve, [(job, _file_of(job, folder), work) for job in new]) if new else []
    found = {**dict(zip(identities, new, strict=True)), **{identity: names[name] for name, identity in adopted.items()}}
    write_json(folder / JOBS, {job.task.name: identity for identity, job in found.items()})
    return found


def _ended(under_way: dict[str, Job], folder: Path, queue: Queue, started: Started) -> Iterator[tuple[str, str]]:
    """Yield the jobs that end, with their last states; the caller removes them from `under_way`."""
    since: dict[str, float] = {}
    while under_way:
        states = queue.states(list(under_way))
        started([job.task.name for identity, job in under_way.items() if states.get(identity) == "RUNNING"])
        for identity, state in states.items():
            if state in ENDED:
                seen = _file_of(under_way[identity], folder).is_file()
                if seen or time.monotonic() - since.setdefault(identity, time.monotonic()) >= queue.grace:
                    yield identity, state
        if under_way:
            time.sleep(queue.pause)


def _outcome(job: Job, identity: str, state: str, folder: Path, queue: Queue, tries: Tries) -> Outcome | None:
    """Return how a task ended; None if it must start again."""
    name = job.task.name
    found = read_object(_file_of(job, folder))
    outcome = Outcome(**found) if found else None
    if outcome is not None and outcome.kind != "interrupted":
        return outcome
    reason = f"its Slurm job {identity} ended as {state}"
    if state in ("CANCELLED", "GONE"):
        return Outcome(name, "interrupted", reason)
    if outcome is None and state in DIED:
        return tries.after_death(job, reason, queue.errors(identity))
    return tries.after_loss(job, reason)


def _cancel(identities: list[str], queue: Queue) -> bool:
    """Stop jobs, wait until they have saved checkpoints, and return whether all have ended."""
    queue.cancel(identities)
    deadline = time.monotonic() + PATIENCE
    while identities and time.monotonic() < deadline:
        states = queue.states(identities)
        identities = [identity for identity in identities if states.get(identity) not in ENDED]
        time.sleep(min(queue.pause, 1.0) if identities else 0)
    return not identities


def _file_of(job: Job, folder: Path) -> Path:
    """Return the file that says how a task ended."""
    return folder / f"{job.task.name}.json"


def serve(job: Job, file: Path, work: Work) -> None:
    """Perform a job on its node, and write how it ended."""
    signal.signal(signal.SIGTERM, _interrupt)  # submitit ignores it; scancel and preemption send it
    signal.signal(signal.SIGUSR2, _pass_on)  # submitit's signal that the time is up
    with suppress(KeyboardInterrupt):
        outcome = perform_on_node(job, work)
        write_json(file, asdict(outcome))


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _pass_on(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
