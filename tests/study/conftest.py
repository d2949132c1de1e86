"""Studies that take no training, and one that takes a little."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unweave.study import Study
from unweave.study.plan import Plan, Scoring
from unweave.study.task import Task, task_of
from unweave.study.work import attempt

TINY: dict[str, Any] = {
    "data": "xysquares:size=32",
    "steps": 12,
    "batch": 8,
    "net": "mlp",
    "latents": 3,
    "width": 0.02,
    "metrics": ["mig"],
    "evaluate": {"samples": 60, "test_samples": 20, "preset": "fast", "intervals": False, "floors": False},
}
"""A study whose runs take a fraction of a second."""


def config(seed: int = 0, **fields: Any) -> dict[str, Any]:
    """Return the configuration of a run that is never trained."""
    method = {"name": "beta-vae", "loss": "mse", "beta": 4.0, **fields}
    training = {"steps": 10, "batch": 8, "lr": 1e-3, "seed": seed}
    return {"method": method, "data": {"name": "xysquares", "size": 32}, "net": {"name": "conv"}, "training": training}


def tasks(count: int) -> tuple[Task, ...]:
    """Return tasks that differ in their seeds."""
    return tuple(task_of(config(seed), f"{seed:016x}") for seed in range(count))


def plan(count: int, metrics: tuple[str, ...] = ()) -> Plan:
    """Return a plan of runs that differ in their seeds."""
    return Plan(tasks(count), Scoring(metrics))


@pytest.fixture
def works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that makes a module of this source, which worker processes can import, and returns it."""
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def make(name: str, source: str) -> Any:
        from importlib import import_module

        head = "import os, signal, time\nfrom pathlib import Path\nfrom unweave.study.work import Job, Outcome\n"
        (folder / f"{name}.py").write_text(head + source)
        return import_module(name).work

    return make


TRACED: dict[str, Any] = {"trace_every": 6, "trace_samples": 5}
CLUSTER: dict[str, Any] = {**TINY, **TRACED, "methods": ["beta-vae"], "seeds": 2, "snapshots": [5]}
"""The study that every engine runs."""


@pytest.fixture(scope="session")
def local_study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Return that study, run by processes on this machine."""
    study = Study(**CLUSTER, out=tmp_path_factory.mktemp("local") / "study")
    assert study.run(workers=1, device="cpu").counts["done"] == 2
    return study


def same_results(first: Study, second: Study) -> None:
    """Check that two studies have the same runs, with the same bytes in all files but the one that holds times."""
    assert [task.name for task in first.plan.tasks] == [task.name for task in second.plan.tasks]
    for task in first.plan.tasks:
        one, other = (_results(study.folder.run_of(task)) for study in (first, second))
        assert len(one) >= 6
        assert one.keys() == other.keys()
        assert [name for name in one if one[name] != other[name]] == []


def _results(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name != "status.json"}


def until(there: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for something that must come."""
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch):
    """Perform tasks in this process, one after another; `here.performed` lists them."""

    class Here:
        performed: list[str] = []  # noqa: RUF012
        work = staticmethod(attempt)

    def engine(jobs, workers, started):
        for job in jobs:
            started([job.task.name])
            Here.performed.append(job.task.name)
            yield Here.work(job)

    Here.performed = []
    monkeypatch.setattr("unweave.study.engines.local.run_local", engine)
    return Here
