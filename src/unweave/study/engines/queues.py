"""Queues to which submitit sends jobs, Slurm or local processes, and how jobs are monitored and stopped."""

from __future__ import annotations

import getpass
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from unweave.errors import UsageError
from unweave.study.engines.table import Slurm, cores
from unweave.study.engines.threads import ONE_THREAD, environment

ARRAY = 1000
"""Jobs in an array; Slurm's own limit is 1001, unless a site sets another."""
NOTICE = 90
"""Seconds before its time limit at which a job is notified."""
ENDED = frozenset(
    ["COMPLETED", "FAILED", "OUT_OF_MEMORY", "CANCELLED", "TIMEOUT", "DEADLINE", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL"]
) | {"REVOKED", "GONE"}
"""States of a job that has ended; GONE: Slurm has forgotten it."""


class Queue(Protocol):
    """A queue takes jobs and reports their states."""

    pause: float
    """Seconds between two queries."""
    grace: float
    """Seconds until the file of a finished job must be visible."""
    size: int
    """Jobs that are submitted at once."""

    def submit(self, function: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[str]:
        """Submit a call of the function for each tuple of arguments, and return the ids of the jobs."""
        ...

    def states(self, ids: Iterable[str]) -> Mapping[str, str]:
        """Return the states of jobs, without those that are unknown at present."""
        ...

    def cancel(self, ids: Sequence[str]) -> None:
        """Ask jobs to stop."""
        ...

    def errors(self, name: str) -> str:
        """Return the end of what a job wrote to stderr."""
        ...


class SlurmQueue:
    """Slurm."""

    pause = 5.0
    grace = 15.0
    size = ARRAY

    def __init__(self, folder: Path, options: Slurm, workers: int | None) -> None:
        submitit = imported()
        self._folder = folder
        try:
            self._executor = submitit.SlurmExecutor(folder)
        except RuntimeError:
            raise UsageError("there is no Slurm here: srun is not found; run the study on a login node") from None
        self._executor.update_parameters(**_parameters(options, workers))

    def submit(self, function: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[str]:
        """Submit one array."""
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        try:
            with environment(ONE_THREAD):  # sbatch passes it on
                jobs = self._executor.map_array(function, *zip(*arguments, strict=True))
        except (FailedJobError, FailedSubmissionError) as error:
            raise UsageError(f"Slurm refused the jobs: {' '.join(str(error).split())}") from error
        return [job.job_id for job in jobs]

    def states(self, ids: Iterable[str]) -> Mapping[str, str]:
        """Ask squeue, which needs no accounting, about all jobs of this user at once."""
        command = ["squeue", "--noheader", "--array", "--states=all", "--format=%i %T", f"--user={getpass.getuser()}"]
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
        if asked.returncode:
            return {}  # the controller is temporarily unavailable
        found = dict(line.split() for line in asked.stdout.splitlines() if line.strip())
        return {each: found.get(each, "GONE") for each in ids}

    def cancel(self, ids: Sequence[str]) -> None:
        """Call scancel, which gives processes 30 seconds to save a checkpoint."""
        if ids:
            subprocess.run(["scancel", *ids], capture_output=True, check=False)

    def errors(self, name: str) -> str:
        """Return the end of what a job wrote to stderr."""
        return _end_of(self._folder / f"{name}_0_log.err")


class LocalQueue:
    """Processes on this machine; submitit starts all that it is given at once."""

    pause = 0.1
    grace = 0.0

    def __init__(self, folder: Path, options: Slurm, workers: int | None) -> None:
        submitit = imported()
        self._folder = folder
        self._executor = submitit.LocalExecutor(folder)
        self._executor.update_parameters(timeout_min=options.time, gpus_per_node=int(options.gpus))
        self._jobs: dict[str, Any] = {}
        self.size = workers or cores()

    def submit(self, function: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[str]:
        """Start a process for each."""
        with environment(ONE_THREAD):
            jobs = self._executor.map_array(function, *zip(*arguments, strict=True))
        self._jobs.update({job.job_id: job for job in jobs})
        return [job.job_id for job in jobs]

    def states(self, ids: Iterable[str]) -> Mapping[str, str]:
        """Return the states of the processes in Slurm's words."""
        words = {"INTERRUPTED": "CANCELLED", "FINISHED": "COMPLETED"}
        known = {each: self._jobs[each].state if each in self._jobs else "GONE" for each in ids}
        return {each: words.get(state, state) for each, state in known.items()}

    def cancel(self, ids: Sequence[str]) -> None:
        """Send SIGTERM, which submitit passes on; its own cancellation leaves only a second for a checkpoint."""
        for each in ids:
            with suppress(ProcessLookupError):
                os.kill(int(each), signal.SIGTERM)

    def errors(self, name: str) -> str:
        """Return the end of what a process wrote to stderr."""
        return _end_of(self._folder / f"{name}_0_log.err")


def imported() -> Any:
    """Return submitit."""
    try:
        import submitit
    except ImportError:
        raise UsageError("submitit is not installed; run: pip install 'unweave[slurm]'") from None
    return submitit


def _parameters(options: Slurm, workers: int | None) -> dict[str, Any]:
    """Return the options of sbatch, in submitit's words."""
    further = dict(_pair(text) for text in options.sbatch)
    parameters = {
        "job_name": "unweave",
        "partition": options.partition,
        "account": options.account,
        "time": options.time,
        "cpus_per_task": int(options.cpus),
        "gpus_per_node": int(options.gpus) or None,
        "mem": None if options.memory is None else f"{int(1024 * options.memory)}M",
        "array_parallelism": workers or ARRAY,
        "signal_delay_s": min(NOTICE, 15 * options.time),
        # Slurm would requeue a job with its pickle; the study submits unfinished jobs again instead.
        "additional_parameters": {"no-requeue": True, **further},
    }
    return {name: value for name, value in parameters.items() if value is not None}


def _pair(text: str) -> tuple[str, str | bool]:
    name, equals, value = text.removeprefix("--").partition("=")
    return name, value if equals else True


def _end_of(path: Path, characters: int = 4000) -> str:
    try:
        return path.read_text(errors="replace")[-characters:]
    except OSError:
        return ""
