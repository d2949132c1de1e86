"""Whether metrics agree, and whether a model chosen by one metric does well by another, or on other data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars

from unweave.study.analysis.tidy import groups_of, one_row_per_run, settings_of_cells


def metric_agreement(table: polars.DataFrame, metrics: Sequence[str] | None = None) -> polars.DataFrame:
    """Return Spearman's rank correlation of every two metrics over the runs on each data set.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it.
    metrics
        Which; by default all of the table.

    Returns
    -------
    polars.DataFrame
        data, first, second, correlation, runs; the correlation is null if a metric is constant.
    """
    from scipy.stats import spearmanr

    wanted = table["metric"].unique(maintain_order=True).to_list() if metrics is None else list(metrics)
    rows = []
    for (data,), runs in one_row_per_run(table, wanted).group_by("data", maintain_order=True):
        for i, first in enumerate(wanted):
            for second in wanted[i + 1 :]:
                pairs = runs.select(first, second).drop_nulls().to_numpy()
                varied = len(pairs) > 2 and bool((np.ptp(pairs, axis=0) > 0).all())
                found = float(np.asarray(spearmanr(*pairs.T))[0]) if varied else None
                rows.append({"data": data, "first": first, "second": second, "correlation": found, "runs": len(pairs)})
    texts, counts = dict.fromkeys(("data", "first", "second"), polars.String), {"runs": polars.Int64}
    return polars.DataFrame(rows, schema={**texts, "correlation": polars.Float64, **counts})


@dataclass(frozen=True)
class Transfer:
    """How often choosing by one metric on one data set beats a random choice, by where the choice is tested."""

    same: float | None
    """The same metric and data set, another seed."""
    other_data: float | None
    """The same metric on another data set."""
    other_metric: float | None
    """Another metric on the same data set."""
    both_other: float | None
    """Another metric on another data set."""


def transfer(table: polars.DataFrame, metrics: Sequence[str] | None = None) -> Transfer:
    r"""Return the probability that the cell chosen by metric A on data set S beats a random cell by B on T.

    The cell with the best run by A on S is chosen. A run of it with another seed is compared by B on T with a run of a
    random cell; a tie counts one half. The average is over all pairs of seeds, cells, metrics and data sets. This is
    the question of [Locatello2019]_, section 5.4 (80.7 %, 59.3 % and 54.9 % there), which draws pairs at random.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it, of one step. All data sets need the same cells.
    metrics
        Metrics to choose and to compare by, for which higher is better; by default all of the table.

    Returns
    -------
    Transfer
        The probabilities, by whether metric and data set are the same.
    """
    scores = _cube(table, metrics)  # (metrics, data sets, cells, seeds)
    kinds: dict[tuple[bool, bool], list[float]] = {}
    a_count, s_count = scores.shape[:2]
    for a in range(a_count):
        for s in range(s_count):
            cell, seed = np.unravel_index(np.nanargmax(scores[a, s]), scores.shape[2:])
            for b in range(a_count):
                for t in range(s_count):
                    chance = _chance(scores[b, t], int(cell), None if (a, s) != (b, t) else int(seed))
                    kinds.setdefault((a == b, s == t), []).append(chance)
    found = {kind: float(np.mean(values)) for kind, values in kinds.items()}
    return Transfer(
        found.get((True, True)), found.get((True, False)), found.get((False, True)), found.get((False, False))
    )


def _chance(scores: np.ndarray, cell: int, used: int | None) -> float:
    """Return the probability that a run of a cell, except for the seed used, beats a run of any cell (cells, seeds)."""
    own = np.delete(scores[cell], used) if used is not None else scores[cell]
    wins = 0.5 * (1 + np.sign(own[:, None] - scores.reshape(1, -1)))
    return float(np.nanmean(wins))


def _cube(table: polars.DataFrame, metrics: Sequence[str] | None) -> np.ndarray:
    """Return scores (metrics, data sets, cells, seeds), of cells and seeds that all data sets have."""
    wanted = table["metric"].unique(maintain_order=True).to_list() if metrics is None else list(metrics)
    settings = [name for name in settings_of_cells(table) if name != "data"]
    runs = one_row_per_run(table, wanted)
    runs = runs.with_columns(cell=groups_of(runs, settings))
    data = runs["data"].unique(maintain_order=True).to_list()
    seeds = sorted(runs["seed"].unique().to_list())
    cube = np.full((len(wanted), len(data), int(runs["cell"].max()) + 1, len(seeds)), np.nan)  # pyright: ignore[reportArgumentType]
    for row in runs.iter_rows(named=True):
        cube[:, data.index(row["data"]), row["cell"], seeds.index(row["seed"])] = [row[name] for name in wanted]
    complete = ~np.isnan(cube).any(axis=(0, 1, 3))
    if not complete.any():
        raise ValueError("no cell was run on all data sets with all seeds")
    return cube[:, :, complete]
