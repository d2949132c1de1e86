"""Studies that take no training, and one that takes a little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
