"""Folders of studies that were never trained: plans, runs and scores as a real study leaves them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars
from safetensors.numpy import save_file

from unweave.study import Plan, Scoring, Study
from unweave.study.folder import StudyFolder
from unweave.study.task import Task, task_of
from unweave.tables import write_table

Scores = Callable[[Mapping[str, Any], int, int], Mapping[str, float | None]]
"""From a configuration, its seed and a step to the value of each metric."""
MACHINE = {"cpu": "Test CPU @ 3.00GHz", "cores": 2, "memory": 16_000_000_000}
VERSIONS = {"unweave": "0.1.0", "torch": "2.0.0", "numpy": "2.0.0"}


def task(method: str = "beta-vae", data: str = "shapes2d", seed: int = 0, steps: int = 100, **fields: Any) -> Task:
    """Return a run that is never trained."""
    config = {
        "method": {"name": method, "loss": "mse", **fields},
        "data": {"name": data},
        "net": {"name": "conv", "latents": 10, "width": 1.0},
        "training": {"steps": steps, "batch": 64, "lr": 1e-3, "seed": seed},
    }
    return task_of(config, sha256(json.dumps(config).encode()).hexdigest())


def write_study(
    folder: Path,
    tasks: Sequence[Task],
    scores: Scores,
    *,
    metrics: Sequence[str] = ("mig",),
    snapshots: Sequence[int] = (),
    failed: Mapping[str, str] | None = None,
    todo: Sequence[str] = (),
    floors: tuple[float, float] | None = None,
) -> Study:
    """Write the folder of a study whose runs are done, but for those that failed, by name, and those to do."""
    failed = failed or {}
    plan = Plan(tuple(tasks), Scoring(tuple(metrics), settings={"preset": "fast"}), tuple(snapshots))
    place = StudyFolder(folder)
    place.write_plan(plan)
    keys = plan.scoring.keys()
    for each in tasks:
        if each.name in failed:
            place.record_failure(each, failed[each.name], "Traceback (most recent call last): …")
        elif each.name not in todo:
            steps = [*snapshots, each.config["training"]["steps"]]
            rows = [
                {"metric": metric, "value": value, "step": step}
                for step in steps
                for metric, value in scores(each.config, each.seed, step).items()
            ]
            _write_run(place.run_of(each), each, rows, floors)
            done = {"scores": {str(step): keys for step in steps}}
            (place.run_of(each) / "scored.json").write_text(json.dumps(done))
    return Study.open(folder)


def _write_run(folder: Path, each: Task, rows: list[dict[str, Any]], floors: tuple[float, float] | None) -> None:
    folder.mkdir(parents=True)
    save_file({"w": np.zeros(1)}, folder / "weights.safetensors")
    (folder / "config.json").write_text(json.dumps(each.config))
    status = {"state": "finished", "step": each.config["training"]["steps"], "seconds": 30.0, "device": "cpu"}
    (folder / "status.json").write_text(json.dumps({**status, "threads": 1, "versions": VERSIONS, "machine": MACHINE}))
    if rows:
        table = polars.DataFrame(rows, schema={"metric": polars.String, "value": polars.Float64, "step": polars.Int64})
        low, high = polars.col("value") - 0.001, polars.col("value") + 0.001  # over images: never on the page
        ends = {} if floors is None else {"floor": polars.lit(floors[0]), "ceiling": polars.lit(floors[1])}
        write_table(folder / "scores.parquet", table.with_columns(low=low, high=high, **ends))
