"""Scores of single runs: saved ones, and missing ones, which are computed and saved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars

from unweave.errors import UsageError, unknown

if TYPE_CHECKING:
    from unweave.runs import Run


@dataclass(frozen=True)
class Scored:
    """How to compute a missing score."""

    samples: int
    seed: int


def rows_of(names: Sequence[str]) -> dict[str, str]:
    """Return the rows of scores for names of metrics or of their parts, each with its metric.

    >>> rows_of(["mig", "dci-disentanglement"])
    {'mig': 'mig', 'dci-disentanglement': 'dci'}
    """
    from unweave.metrics.table import METRICS, metric_of

    found: dict[str, str] = {}
    parts = {row: name for name, metric in METRICS.items() for row in metric.names(name)}
    for name in names:
        if name in parts and name not in METRICS:
            found[name] = parts[name]
            continue
        if name not in METRICS and not _is_known(name):
            raise unknown("metric", name, [*METRICS])
        found |= dict.fromkeys(metric_of(name).names(name), name)
    return found


def _is_known(name: str) -> bool:
    """Return whether a plugin defines a metric."""
    from unweave.metrics.table import metric_of

    try:
        metric_of(name)
    except UsageError:
        return False
    return True


def saved_or_scored(run: Run, rows: dict[str, str], how: Scored) -> dict[str, float]:
    """Return the scores of a run in these rows (each with its metric): saved ones of its weights, or new ones."""
    saved = _saved(run)
    missing = list(dict.fromkeys(metric for row, metric in rows.items() if row not in saved))
    if missing:
        settings = {"seed": how.seed, "intervals": False, "floors": False}
        run.evaluate(missing, samples=how.samples, test_samples=max(2, how.samples // 2), progress=False, **settings)
        saved = _saved(run)
    return {row: saved.get(row, float("nan")) for row in rows}


def rows_of_scores(run: Run) -> dict[str, int]:
    """Return the number of images for each saved score of a run's weights, if known."""
    table = run.scores()
    if table is None:
        return {}
    known = table.filter(polars.col("current") & polars.col("value").is_not_null())
    counts = {name: json.loads(options or "{}").get("rows") for name, options in known["metric", "options"].iter_rows()}
    return {name: rows for name, rows in counts.items() if rows is not None}


def _saved(run: Run) -> dict[str, float]:
    """Return the saved scores of a run's weights, the newest of each name."""
    table = run.scores()
    if table is None:
        return {}
    known = table.filter(polars.col("current") & polars.col("value").is_not_null())
    return dict(known.select("metric", "value").iter_rows())
