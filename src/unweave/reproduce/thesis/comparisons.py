"""The numbers of claims, from a table of scores: differences, levels and trends, with intervals over training seeds.

If runs differ in further settings, a seed counts once, by their mean or best. Runs with the same seed share their
initial weights and batches, so groups are compared seed by seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import inf
from typing import Any

import numpy as np
import polars

from unweave.reproduce.thesis.claims import Case
from unweave.study import analysis

BySeed = dict[int, float]
Reduce = Callable[[np.ndarray], Any]
TITLES = {
    "mig": "MIG",
    "dci-disentanglement": "DCI D",
    "factor-distance-correlation": "rank correlation of factors and codes",
    "perceived-correlation": "rank correlation of images and codes",
    "linearity": "linearity",
    "axis-alignment": "axis alignment",
}
"""The scores of the thesis, in the order of its figures; for all of them, higher is better."""
SUMMED = {**TITLES, "dci-informativeness": "DCI I"}
"""The scores of tables, with DCI I: if factors are predicted at chance, disentanglement is meaningless."""
DISENTANGLEMENT = ("mig", "dci-disentanglement")
FACTORS, IMAGES, LINEARITY, ALIGNMENT = list(TITLES)[2:]
METHODS = {
    "beta-vae": "β-VAE",
    "ada-gvae": "Ada-GVAE",
    "beta-tvae": "β-TVAE",
    "ada-tvae": "Ada-TVAE",
    "ada-tvae-unsupervised": "unsupervised Ada-TVAE",
}
VAES = ("beta-vae", "ada-gvae")


def differences(
    table: polars.DataFrame,
    metrics: Sequence[str],
    column: str,
    one: Any,
    other: Any,
    *,
    over: Sequence[str] = ("method",),
    reduce: Reduce = np.mean,
    above: float = 0.0,
    below: float = inf,
    **where: Any,
) -> list[Case]:
    """Return by how much runs with one value of a column exceed those with another, for each metric and group.

    Parameters
    ----------
    table
        A prepared table, with one step per run.
    metrics
        The metrics to compare, if the table has them.
    column, one, other
        The compared groups of runs: those with one value of a column, or with one of several in a list.
    over
        Columns by which runs are grouped; every group is compared separately.
    reduce
        How to combine the scores of one seed that differ in other settings: their mean, or np.max.
    above, below
        The expected range of the difference.
    where
        Values of further columns, to which all runs are limited.
    """
    found: list[Case] = []
    if column not in table.columns:
        return found
    for metric, group in _groups(table, metrics, over, where):
        ours, theirs = (by_seed(table, metric, reduce, **{**group, column: value}) for value in (one, other))
        named = f"{column} " if isinstance(other, int | float) else ""
        best = "best " if reduce is np.max else ""
        what = f"{best}{_what(metric, group)}: {named}{label(one)} less {label(other)}"
        found += difference(what, ours, theirs, above=above, below=below)
    return found


def means(
    table: polars.DataFrame,
    metrics: Sequence[str],
    *,
    above: float,
    over: Sequence[str] = ("method",),
    **where: Any,
) -> list[Case]:
    """Return the mean over seeds, which should be above a bound, for each metric and group."""
    found = []
    for metric, group in _groups(table, metrics, over, where):
        if scores := list(by_seed(table, metric, **group).values()):
            mean = analysis.over_seeds(scores)
            found.append(Case(_what(metric, group), mean.value, mean.low, mean.high, above))
    return found


def trends(
    table: polars.DataFrame,
    metrics: Sequence[str],
    column: str,
    *,
    falls: bool,
    over: Sequence[str] = ("method",),
    **where: Any,
) -> list[Case]:
    """Return the rank correlation over runs of a number and a score, which should fall or rise with it."""
    found = []
    ends = (-inf, 0.0) if falls else (0.0, inf)
    for metric, group in _groups(table, metrics, over, where):
        runs = _rows(table, metric, group).drop_nulls(column)
        known = analysis.rank_correlation(*(runs[name].to_numpy() for name in (column, "value", "seed")))
        if known.correlation is not None:
            what = f"rank correlation of {column.replace('_', ' ')} and {_what(metric, group)}"
            found.append(Case(what, known.correlation, known.low, known.high, *ends))
    return found


def summary(table: polars.DataFrame, groups: Sequence[str], *, best: bool = False) -> polars.DataFrame:
    """Return the mean over seeds of every score in every group, with its interval: groups, metric, seeds, value, …

    Parameters
    ----------
    table
        A prepared table, with one step per run.
    groups
        Columns that define the groups; those that the table lacks are ignored.
    best
        Whether a seed counts by the best over its other settings, and not by their mean.
    """
    columns = [name for name in groups if name in table.columns]
    rows = []
    for values, own in table.group_by(columns, maintain_order=True):
        for metric in present(own, SUMMED):
            found = analysis.over_seeds(list(by_seed(own, metric, np.max if best else np.mean).values()))
            rows.append({**dict(zip(columns, values, strict=True)), "metric": metric, **vars(found)})
    ordered = polars.DataFrame(rows, infer_schema_length=None).sort(columns, maintain_order=True)
    return ordered.select(*columns, "metric", "seeds", "value", "low", "high")


def difference(what: str, ours: BySeed, theirs: BySeed, *, above: float = 0.0, below: float = inf) -> list[Case]:
    """Return the mean difference of two groups over their common seeds; nothing if there are none."""
    seeds = sorted({*ours} & {*theirs})
    if not seeds:
        return []
    one, other = (np.array([group[seed] for seed in seeds]) for group in (ours, theirs))
    found = analysis.over_seeds(one - other)
    chance = analysis.improvement(one, other) if len(seeds) >= analysis.FEW_SEEDS else None
    return [Case(what, found.value, found.low, found.high, above, below, chance)]


def by_seed(table: polars.DataFrame, metric: str, reduce: Reduce = np.mean, **where: Any) -> BySeed:
    """Return one number for each seed: `reduce` of the scores of a group's runs."""
    groups = _rows(table, metric, where).group_by("seed", maintain_order=True)
    return {int(seed): float(reduce(own["value"].to_numpy())) for (seed,), own in groups}  # pyright: ignore[reportArgumentType]


