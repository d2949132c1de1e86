"""The one function that every engine calls: train a run, keep its snapshots, score it."""

from __future__ import annotations

import errno
import json
import time
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unweave.errors import UsageError
from unweave.files import is_held, write_json
from unweave.plugins import load
from unweave.study.folder import SCORED, read_scored
from unweave.study.integrity import is_table
from unweave.study.plan import Scoring
from unweave.study.task import Task
from unweave.tracing import Tracing

if TYPE_CHECKING:
    from unweave.data import Dataset
    from unweave.runs import Run

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""Errors of a disk that cannot be written: every further run would fail for the same reason."""
PATIENCE = 60.0
"""Seconds that a worker has to save its checkpoint after its driver was killed."""


@dataclass(frozen=True)
class Job:
    """A task, the folder of its run, and how to perform it."""

    task: Task
    folder: Path
    scoring: Scoring
    snapshots: tuple[int, ...] = ()
    tracing: Tracing | None = None
    threads: int = 1
    device: str = "auto"
    plugins: tuple[str, ...] = ()
    """Plugins to load first, which define the user's methods, nets, metrics and data sets."""


@dataclass(frozen=True)
class Outcome:
    """How a task ended."""

    name: str
    kind: Literal["done", "failed", "interrupted", "full", "died"]
    """full: the disk cannot be written; died: the process was killed."""
    summary: str = ""
    traceback: str = ""


def attempt(job: Job) -> Outcome:
    """Perform a job and return how it ended; only interrupts of the whole process are raised."""
    name = job.task.name
    try:
        perform(job)
    except KeyboardInterrupt as error:
        return Outcome(name, "interrupted", str(error) or "interrupted")
    except OSError as error:
        kind = "full" if error.errno in NO_ROOM else "failed"
        return Outcome(name, kind, _summary(error), traceback.format_exc())
    except Exception as error:  # any failure of one run must not end the study
        return Outcome(name, "failed", _summary(error), traceback.format_exc())
    return Outcome(name, "done")


def perform(job: Job) -> None:
    """Train a run, or continue it, and compute the scores that it lacks.

    scored.json lists, for each step, the metrics that are there and a digest of how they were computed.
    """
    for plugin in job.plugins:
        load(plugin)
    wanted = job.scoring.keys()
    _wait_for(job.folder)
    run = _train(job)
    path = job.folder / SCORED
    scores = _scores_there(job.folder)
    if not path.is_file():
        write_json(path, {"scores": scores})
    (job.folder / "checkpoint.pt").unlink(missing_ok=True)  # most of a finished run's size, and of no use to a study
    for step in (*job.snapshots, job.task.config["training"]["steps"]):
        there = scores.get(str(step), {})
        missing = [metric for metric, key in wanted.items() if there.get(metric) != key]
        if missing:
            _score(run.at(step), missing, job.scoring)
        scores[str(step)] = {**there, **wanted}
        write_json(path, {"scores": scores})


def _wait_for(folder: Path) -> None:
    """Wait while another process trains there: a worker whose driver was killed and that saves a checkpoint."""
    deadline = time.monotonic() + PATIENCE
    while is_held(folder / ".lock") and time.monotonic() < deadline:
        time.sleep(0.1)


def _scores_there(folder: Path) -> dict[str, dict[str, str]]:
    """Return the metrics that a run has, by step; none if their table is damaged, which is then set aside."""
    table = folder / "scores.parquet"
    if table.is_file() and not is_table(table):
        table.replace(folder / "scores.damaged")
    return read_scored(folder) if table.is_file() else {}


def _train(job: Job) -> Run:
    from unweave.config import Config
    from unweave.training import train

    config = Config.from_json(job.task.config)
    return train(
        config.method,
        data=_data(json.dumps(dict(config.data))),
        out=job.folder,
        net=config.net.name,
        latents=config.net.latents,
        width=config.net.width,
        depth=config.net.depth,
        **asdict(config.training),
        labels=config.labels,
        jacobian=config.jacobian,
        device=job.device,
        threads=job.threads,
        snapshots=job.snapshots,
        trace_every=job.tracing and job.tracing.every,
        trace_samples=job.tracing and job.tracing.samples,
        progress=False,  # the study has a bar, and several workers share one terminal
    )


def _score(run: Run, metrics: list[str], scoring: Scoring) -> None:
    """Score a run with these metrics, leaving out those that do not apply to its model.

    A study may compare methods with and without a decoder, posteriors or categorical latents.
    """
    from unweave.scoring import lacking_model

    lacks = {name: lacking_model(run, name) for name in metrics}
    counts = {"samples": scoring.samples, "test_samples": scoring.test_samples}
    if apt := [name for name, what in lacks.items() if not what]:
        run.evaluate(apt, **counts, progress=False, **_settings(scoring, apt))
    elif not (run.path / "scores.parquet").is_file():
        name, what = next(iter(lacks.items()))
        raise UsageError(f"no metric of the study applies to this run: '{name}' needs {what}")


def _settings(scoring: Scoring, metrics: list[str]) -> Mapping[str, Any]:
    settings = dict(scoring.settings)
    if "options" in settings:
        settings["options"] = {name: value for name, value in settings["options"].items() if name in metrics}
    return settings


@lru_cache(maxsize=2)
def _data(description: str) -> Dataset:
    """Return a data set, loaded once in a worker."""
    from unweave.data import load

    return load(**json.loads(description))


def _summary(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if type(error).__name__ == "UsageError" else f"{type(error).__name__}: {text}"
