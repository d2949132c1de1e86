"""The engines by name, and the options of each; `run` takes jobs and yields how they end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol

from unweave.errors import UsageError, unknown
from unweave.hardware import cores
from unweave.study.work import Job, Outcome

Started = Callable[[list[str]], object]
"""Called with the names of the running tasks."""


class Engine(Protocol):
    """Where tasks are performed."""

    def run(self, jobs: Iterable[Job], workers: int | None, started: Started) -> Generator[Outcome]:
        """Perform jobs, `workers` at a time, and yield how each ended; closing the iterator stops running jobs."""
        ...


@dataclass(frozen=True)
class Local:
    """Processes on this machine."""

    def run(self, jobs: Iterable[Job], workers: int | None, started: Started) -> Generator[Outcome]:
        """Perform jobs; by default one per core at a time."""
        from unweave.study.engines.local import run_local

        return run_local(jobs, workers or cores(), started)


@dataclass(frozen=True)
class Ray:
    """Tasks on a Ray cluster."""

    address: str | None = None
    """The cluster: host:port, ray://host:port, or "auto"; None: start one on this machine."""
    cpus: float = 1
    """CPUs per run; a run uses as many threads."""
    gpus: float = 0
    """GPUs per run, or a fraction of one."""
    shared: bool = True
    """Whether all nodes see the study's folder; if not, runs are returned through Ray's object store."""

    def __post_init__(self) -> None:
        _refuse_too_little(self.cpus, self.gpus)
        if self.gpus > 1 and self.gpus != int(self.gpus):
            raise UsageError(f"gpus must be a fraction of one or a whole number, not {self.gpus:g}")

    def run(self, jobs: Iterable[Job], workers: int | None, started: Started) -> Generator[Outcome]:
        """Perform jobs; by default as many at a time as fit on the cluster."""
        from unweave.study.engines.ray import run_ray

        return run_ray(jobs, self, workers, started)


@dataclass(frozen=True)
class Slurm:
    """Arrays of Slurm jobs, one run per job."""

    executor: Literal["slurm", "local"] = "slurm"
    """slurm, or local: local processes instead, to try a study out."""
    partition: str | None = None
    """Slurm's partition."""
    account: str | None = None
    """Slurm's account."""
    time: int = 60
    """Time limit of a job in minutes; a run that needs longer continues in another job."""
    cpus: int = 1
    """CPUs per run; a run uses as many threads."""
    gpus: int = 0
    """GPUs per run."""
    memory: float | None = None
    """Memory per run in GB."""
    sbatch: tuple[str, ...] = ()
    """Further options of sbatch, such as qos=high."""

    def __post_init__(self) -> None:
        _refuse_too_little(self.cpus, self.gpus)
        if self.executor not in ("slurm", "local"):
            raise unknown("executor", self.executor, ("slurm", "local"))
        if self.time < 1:
            raise UsageError(f"time is in minutes and must be 1 or more, not {self.time}")
        if self.cpus != int(self.cpus) or self.gpus != int(self.gpus):
            raise UsageError("Slurm allocates whole CPUs and GPUs; give whole numbers")

    def run(self, jobs: Iterable[Job], workers: int | None, started: Started) -> Generator[Outcome]:
        """Perform jobs; by default as many at a time as Slurm allows."""
        from unweave.study.engines.slurm import run_slurm

        return run_slurm(jobs, self, workers, started)


ENGINES: dict[str, type[Local | Ray | Slurm]] = {"local": Local, "ray": Ray, "slurm": Slurm}


def engine_of(name: str, options: Mapping[str, Any]) -> Engine:
    """Return an engine with these options, or raise a `UsageError` for one that it does not have."""
    if name not in ENGINES:
        raise unknown("engine", name, ENGINES)
    own = [spec.name for spec in fields(ENGINES[name])]
    for option in options:
        if option not in own:
            has = f"it has: {', '.join(own)}" if own else "it has none"
            raise UsageError(f"the engine '{name}' has no option '{option}' ({has})")
    return ENGINES[name](**options)


def _refuse_too_little(cpus: float, gpus: float) -> None:
    if cpus <= 0:
        raise UsageError(f"cpus must be above 0, not {cpus:g}")
    if gpus < 0:
        raise UsageError(f"gpus must be 0 or more, not {gpus:g}")
