"""The numbers of tables 1, 3 and 4 of [Holtz2022]_ beside those of our runs."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any

import numpy as np
import polars

from unweave.progress import OnProgress
from unweave.reproduce.frame import Row
from unweave.reproduce.label_free_design import Settings
from unweave.reproduce.label_free_table import PUBLISHED, as_published
from unweave.selection import select
from unweave.selection.correlation import spearman
from unweave.selection.estimates import FEW_SEEDS, Estimate
from unweave.study import Study

PRINTED = tuple(PUBLISHED[5])
"""The supervised scores that the paper has."""
UNDER_NOISE: dict[str, tuple[float, float, float]] = {
    "beta-vae-score": (0.69, 0.54, 0.47),
    "factor-vae-score": (0.84, 0.75, 0.63),
    "mig": (0.86, 0.76, 0.67),
}
"""Table 3, in the regimes 1, 2 and 3."""
UNFAIRNESS, CLUSTERING = "unfairness-mean", "clustering-colour-steps"
WITH_TASKS: dict[str, dict[str, float]] = {
    UNFAIRNESS: {"dynamics": -0.72, "beta-vae-score": -0.75, "factor-vae-score": -0.80, "mig": -0.66},
    CLUSTERING: {"dynamics": -0.59, "beta-vae-score": -0.51, "factor-vae-score": -0.56, "mig": -0.48},
}
"""Table 4."""


def agreement_rows(settings: Settings, study: Study, seed: int, on_progress: OnProgress) -> list[Row]:
    """Return table 1: the rank correlation of the dynamics score with supervised ones, for each number of seeds."""
    found = []
    for size in settings.sizes:
        chosen = [
            study.folder.run_of(task)
            for task in study.plan.tasks
            if task.config["training"]["seed"] < seed + size and not _is_scene(settings, task.config["data"])
        ]
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

    chosen = [study.folder.run_of(task) for task in study.plan.tasks if not _is_scene(settings, task.config["data"])]
    scoring = dict(settings.evaluate)
    noisy = score_under_noise(chosen, PRINTED, on_progress=on_progress, **scoring)
    found = []
    for row in noise_robustness(noisy).iter_rows(named=True):
        regime = row["label_noise"]
        ours = [nan if row[key] is None else row[key] for key in ("pearson", "pearson_low", "pearson_high")]
        what = f"table 3, {row['data']}, noise {regime}: {row['metric']}"
        found.append(Row(what, UNDER_NOISE[row["metric"]][regime - 1], *ours))
    return found


def task_rows(
    settings: Settings, study: Study, dynamics: polars.DataFrame, seed: int, on_progress: OnProgress
) -> list[Row]:
    """Return table 4: the rank correlation of scores with unfairness, and with steps of the clustering task."""
    tasks = _wide(study).join(dynamics.select("run", dynamics=-polars.col("dynamics")), on="run", how="left")
    found = []
    for outcome, printed in WITH_TASKS.items():
        table = tasks
        if outcome == CLUSTERING:
            if settings.scenes is None:
                continue
            table = tasks.join(_clustering(settings, study, on_progress), on="run")
        for data, part in _by_data(table, settings, scenes=outcome == CLUSTERING):
            for score, published in printed.items():
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
    pair = rows.select(first, second).to_numpy()
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
    """Return a row for each run: data, specification, and the scores of table 4."""
    from unweave.study.analysis.tidy import one_row_a_run, settings_of_cells

    scores = study.scores()
    table = one_row_a_run(scores, [*PRINTED, UNFAIRNESS])
    return table.with_columns(specification=polars.struct(settings_of_cells(scores)).rank("dense"))


def _clustering(settings: Settings, study: Study, on_progress: OnProgress) -> polars.DataFrame:
    """Return the mean steps of the clustering task of every run on scenes: run, steps."""
    from unweave.tasks import sample_efficiency_table

    assert settings.scenes is not None
    chosen = [study.folder.run_of(task) for task in study.plan.tasks if _is_scene(settings, task.config["data"])]
    table = sample_efficiency_table(chosen, on_progress=on_progress, **settings.scenes.task)
    return table.group_by("run").agg(polars.col("steps").mean().alias(CLUSTERING))


def _by_data(table: polars.DataFrame, settings: Settings, *, scenes: bool) -> Iterator[tuple[str, polars.DataFrame]]:
    """Yield the runs on each data set: those on scenes, or the others."""
    name = settings.scenes.data.partition(":")[0] if settings.scenes else ""
    for (data,), part in table.group_by("data", maintain_order=True):
        if str(data).startswith(name) == scenes or not name:
            yield str(data), part


def _is_scene(settings: Settings, data: dict[str, Any]) -> bool:
    """Tell whether a run is an encoder of the clustering task."""
    return settings.scenes is not None and data["name"] == settings.scenes.data.partition(":")[0]


def _numbers(row: dict[str, Any], value: str) -> tuple[float, float, float]:
    ours, low, high = (nan if row[key] is None else float(row[key]) for key in (value, "low", "high"))
    return ours, low, high
