"""Score one run on several draws of rows: the noise that does not come from training."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import polars

from unweave.metrics import FewSamples
from unweave.metrics.request import Request
from unweave.progress import OnProgress
from unweave.reproduce.metric_audit_design import Settings
from unweave.reproduce.parts import Kept
from unweave.runs import Run
from unweave.scoring import Collapsed, score_run
from unweave.study import Study, Task
from unweave.text import data_name

EVALUATE: Mapping[str, Any] = {"preset": "fast", "intervals": False, "floors": False}
SCHEMA = {
    "run": polars.String,
    "data": polars.String,
    "rows": polars.Int64,
    "metric": polars.String,
    "value": polars.Float64,
}


def rescored(settings: Settings, study: Study, on_progress: OnProgress, kept: Kept) -> polars.DataFrame:
    """Return the scores of one run of each data set and strength, on several draws of few and of many rows.

    Returns
    -------
    polars.DataFrame
        run, data, rows, metric, value: entries with the same run, rows and metric differ only in the draw.
    """
    found = list(_rows(settings, study, on_progress, kept))
    return polars.DataFrame(found, schema=SCHEMA, orient="row")


def _rows(settings: Settings, study: Study, on_progress: OnProgress, kept: Kept) -> Iterator[tuple[Any, ...]]:
    first = min(task.seed for task in study.plan.tasks)
    tasks = [task for task in study.plan.tasks if task.seed == first and _finished(study, task)]
    cases = list(product(tasks, settings.rows, range(settings.rescorings)))
    for done, (task, rows, draw) in enumerate(cases):
        on_progress("scoring again", done, len(cases))
        compute = partial(_scores, study.folder.run_of(task), settings.metrics, rows, draw)
        for metric, value in kept(f"{task.name}, {rows} rows, draw {draw}", compute):
            yield task.name, data_name(task.config["data"]), rows, metric, value


def _finished(study: Study, task: Task) -> bool:
    return study.folder.is_done(task, study.plan, study.plan.scoring.keys())


def _scores(folder: Path, metrics: tuple[str, ...], rows: int, draw: int) -> list[tuple[str, float]]:
    """Return the scores of a run on one draw of rows, without saving them."""
    request = Request.of(metrics, {**EVALUATE, "seed": 1 + draw})  # seed 0 is the study's draw
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewSamples)  # the effect of few rows is the question
        warnings.simplefilter("ignore", Collapsed)
        table = score_run(Run.open(folder), request, samples=rows, test_samples=rows // 2)
    return list(table.drop_nulls("value").select("metric", "value").iter_rows())
