"""What the thesis claims of a figure, and whether it holds in a table of scores.

Intervals are over training seeds, never over images. Of runs that differ in other settings too, a seed counts once: by
the mean, or the best, over these settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
import polars

from unweave.reproduce.frame import Row
from unweave.study import analysis

BySeed = dict[int, float]
TITLES = {
    "mig": "MIG",
    "dci-disentanglement": "DCI D",
    "factor-distance-correlation": "rank correlation of factors and codes",
    "perceived-correlation": "rank correlation of images and codes",
    "linearity": "linearity",
    "axis-alignment": "axis alignment",
}
"""The scores of the thesis, in the order of its figures."""
DISENTANGLEMENT = ("mig", "dci-disentanglement")
METHODS = {
    "beta-vae": "β-VAE",
    "ada-gvae": "Ada-GVAE",
    "beta-tvae": "β-TVAE",
    "ada-tvae": "Ada-TVAE",
    "ada-tvae-unsupervised": "unsupervised Ada-TVAE",
}


@dataclass(frozen=True)
class Case:
    """One number that a claim is about, where it should lie, and its 95 % interval over seeds, if there is one."""

    what: str
    value: float
    low: float | None
    high: float | None
    above: float = 0.0
    below: float = inf
    chance: analysis.Interval | None = None
    """Of a difference: how likely a run of the first scores higher than one of the second."""

    @property
    def agrees(self) -> bool:
        """Whether the number lies where it should."""
        return self.above < self.value < self.below

    @property
    def is_clear(self) -> bool:
        """Whether its whole interval does."""
        return self.low is not None and self.high is not None and self.above < self.low and self.high < self.below

    @property
    def contradicts(self) -> bool:
        """Whether its whole interval lies where it should not."""
        return self.low is not None and self.high is not None and (self.high <= self.above or self.low >= self.below)

    def rows(self) -> list[Row]:
        """Return the number, and the chance where there is one, as rows; the thesis prints neither."""
        found = [Row(self.what, None, self.value, _or_nan(self.low), _or_nan(self.high))]
        if self.chance:
            what = f"{self.what}: chance that a run of the first scores higher"
            found.append(Row(what, None, self.chance.value, _or_nan(self.chance.low), _or_nan(self.chance.high)))
        return found


@dataclass(frozen=True)
class Claim:
    """A statement of the thesis, and the numbers that speak for it or against it."""

    says: str
    cases: tuple[Case, ...]

    @property
    def verdict(self) -> str:
        """Whether it holds: in every case, on average, in some cases, or not."""
        agreeing = [case for case in self.cases if case.agrees]
        if not agreeing:
            return "does not hold"
        if all(case.is_clear for case in self.cases):
            return "holds"
        if len(agreeing) == len(self.cases):
            return "holds on average"
        if any(case.is_clear for case in self.cases):
            return "holds in part"
        return "undecided"

    def note(self) -> str:
        """Return the claim and its verdict in a sentence."""
        agreeing, clear, against = (
            sum(getattr(case, name) for case in self.cases) for name in ("agrees", "is_clear", "contradicts")
        )
        count = len(self.cases)
        told = f"{agreeing} of {count} {'number lies' if count == 1 else 'numbers lie'} where the thesis has them"
        seeds = f"{clear} with the whole 95 % interval over seeds, {against} lie elsewhere with theirs"
        return f"Thesis: {self.says}. Here it {_is(self.verdict)}: {told}, {seeds}."


def _is(verdict: str) -> str:
    return "is undecided" if verdict == "undecided" else verdict


def claim(says: str, cases: Sequence[Case | None]) -> list[Claim]:
    """Return a claim in a list; an empty one where no run speaks about it."""
    found = tuple(case for case in cases if case is not None and np.isfinite(case.value))
    return [Claim(says, found)] if found else []


def present(table: polars.DataFrame, metrics: Sequence[str] | Mapping[str, str]) -> list[str]:
    """Return those metrics that the table has."""
    there = {*table["metric"]}
    return [metric for metric in metrics if metric in there]


def levels(table: polars.DataFrame, column: str) -> list[Any]:
    """Return the values of a column, in order; none where it is no column, since all runs have the same value."""
    return table[column].drop_nulls().unique().sort().to_list() if column in table.columns else []


def by_seed(
    table: polars.DataFrame, metric: str, reduce: Callable[[np.ndarray], float] = np.mean, **where: Any
) -> BySeed:
    """Return one number for each seed: the mean, or what `reduce` makes, of the scores of the runs of a group."""
    groups = _rows(table, metric, where).group_by("seed", maintain_order=True)
    return {int(seed): float(reduce(own["value"].to_numpy())) for (seed,), own in groups}


def setting_of_best(
    table: polars.DataFrame, metric: str, column: str, scale: Callable[[float], float] = float, **where: Any
) -> BySeed:
    """Return for each seed the setting of the run that scores highest, on a scale."""
    chosen = _rows(table, metric, where).sort("value", descending=True, maintain_order=True)
    best = chosen.group_by("seed", maintain_order=True).first()
    return {int(seed): float(scale(value)) for seed, value in best.select("seed", column).iter_rows()}


def _rows(table: polars.DataFrame, metric: str, where: Mapping[str, Any]) -> polars.DataFrame:
    """Return the scores of the runs of a group."""
    named = (_is_value(name, value) for name, value in where.items())
    return table.filter(polars.col("metric") == metric, *named).drop_nulls("value")


def _is_value(name: str, value: Any) -> polars.Expr:
    return polars.col(name).is_in(list(value)) if isinstance(value, list | tuple) else polars.col(name) == value


def difference(what: str, ours: BySeed, theirs: BySeed, *, above: float = 0.0, below: float = inf) -> Case | None:
    """Return the mean difference of two groups over the seeds that both have, and the chance that ours is higher."""
    seeds = sorted({*ours} & {*theirs})
    if not seeds:
        return None
    one, other = (np.array([group[seed] for seed in seeds]) for group in (ours, theirs))
    found = analysis.over_seeds(one - other)
    chance = analysis.improvement(one, other) if len(seeds) >= analysis.FEW_SEEDS else None
    return Case(what, found.value, found.low, found.high, above, below, chance)


def level(what: str, scores: BySeed, *, above: float = -inf, below: float = inf) -> Case | None:
    """Return the mean of a group over seeds, which should lie above or below something."""
    if not scores:
        return None
    found = analysis.over_seeds(list(scores.values()))
    return Case(what, found.value, found.low, found.high, above, below)


def trend(what: str, table: polars.DataFrame, metric: str, column: str, *, falls: bool, **where: Any) -> Case | None:
    """Return the rank correlation over runs of a setting and a score, which should fall or rise with it."""
    chosen = _rows(table, metric, where).drop_nulls(column)
    found = analysis.rank_correlation(*(chosen[name].to_numpy() for name in (column, "value", "seed")))
    if found.correlation is None:
        return None
    ends = (-inf, 0.0) if falls else (0.0, inf)
    return Case(what, found.correlation, found.low, found.high, *ends)


def _or_nan(value: float | None) -> float:
    return nan if value is None else value
