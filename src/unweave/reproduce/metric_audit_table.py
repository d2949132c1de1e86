"""Noise, spread and power of each metric, from the table of a study and from repeated scoring."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import numpy as np
import polars

from unweave.reproduce.metric_audit_design import Settings, metric_of_part, scores_rows
from unweave.study.analysis.power import (
    MOST_SEEDS,
    effect_interval,
    effect_size,
    pooled_deviation,
    rows_for_noise,
    seeds_for_power,
)

CONTRASTS = ("weak", "strong", "steps")
"""The first and second strength, the second and third, and a snapshot and the end."""


class Contrast(NamedTuple):
    """The difference between two cells."""

    effect: float
    """In standard deviations over seeds."""
    low: float
    high: float
    """The ends of its 95 % interval are `low` and `high`."""

    @property
    def seeds(self) -> float:
        """Seeds per cell for a power of 80 %; infinite if more than a thousand are needed."""
        return _seeds(self.effect)

    @property
    def fewest_seeds(self) -> float:
        """The same for the end of the interval that is further from zero."""
        return _seeds(max(abs(self.low), abs(self.high)))

    @property
    def most_seeds(self) -> float:
        """The same for the end that is closer; infinite if the interval contains zero."""
        return inf if self.low <= 0 <= self.high else _seeds(min(abs(self.low), abs(self.high)))


class Audit(NamedTuple):
    """One metric on one data set."""

    data: str
    metric: str
    mean: float
    """Mean over seeds, for the second strength at the end."""
    spread: float
    """Standard deviation over training seeds, within the cells of all strengths at the end."""
    few_rows: int
    few_noise: float
    """Standard deviation of one run's score over draws of this many rows."""
    many_rows: int
    many_noise: float
    rows_needed: int | None
    """Rows for a noise below a third of the spread; None for metrics that draw their own samples."""
    claims_met: float | None
    """The share of claims met in worlds of known truth; None for metrics without a claim there."""
    contrasts: Mapping[str, Contrast]
    """By the names in `CONTRASTS`."""

    @property
    def typical(self) -> Contrast:
        """The median contrast: half of the comparisons need more seeds."""
        ordered = sorted(self.contrasts.values(), key=lambda each: each.seeds)
        return ordered[len(ordered) // 2] if ordered else Contrast(nan, nan, nan)

    def noise_share(self, noise: float) -> float:
        """Return a noise as a share of the spread."""
        return noise / self.spread if self.spread > 0 else nan


def audits(
    settings: Settings, scores: polars.DataFrame, rescored: polars.DataFrame, claims_met: Mapping[str, float]
) -> list[Audit]:
    """Return the audit of every metric on every data set, the one that needs the fewest seeds first.

    Parameters
    ----------
    settings
        The design.
    scores
        The table of the study, with a column `beta`.
    rescored
        run, data, rows, metric, value: the same runs on several draws of rows.
    claims_met
        The share of claims met, by score.
    """
    owners = metric_of_part(settings.metrics)
    there = [name for name in scores["metric"].unique(maintain_order=True) if name in owners]
    found = [
        _audit(settings, str(data), metric, own, rescored, claims_met.get(metric), scores_rows(owners[metric]))
        for (data,), of_data in scores.group_by("data", maintain_order=True)
        for metric in there
        if len(own := of_data.filter((polars.col("metric") == metric) & polars.col("value").is_finite()))
    ]
    return sorted(found, key=lambda each: (each.data, each.typical.seeds, each.metric))


def _audit(
    settings: Settings,
    data: str,
    metric: str,
    scores: polars.DataFrame,
    rescored: polars.DataFrame,
    claims_met: float | None,
    of_rows: bool,
) -> Audit:
    cells = {key: own["value"].to_numpy() for key, own in scores.group_by("beta", "step", maintain_order=True)}
    ends = [cells.get((beta, settings.steps), np.array([])) for beta in settings.strengths]
    spread = pooled_deviation([cell for cell in ends if len(cell)])
    again = rescored.filter((polars.col("data") == data) & (polars.col("metric") == metric))
    few, many = (noise_of(again.filter(polars.col("rows") == rows)) for rows in settings.rows)
    middle = ends[1]
    pairs = {"weak": tuple(ends[:2]), "strong": tuple(ends[1:3])}
    pairs["steps"] = (cells.get((settings.middle, settings.snapshot), np.array([])), middle)
    return Audit(
        data,
        metric,
        float(middle.mean()) if len(middle) else nan,
        spread,
        settings.rows[0],
        few,
        settings.rows[1],
        many,
        rows_for_noise(many, settings.rows[1], spread) if of_rows else None,
        claims_met,
        {name: contrast(*pair) for name, pair in pairs.items() if len(pair) == 2 and min(map(len, pair)) > 1},
    )


def noise_of(rescored: polars.DataFrame) -> float:
    """Return the standard deviation over draws of rows, within runs."""
    runs = [own["value"].to_numpy() for _, own in rescored.group_by("run", maintain_order=True)]
    return pooled_deviation(runs) if runs else nan


def contrast(first: np.ndarray, second: np.ndarray) -> Contrast:
    """Return the difference between two cells, with its interval over seeds."""
    effect = effect_size(first, second)
    return Contrast(effect, *effect_interval(effect, len(first), len(second)))


def as_csv(found: Sequence[Audit]) -> str:
    """Return one line for each metric and data set; `read_csv` is the inverse."""
    return polars.DataFrame([*map(_flat, found)], infer_schema_length=None).write_csv()


def read_csv(text: str) -> list[Audit]:
    """Return the audits that `as_csv` wrote."""
    rows = polars.read_csv(text.encode(), infer_schema_length=None).to_dicts()
    return [_audit_of(row) for row in rows]


def _flat(audit: Audit) -> dict[str, Any]:
    told = {name: _rounded(value) for name, value in audit._asdict().items() if name != "contrasts"}
    for name in CONTRASTS:
        found = audit.contrasts.get(name)
        for part in Contrast._fields:
            told[f"{name}_{part}"] = None if found is None else _rounded(getattr(found, part))
        told[f"{name}_seeds"] = found and _counted(found.seeds)
    return {**told, "seeds": _counted(audit.typical.seeds)}


def _audit_of(row: Mapping[str, Any]) -> Audit:
    plain = {name: row[name] for name in Audit._fields if name != "contrasts"}
    numbers = ("mean", "spread", "few_noise", "many_noise")
    plain |= {name: nan if row[name] is None else float(row[name]) for name in numbers}
    contrasts = {
        name: Contrast(*(float(row[f"{name}_{part}"]) for part in Contrast._fields))
        for name in CONTRASTS
        if row[f"{name}_effect"] is not None
    }
    return Audit(**plain, contrasts=contrasts)


def _rounded(value: Any) -> Any:
    """Return a number with six digits, or None."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") if value == value else None


def _counted(seeds: float) -> str:
    """Return a number of seeds as text, or that it is more than a thousand."""
    return f"{seeds:.0f}" if isfinite(seeds) else f">{MOST_SEEDS}"


def _seeds(effect: float) -> float:
    found = seeds_for_power(effect)
    return inf if found is None else found


def conclusions(found: Sequence[Audit]) -> Iterator[str]:
    """Yield the conclusions from the table, a few sentences for each data set."""
    for data in dict.fromkeys(each.data for each in found):
        own = [each for each in found if each.data == data]
        few, many = own[0].few_rows, own[0].many_rows
        quick = [each for each in own if each.typical.seeds <= 5]
        slow = [each.metric for each in own if each.typical.seeds > 20]
        told = ", ".join(f"{each.metric} ({each.typical.seeds:.0f})" for each in quick)
        yield (
            f"{data}: of {len(own)} scores, {len(quick)} distinguish the cells of the typical contrast with five seeds "
            f"or fewer: {told or 'none'}."
        )
        yield f"{data}: {len(slow)} need more than twenty: {', '.join(slow) or 'none'}."
        for rows, noise in ((few, "few_noise"), (many, "many_noise")):
            loud = [each.metric for each in own if each.noise_share(getattr(each, noise)) > 1 / 3]
            yield (
                f"{data}: at {rows:,} rows, scoring again changes {len(loud)} scores by more than a third of their "
                f"spread over seeds: {', '.join(loud) or 'none'}."
            )
