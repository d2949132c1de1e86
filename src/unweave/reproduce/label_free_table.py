"""The table of the comparison: rank correlations of label-free with supervised scores, and the gain of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, Any

import polars

from unweave.selection.result import AGAINST
from unweave.selection.table import SCORES

if TYPE_CHECKING:
    from unweave.selection import Selection
    from unweave.study import Study

AGREEMENT = {**AGAINST, "gain": polars.Float64, "same_latents": polars.Float64, "same_beta": polars.Float64}
"""`gain`: the supervised score of the specification that the score ranks first, scaled so that the mean over
specifications is 0 and the best is 1. `same_latents`, `same_beta`: how often the score prefers the better of two
specifications with the same number of latents, or the same β."""
NO_WORTH: dict[str, float | None] = {"gain": None, "same_latents": None, "same_beta": None}

COSTS = {"score": polars.String, "runs": polars.Int64, "seconds": polars.Float64}
PUBLISHED: dict[int, dict[str, tuple[float, float]]] = {
    5: {"beta-vae-score": (0.54, 0.12), "factor-vae-score": (0.56, 0.21), "mig": (0.60, 0.07)},
    10: {"beta-vae-score": (0.57, 0.06), "factor-vae-score": (0.60, 0.09), "mig": (0.65, 0.03)},
    25: {"beta-vae-score": (0.61, 0.02), "factor-vae-score": (0.60, 0.04), "mig": (0.69, 0.02)},
}
"""Table 1 of [Holtz2022]_ by number of seeds: Spearman's correlation of the dynamics score, and its ±."""
ENOUGH = 6
"""Smallest number of specifications; with fewer, every correlation can be chance."""
CHANCE = 1.96
"""In standard deviations of the rank correlation of unrelated rankings, 1 / sqrt(n - 1)."""


def as_published(score: str, supervised: str, seeds: int) -> tuple[float | None, tuple[float, float] | None]:
    """Return the published correlation and its interval, if there is one."""
    if score != "dynamics" or supervised not in PUBLISHED.get(seeds, {}):
        return None, None
    value, spread = PUBLISHED[seeds][supervised]
    return value, (value - spread, value + spread)


def worth(chosen: Selection, study: Study, row: Mapping[str, Any]) -> dict[str, float | None]:
    """Return how useful a label-free score is: the gain of its first choice, and how often it prefers the better."""
    if row["over"] != "specifications":
        return NO_WORTH
    here = (polars.col("data") == row["data"]) & (polars.col("score") == row["score"])
    runs = chosen.runs.filter(here).select("specification", run=polars.col("run").str.split("/").list.last())
    scores = study.scores().filter(polars.col("metric") == row["supervised"])
    scores = scores.select("run", "latents", "beta", supervised="value")
    cells = runs.join(scores, on="run").group_by("specification", "latents", "beta")
    means = cells.agg(polars.col("supervised").mean())
    sign = 1 if SCORES[row["score"]].higher_is_better else -1
    values = chosen.specifications.filter(here).select("specification", value=sign * polars.col("value"))
    both = means.join(values, on="specification").drop_nulls()
    shares = {f"same_{name}": preferred(both, name) for name in ("latents", "beta")}
    first = chosen.specifications.filter(here & (polars.col("rank") == 1))["specification"]
    taken = means.filter(polars.col("specification").is_in(first.to_list()))["supervised"].to_list()
    known = means["supervised"].drop_nulls().to_list()
    if not taken or not known:
        return {"gain": None, **shares}
    average, best = sum(known) / len(known), max(known)
    gain = (sum(taken) / len(taken) - average) / (best - average) if best > average else None
    return {"gain": gain, **shares}


def preferred(table: polars.DataFrame, same: str) -> float | None:
    """Return the share of pairs of rows with equal `same` in which "value" and "supervised" have the same order.

    A tie counts one half; None without such a pair.

    >>> table = polars.DataFrame({"latents": [2, 2, 2, 4], "value": [1, 2, 2, 9], "supervised": [0.1, 0.3, 0.2, 0.0]})
    >>> round(preferred(table, "latents"), 3)
    0.833
    """
    wins: list[float] = []
    for _, part in table.group_by(same):
        for a, b in combinations(part.select("value", "supervised").rows(), 2):
            product = (a[0] - b[0]) * (a[1] - b[1])
            wins.append(0.5 if product == 0 else float(product > 0))
    return sum(wins) / len(wins) if wins else None


def overall(agreement: polars.DataFrame) -> polars.DataFrame:
    """Return for each score its mean correlation and gain over data sets and supervised scores, the best first."""
    cells = agreement.filter((polars.col("over") == "specifications") & polars.col("correlation").is_not_null())
    means = cells.group_by("score", maintain_order=True).agg(
        polars.col("correlation").mean(),
        polars.col("correlation").min().alias("least"),
        polars.col("gain").mean(),
        polars.col("same_latents").mean(),
        polars.col("same_beta").mean(),
        polars.len().alias("cells"),
    )
    return means.sort("correlation", descending=True)


def conclusions(agreement: polars.DataFrame, costs: polars.DataFrame) -> list[str]:
    """Return the conclusions from the table, as sentences."""
    ranking = overall(agreement).join(costs, on="score", maintain_order="left")
    if not len(ranking):
        return ["No score could be compared with a supervised one."]
    count = agreement.filter(polars.col("over") == "specifications")["count"].max()
    best = ranking.row(0, named=True)
    said = [f"{best['score']} agrees best with the supervised scores. All scores, the best first:"]
    said += [
        f"{row['score']}: mean correlation {_two(row['correlation'])}, lowest {_two(row['least'])}, "
        f"gain {_percent(row['gain'])}, same latents {_percent(row['same_latents'])}, same β "
        f"{_percent(row['same_beta'])}, {row['seconds'] / row['runs']:.2g} s of CPU time per run."
        for row in ranking.iter_rows(named=True)
    ]
    if isinstance(count, int) and count >= ENOUGH:
        said.append(
            f"Intervals are over resampled seeds, for these specifications. Unrelated rankings of {count} "
            f"specifications have a correlation within ±{CHANCE / sqrt(count - 1):.2f} in 95 % of cases."
        )
    return said


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{round(100 * share)} %".replace("-", "−")
