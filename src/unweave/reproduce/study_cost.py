"""Estimate how long a study would take, from a few steps of each of its methods."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from unweave.study.plan import Plan, Scoring
from unweave.study.task import Task
from unweave.study.work import Job, perform

FEW, MORE = 5, 25
"""Steps of the two runs whose difference is measured, so that the time before the first step cancels."""


def training_seconds(plan: Plan, *, few: int = FEW, more: int = MORE) -> dict[str, float]:
    """Return, by the name of each task, the estimated training time here in seconds, on one thread.

    Tasks that differ only in seed and strength take the same time, so one of each method, net and added term is
    measured: with `few` steps and with `more`.
    """
    found: dict[str, float] = {}
    measured: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        for task in plan.tasks:
            terms = [part for part in ("labels", "jacobian") if task.config.get(part)]
            method = f"{task.config['method']['name']} {task.config['data']} {task.config['net']} {terms}"
            if method not in measured:
                measured[method] = seconds_of_a_step(task.config, Path(folder, str(len(measured))), few, more)
            found[task.name] = measured[method] * task.config["training"]["steps"]
    return found


def seconds_of_a_step(config: Mapping[str, Any], folder: Path, few: int, more: int) -> float:
    """Return the CPU time of a training step, from the difference between runs of `few` and of `more` steps."""
    # The first run also builds what later ones share, such as the data set, so it is not one of the two.
    _seconds(config, 1, folder / "first")
    short, longer = (_seconds(config, steps, folder / str(steps)) for steps in (few, more))
    return max(longer - short, 0.0) / (more - few)


def _seconds(config: Mapping[str, Any], steps: int, folder: Path) -> float:
    short = {**config, "training": {**config["training"], "steps": steps}}
    start = process_time()  # CPU time, not wall-clock time: other programs may use the core too
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these runs are too short to learn anything, and are discarded
        perform(Job(Task("measured", short), folder, Scoring()))
    return process_time() - start
