"""The clustering task over many runs: one table, and the results stored in the runs' folders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from unweave.errors import UsageError, called, warn_user
from unweave.files import exclusive
from unweave.progress import OnProgress, reporting
from unweave.runs import Run
from unweave.study.opening import Given, open_runs
from unweave.study.table import run_frame
from unweave.tables import merge_scores, read_table, write_table
from unweave.tasks.efficiency import DATA, SampleEfficiency, Settings, is_of_scenes, sample_efficiency

if TYPE_CHECKING:
    import polars

FILE, SCORES = "tasks.parquet", "scores.parquet"
"""The file in a run's folder with every initialisation of every task; the means are among its scores."""
COLUMNS = ("initialisation", "steps", "reached", "accuracy")


class LeftOut(UserWarning):
    """Runs that do not fit the task were left out."""


def sample_efficiency_table(
    runs: Given | Iterable[Given],
    *,
    by: str | Sequence[str] = "colour",
    again: bool = False,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> polars.DataFrame:
    """Return how fast reward predictors learn on the codes of each of several runs.

    Results are stored in the runs' folders: every initialisation in tasks.parquet, and the means among the scores, as
    `clustering-colour-steps` and `clustering-colour-accuracy`, so that `Study.scores` has them next to the metrics. A
    run that has them for the same weights and options is skipped.

    Parameters
    ----------
    runs
        A study, a folder of runs, a run, or several of these. In a folder, runs on data other than scenes2d and
        unfinished ones are left out with a warning.
    by
        Which sprites belong together, or several ways: "colour", "shape", "position".
    again
        Compute existing results again.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.
    **options
        Those of `sample_efficiency`: target, max_steps, every, seeds, test_scenes, learner, seed.

    Returns
    -------
    polars.DataFrame
        run, data, method, the settings that differ, seed, by, initialisation, steps (to the target; `max_steps` if
        reached is False), reached, accuracy (the last one).
    """
    import polars

    chosen = [by] if isinstance(by, str) else list(by)
    usable = _usable(open_runs(runs))
    tables = []
    with reporting(on_progress, progress) as told:
        for number, run in enumerate(usable):
            for way in chosen:
                with called(f"'{run.path}'"):
                    found = _kept(run, way, options, again, told)
                tables.append(found.select(polars.lit(number).alias("number"), polars.lit(way).alias("by"), *COLUMNS))
            told("runs", number + 1, len(usable))
    names = [run.path.name for run in usable]
    if len(set(names)) < len(names):
        names = [str(run.path) for run in usable]
    described = run_frame({name: run.config for name, run in zip(names, usable, strict=True)})
    return described.with_row_index("number").join(_concat(tables), on="number").drop("number")


def score_clustering(
    run: Run, *, by: str = "colour", on_progress: OnProgress | None = None, **options: Any
) -> SampleEfficiency:
    """Do the clustering task with a run's codes, and store the result in its folder.

    Parameters
    ----------
    run
        A run on scenes2d.
    by
        Which sprites belong together.
    on_progress
        Called with the progress.
    **options
        Those of `sample_efficiency`.

    Returns
    -------
    SampleEfficiency
        Steps to the target for each initialisation, with all curves.
    """
    import polars

    found = sample_efficiency(run, by=by, on_progress=on_progress, progress=False, **options)
    written = _written(found.settings)
    task = f"clustering-{by}"
    numbers = {f"{task}-steps": found.steps, f"{task}-accuracy": found.accuracy}
    scores = polars.DataFrame([{"metric": name, "value": value, "options": written} for name, value in numbers.items()])
    rows = found.table.with_columns(
        task=polars.lit(task), options=polars.lit(written), weights=polars.lit(run.weights, dtype=polars.String)
    )
    path = run.path / FILE
    with exclusive(path.with_name(f".{FILE}.lock")):
        if path.is_file():
            same = [polars.col(name).eq_missing(rows[name][0]) for name in ("task", "options", "weights")]
            rows = _concat([read_table(path).filter(~polars.all_horizontal(same)), rows])
        write_table(path, rows)
    merge_scores(run.path / SCORES, scores, step=run.step, weights=str(run.weights))
    return found


def _kept(run: Run, by: str, options: dict[str, Any], again: bool, on_progress: OnProgress) -> polars.DataFrame:
    """Return the stored rows of a run for these weights and options, or compute them."""
    import polars

    if not again and (run.path / FILE).is_file():
        table = read_table(run.path / FILE)
        wanted = _written(Settings.of({**options, "by": by, "size": run.data.shape[1]}))
        same = (polars.col("options") == wanted) & polars.col("weights").eq_missing(polars.lit(run.weights))
        if len(rows := table.filter(same).sort("initialisation")):
            return rows
    return score_clustering(run, by=by, on_progress=on_progress, **options).table


def _written(settings: Settings) -> str:
    return json.dumps(asdict(settings))


def _usable(runs: Sequence[Run]) -> list[Run]:
    """Return the finished runs on scenes; the others are counted in a warning."""
    usable = [run for run in runs if run.state == "finished" and is_of_scenes(str(run.settings.data["name"]))]
    if not usable:
        hint = "unweave train beta-vae --data scenes2d:size=32"
        raise UsageError(f"none of {len(runs)} runs has finished and was trained on {DATA}; train one: {hint}")
    if left := len(runs) - len(usable):
        warn_user(f"left out: {left} of {len(runs)} runs, unfinished or not on {DATA}", LeftOut)
    return usable


def _concat(tables: Sequence[polars.DataFrame]) -> polars.DataFrame:
    import polars

    return polars.concat(tables, how="diagonal").with_columns(polars.col("^number$").cast(polars.UInt32))