def setting_of_best(table: polars.DataFrame, metric: str, column: str, **where: Any) -> BySeed:
    """Return for each seed the setting of the run that scores highest."""
    runs = _rows(table, metric, where).sort("value", descending=True, maintain_order=True)
    best = runs.group_by("seed", maintain_order=True).first()
    return {int(seed): float(value) for seed, value in best.select("seed", column).iter_rows()}


def present(table: polars.DataFrame, metrics: Sequence[str] | Mapping[str, str]) -> list[str]:
    """Return the metrics that the table has."""
    there = {*table["metric"]}
    return [metric for metric in metrics if metric in there]


def levels(table: polars.DataFrame, column: str) -> list[Any]:
    """Return the values of a column, in order; none without the column, because all runs then have the same value."""
    return table[column].drop_nulls().unique().sort().to_list() if column in table.columns else []


def label(value: Any) -> str:
    """Return the display name of a value: for a method, its name in papers.

    >>> label("ada-gvae"), label([1.0, 2.0]), label("mse")
    ('Ada-GVAE', '1 and 2', 'mse')
    """
    if isinstance(value, list | tuple):
        return " and ".join(map(label, value))
    return f"{value:g}" if isinstance(value, float) else METHODS.get(value, str(value))


def _groups(
    table: polars.DataFrame, metrics: Sequence[str], over: Sequence[str], where: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every metric with every group of runs, as values of columns."""
    columns = [name for name in over if name in table.columns]
    for values in product(*(levels(table, name) for name in columns)):
        for metric in present(table, metrics):
            yield metric, {**where, **dict(zip(columns, values, strict=True))}


def _rows(table: polars.DataFrame, metric: str, where: Mapping[str, Any]) -> polars.DataFrame:
    """Return the scores of the runs of a group; a missing column has the same value in all runs."""
    named = [
        polars.col(name).is_in(list(value)) if isinstance(value, list | tuple) else polars.col(name) == value
        for name, value in where.items()
        if name in table.columns
    ]
    return table.filter(polars.col("metric") == metric, *named).drop_nulls("value")


def _what(metric: str, group: Mapping[str, Any]) -> str:
    """Return a score and whose it is.

    >>> _what("mig", {"method": "ada-tvae", "data": "xysquares", "schedule": "threshold"})
    'MIG of Ada-TVAE on xysquares, threshold'
    """
    words = {"method": " of ", "data": " on "}
    order = sorted(group, key=lambda name: [*words, name].index(name))
    return TITLES[metric] + "".join(f"{words.get(name, ', ')}{label(group[name])}" for name in order)
