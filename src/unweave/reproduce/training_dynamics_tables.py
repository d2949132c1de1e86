"""The numbers of tables 1, 3 and 4 of [Holtz2022]_, and those of our runs."""

from __future__ import annotations

from collections.abc import Container
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import polars

from unweave.progress import OnProgress
from unweave.reproduce.frame import Row
from unweave.reproduce.label_free_design import Settings
from unweave.reproduce.label_free_table import PUBLISHED, as_published
from unweave.runs import Run
from unweave.selection import select
from unweave.selection.correlation import spearman
from unweave.selection.estimates import FEW_SEEDS, Estimate
from unweave.study import Study

PRINTED = tuple(PUBLISHED[5])
"""The supervised scores in the paper."""
UNDER_NOISE: dict[str, tuple[float, float, float]] = {
    "beta-vae-score": (0.69, 0.54, 0.47),
    "factor-vae-score": (0.84, 0.75, 0.63),
    "mig": (0.86, 0.76, 0.67),
}
"""Table 3, in the regimes 1, 2 and 3."""
UNFAIRNESS, STEPS, ERROR = "unfairness-mean", "clustering-colour-steps", "clustering-colour-error"
WITH_TASKS: dict[str, dict[str, float | None]] = {
    UNFAIRNESS: {"dynamics": -0.72, "beta-vae-score": -0.75, "factor-vae-score": -0.80, "mig": -0.66},
    STEPS: {"dynamics": -0.59, "beta-vae-score": -0.51, "factor-vae-score": -0.56, "mig": -0.48},
    ERROR: {"dynamics": None, "beta-vae-score": None, "factor-vae-score": None, "mig": None},
}
"""Table 4. If no predictor reaches the accuracy, all steps are equal; the last error still distinguishes runs."""


def agreement_rows(settings: Settings, study: Study, seed: int, on_progress: OnProgress) -> list[Row]:
    """Return table 1: the rank correlation of the dynamics score with supervised ones, for each number of seeds."""
    found = []
    for size in settings.sizes:
        chosen = _folders(settings, study, scenes=False, seeds=range(seed, seed + size))
        table = select(chosen, "dynamics", against=PRINTED, seed=seed, on_progress=on_progress).against
        for row in table.filter(polars.col("over") == "specifications").iter_rows(named=True):
            published, interval = as_published("dynamics", row["supervised"], size)
            what = f"table 1, {row['data']}, {size} seeds: dynamics with {row['supervised']}"
            found.append(Row(what, published, *_numbers(row, "correlation"), published_interval=interval))
    return found


def noise_rows(settings: Settings, study: Study, on_progress: OnProgress) -> list[Row]:
    """Return table 3: the correlation of scores under label noise with the clean ones."""
    from unweave.study import score_under_noise
    from unweave.study.analysis import noise_robustness

    chosen = _folders(settings, study, scenes=False)
    noisy = score_under_noise(chosen, PRINTED, on_progress=on_progress, **settings.evaluate)
    found = []
    for row in noise_robustness(noisy).iter_rows(named=True):
        regime = row["label_noise"]
        ours, low, high = (nan if row[key] is None else row[key] for key in ("pearson", "pearson_low", "pearson_high"))
        what = f"table 3, {row['data']}, noise {regime}: {row['metric']}"
        found.append(Row(what, UNDER_NOISE[row["metric"]][regime - 1], ours, low, high))
    return found


def task_rows(
    settings: Settings, study: Study, dynamics: polars.DataFrame, seed: int, on_progress: OnProgress
) -> list[Row]:
    """Return table 4: the rank correlation of scores with unfairness, and with steps of the clustering task."""
    scores = _wide(study).join(dynamics.select("run", dynamics=-polars.col("dynamics")), on="run", how="left")
    outcomes = {UNFAIRNESS: _unfairness(settings, study, on_progress)}
    if settings.scenes is not None:
        outcomes[STEPS] = outcomes[ERROR] = _clustering(settings, study, on_progress)
    found = []
    for outcome, measured in outcomes.items():
        for (data,), part in scores.join(measured, on="run").group_by("data", maintain_order=True):
            for score, published in WITH_TASKS[outcome].items():
                numbers = over_specifications(part, score, outcome, seed)
                found.append(Row(f"table 4, {data}: {score} with {outcome}", published, *numbers))
    return found


