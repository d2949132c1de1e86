"""Scores of many runs under label noise: each run is encoded once, scored in every regime, and keeps its scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import UsageError, called, warn_user
from unweave.metrics.label_noise import REGIMES
from unweave.metrics.request import Request
from unweave.metrics.table import metric_of
from unweave.progress import OnProgress, reporting
from unweave.study.opening import Given, open_runs
from unweave.study.table import run_frame
from unweave.tables import read_table, write_table

if TYPE_CHECKING:
    import polars

    from unweave.runs import Run

FILE = "noise.parquet"
"""In a run's folder: metric, label_noise, value, and what they depend on."""
METRICS = ("beta-vae-score", "factor-vae-score", "mig")
"""The metrics of the published table."""
COLUMNS = ("metric", "label_noise", "value")
SCORED = ("asked", *COLUMNS)
"""The metric, its part, the regime and the score."""


class LeftOut(UserWarning):
    """Runs that cannot be scored under noise."""


def score_under_noise(
    runs: Given | Iterable[Given],
    metrics: str | Sequence[str] = METRICS,
    *,
    regimes: Sequence[int] = tuple(REGIMES),
    samples: int | None = None,
    test_samples: int | None = None,
    again: bool = False,
    progress: bool | None = None,
    on_progress: OnProgress | None = None,
    **settings: Any,
) -> polars.DataFrame:
    """Return supervised scores of runs with clean labels and with noisy ones, as in [Holtz2022]_, table 3.

    A run's images are encoded once for all regimes. The scores are stored in its folder, in noise.parquet, and are not
    computed again for the same weights and settings. Its other scores do not change.

    Parameters
    ----------
    runs
        A study, a folder of runs, a run, or several of these; unfinished runs, and runs on data without factors that
        are classes, are left out with a warning.
    metrics
        Supervised metrics. A metric that uses no labels is an error: noise cannot change it.
    regimes
        Regimes of noise: 1, 2 and 3. Clean labels, 0, are always included.
    samples, test_samples
        How many images to score on, as for `Run.evaluate`.
    again
        Compute existing scores again.
    progress, on_progress
        Whether to show a progress bar, and a function to call instead.
    **settings
        The other fields of `unweave.metrics.Request`: preset, options, seed.

    Returns
    -------
    polars.DataFrame
        run, data, method, the settings that differ, seed, metric (or a part of one), label_noise (0 is none), value:
        what `unweave.study.analysis.noise_robustness` takes.
    """
    import polars

    request = Request.of(metrics, {"intervals": False, "floors": False, **settings})
    _check(request, regimes)
    usable = _usable(open_runs(runs))
    tables = []
    with reporting(on_progress, progress) as told:
        for number, run in enumerate(usable):
            told("runs", number, len(usable))
            with called(f"'{run.path}'"):
                found = _scores(run, request, sorted(set(regimes)), samples, test_samples, again)
            tables.append(found.select(polars.lit(number, polars.UInt32).alias("number"), *COLUMNS))
    names = [run.path.name for run in usable]
    names = names if len(set(names)) == len(names) else [str(run.path) for run in usable]
    described = run_frame({name: run.config for name, run in zip(names, usable, strict=True)})
    return described.with_row_index("number").join(polars.concat(tables), on="number").drop("number")


def _scores(
    run: Run,
    request: Request,
    regimes: Sequence[int],
    samples: int | None,
    test_samples: int | None,
    again: bool,
) -> polars.DataFrame:
    """Return metric, label_noise and value of a run: stored ones, and the rest computed and stored."""
    import polars

    asked = {"preset": request.preset, "options": request.options, "seed": request.seed}
    asked |= {"samples": samples, "test_samples": test_samples, "bin_factors": request.bin_factors}
    key, weights = json.dumps(asked, sort_keys=True), str(run.weights)
    kept = _kept(run.path / FILE)
    same = (polars.col("settings") == key) & (polars.col("weights") == weights)
    there = set() if again else set(kept.filter(same).select("asked", "label_noise").iter_rows())
    wanted = {(name, regime) for name in request.choose() for regime in (0, *regimes)}
    if missing := [name for name in request.choose() if any((name, regime) not in there for regime in (0, *regimes))]:
        options = {name: value for name, value in request.options.items() if name in missing}
        fresh = _computed(run, replace(request, metrics=missing, options=options), regimes, samples, test_samples)
        fresh = fresh.with_columns(settings=polars.lit(key), weights=polars.lit(weights))
        distinct = ["metric", "label_noise", "settings", "weights"]
        kept = polars.concat([kept, fresh]).unique(distinct, keep="last", maintain_order=True)
        write_table(run.path / FILE, kept)
    rows = kept.filter(same)
    return rows.filter([row in wanted for row in rows.select("asked", "label_noise").iter_rows()])


def _kept(path: Path) -> polars.DataFrame:
    """Return the scores that a run has under noise, of all weights and settings."""
    import polars

    if path.is_file():
        return read_table(path)
    texts = dict.fromkeys(("asked", "metric", "settings", "weights"), polars.String)
    kinds = {**texts, "label_noise": polars.Int64, "value": polars.Float64}
    return polars.DataFrame(schema={name: kinds[name] for name in (*SCORED, "settings", "weights")})


def _computed(
    run: Run, request: Request, regimes: Sequence[int], samples: int | None, test_samples: int | None
) -> polars.DataFrame:
    """Return asked (the metric), metric (its part), label_noise and value of a run, encoded once."""
    import polars

    from unweave.metrics.evaluate import score
    from unweave.metrics.mislabelled import with_label_noise
    from unweave.scoring import gather_run

    clean = gather_run(run, request, samples, test_samples)
    rows = []
    for regime in (0, *regimes):
        inputs = with_label_noise(clean, regime) if regime else clean
        for name in request.choose():
            options = {key: value for key, value in request.options.items() if key == name}
            found = score(inputs, replace(request, metrics=name, options=options))
            numbers = found.filter(polars.col("value").is_not_null()).select("metric", "value").iter_rows()
            rows += [{"asked": name, "metric": part, "label_noise": regime, "value": value} for part, value in numbers]
    kinds = (polars.String, polars.String, polars.Int64, polars.Float64)
    return polars.DataFrame(rows, schema=list(zip(SCORED, kinds, strict=True)))


def _check(request: Request, regimes: Sequence[int]) -> None:
    if request.label_noise is not None:
        raise UsageError("give the regimes of noise as regimes, not as label_noise")
    for regime in regimes:
        if regime not in REGIMES:
            raise UsageError(f"a regime of label noise must be 1, 2 or 3, not {regime!r}")
    for name in request.choose():
        if not metric_of(name).supervised:
            raise UsageError(f"the metric '{name}' uses no labels, so noise cannot change it; leave it out")
        if "encode" in metric_of(name).needs:
            raise UsageError(f"the metric '{name}' intervenes on factors and uses no labels; leave it out")


def _usable(runs: Sequence[Run]) -> list[Run]:
    """Return the finished runs whose factors are classes; the others are counted in a warning."""
    usable = [run for run in runs if run.state == "finished" and run.data.is_labelled and not run.data.continuous]
    if not usable:
        raise UsageError(f"none of {len(runs)} runs has finished and was trained on data with factors that are classes")
    if left := len(runs) - len(usable):
        warn_user(f"left out: {left} of {len(runs)} runs, unfinished or without factors that are classes", LeftOut)
    return usable
