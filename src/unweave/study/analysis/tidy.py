"""Reshaping the table for analyses: runs as rows, and cells of replicates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars

from unweave.errors import UsageError

NOT_SETTINGS = ("run", "seed", "metric", "value", "low", "high", "floor", "ceiling")
"""Columns that are not settings; all others define a cell."""


def settings_of_cells(table: polars.DataFrame) -> list[str]:
    """Return the columns that define a cell: everything except the seed and what was measured.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it.

    Returns
    -------
    list
        The names of the columns.
    """
    return [name for name in table.columns if name not in NOT_SETTINGS]


def cells_of(table: polars.DataFrame, metric: str) -> dict[tuple[object, ...], polars.Series]:
    """Return the scores of each cell, one for each seed, by the cell's settings.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it.
    metric
        The metric.

    Returns
    -------
    dict
        The scores of each cell as a series, by the values of its settings.
    """
    rows = scores_of(table, metric)
    groups = rows.group_by(settings_of_cells(table), maintain_order=True)
    return {cell: found.sort("seed")["value"] for cell, found in groups}


def scores_of(table: polars.DataFrame, metric: str) -> polars.DataFrame:
    """Return the rows of a metric that have a value; a metric that is not in the table is an error."""
    known = table["metric"].unique().sort().to_list()
    if metric not in known:
        raise UsageError(f"the table has no metric '{metric}' (it has: {', '.join(known)})")
    return table.filter(polars.col("metric") == metric).drop_nulls("value")


def one_row_per_run(table: polars.DataFrame, metrics: Sequence[str] | None = None) -> polars.DataFrame:
    """Return one row for each run and step, with a column for each metric: settings, seed, then the scores.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it.
    metrics
        The metrics; by default all of the table.

    Returns
    -------
    polars.DataFrame
        The wide table.
    """
    wanted = table["metric"].unique(maintain_order=True).to_list() if metrics is None else list(metrics)
    for metric in wanted:
        scores_of(table, metric)
    rows = table.filter(polars.col("metric").is_in(wanted))
    index = ["run", *settings_of_cells(table), "seed"]
    found = rows.pivot(on="metric", index=index, values="value", aggregate_function="first")
    return found.select(*index, *wanted)


def groups_of(rows: polars.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Return the number of each row's group, from 0, where rows that agree in these columns are a group."""
    return rows.select(polars.struct(*columns).rank("dense") - 1).to_series().to_numpy().astype(np.int64)