def over_specifications(table: polars.DataFrame, first: str, second: str, seed: int) -> tuple[float, float, float]:
    """Return the rank correlation of two columns over specifications, and its interval over resampled seeds.

    Parameters
    ----------
    table
        A row for each run: `specification`, and a column for each score.
    first, second
        The columns.
    seed
        Seed of the resampling.
    """
    rows = table.sort("specification", maintain_order=True).select("specification", first, second)
    rows = rows.with_columns(polars.col(first, second).cast(polars.Float64).fill_null(nan))
    sizes = tuple(len(part) for _, part in rows.group_by("specification", maintain_order=True))
    pair = rows.select(first, second).to_numpy(writable=True)
    pair[~np.isfinite(pair).all(axis=1)] = nan
    ours, theirs = (Estimate(sizes, column) for column in pair.T)
    known = np.isfinite(ours.specifications)
    value = float(spearman(ours.specifications[None, known], theirs.specifications[None, known])[0])
    if not np.isfinite(value) or (ours.seeds[known] < FEW_SEEDS).any():
        return value, nan, nan
    drawn = ours.drawn(seed)
    again = spearman(ours.resampled(drawn)[:, known], theirs.resampled(drawn)[:, known])
    low, high = np.nanquantile(again, [0.025, 0.975])
    return value, float(low), float(high)


def _wide(study: Study) -> polars.DataFrame:
    """Return a row for each run: run, data, specification and the supervised scores."""
    from unweave.study.analysis.tidy import one_row_per_run, settings_of_cells

    scores = study.scores()
    table = one_row_per_run(scores, PRINTED)
    return table.with_columns(specification=polars.struct(settings_of_cells(scores)).rank("dense"))


def _unfairness(settings: Settings, study: Study, on_progress: OnProgress) -> polars.DataFrame:
    """Return the unfairness of every run of the grid, saved or computed: run and the score."""
    folders, rows = _folders(settings, study, scenes=False), []
    for number, folder in enumerate(folders):
        on_progress("unfairness", number, len(folders))
        run = Run.open(folder)
        value = _saved(run, UNFAIRNESS)
        if value is None:
            run.evaluate("unfairness", intervals=False, floors=False, progress=False, **settings.evaluate)
            value = _saved(run, UNFAIRNESS)
        rows.append({"run": folder.name, UNFAIRNESS: value})
    return polars.DataFrame(rows, schema={"run": polars.String, UNFAIRNESS: polars.Float64})


def _saved(run: Run, metric: str) -> float | None:
    """Return the saved score of a run's current weights."""
    table = run.scores()
    if table is None:
        return None
    values = table.filter((polars.col("metric") == metric) & polars.col("current"))["value"]
    return values[-1] if len(values) else None


def _clustering(settings: Settings, study: Study, on_progress: OnProgress) -> polars.DataFrame:
    """Return the mean steps and the mean last error of the clustering task for every run on scenes."""
    from unweave.tasks import sample_efficiency_table

    assert settings.scenes is not None
    chosen = _folders(settings, study, scenes=True)
    table = sample_efficiency_table(chosen, on_progress=on_progress, **settings.scenes.task)
    steps, error = polars.col("steps").mean().alias(STEPS), (1 - polars.col("accuracy")).mean().alias(ERROR)
    return table.group_by("run").agg(steps, error)


def _folders(settings: Settings, study: Study, *, scenes: bool, seeds: Container[int] | None = None) -> list[Path]:
    """Return the folders of finished runs: the encoders of the clustering task, or the others."""
    name = settings.scenes.data.partition(":")[0] if settings.scenes else ""
    wanted = study.plan.wanted()
    return [
        study.folder.run_of(task)
        for task in study.plan.tasks
        if (task.config["data"]["name"] == name) == scenes
        and (seeds is None or task.config["training"]["seed"] in seeds)
        and study.folder.is_done(task, study.plan, wanted)
    ]


def _numbers(row: dict[str, Any], value: str) -> tuple[float, float, float]:
    ours, low, high = (nan if row[key] is None else float(row[key]) for key in (value, "low", "high"))
    return ours, low, high
