"""The result of a selection: tables of specifications and runs, and the choice as a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars

from unweave.selection.table import DEFAULT, SCORES
from unweave.study.analysis.seeds import FEW_SEEDS

SPECIFICATIONS = {
    "data": polars.String,
    "specification": polars.String,
    "score": polars.String,
    "value": polars.Float64,
    "low": polars.Float64,
    "high": polars.Float64,
    "seeds": polars.Int64,
    "rank": polars.Int64,
    "chance": polars.Float64,
}
RUNS = {
    "data": polars.String,
    "specification": polars.String,
    "run": polars.String,
    "seed": polars.Int64,
    "score": polars.String,
    "value": polars.Float64,
    "low": polars.Float64,
    "high": polars.Float64,
    "rank": polars.Int64,
}
AGAINST = {
    "data": polars.String,
    "score": polars.String,
    "supervised": polars.String,
    "over": polars.String,
    "count": polars.Int64,
    "correlation": polars.Float64,
    "low": polars.Float64,
    "high": polars.Float64,
}
SURE, LIKELY = 0.95, 0.8


@dataclass(frozen=True)
class Choice:
    """The best specification on a data set by one score, and which of its runs to keep."""

    data: str
    score: str
    specification: str
    run: Path
    chance: float | None
    """How often it is the best when seeds are resampled, spread as for intervals; None if there are too few."""
    second: str
    """The next best specification; empty if there is none."""
    seeds: int
    ties: int = 0
    """Number of other specifications with the same value."""
    likeliest: tuple[str, float] | None = None
    """Another specification that is best more often than this one, with its chance."""

    @property
    def sentence(self) -> str:
        """How certain the choice is, and which run to keep."""
        other = "elbo" if SCORES[self.score].compares_pairs else DEFAULT
        again = f"rank by another score, such as --score {other}, or train more seeds"
        return f"{self.data}, by {self.score}: {self._how_sure}; {again if self.ties else f'keep {self.run}'}"

    @property
    def _how_sure(self) -> str:
        if not self.second:
            return f"{self.specification} is the only specification with this score"
        if self.ties:
            others = f"{self.second} are" if self.ties == 1 else f"{self.ties} others are"
            return f"{self.specification} and {others} equal by this score"
        if self.chance is None:
            found = f"{self.specification} ranks first, with {self.seeds} seed{'' if self.seeds == 1 else 's'}"
            return f"{found}: train at least {FEW_SEEDS} of every specification to know how certain that is"
        often = f"{self.specification} ranks first and is the best with a chance of {100 * self.chance:.0f} %"
        if self.chance >= SURE:
            return f"{often}, a clear choice"
        if self.chance >= LIKELY:
            return f"{often}, a likely choice ahead of {self.second}"
        often += f" ({self.likeliest[0]}: {100 * self.likeliest[1]:.0f} %)" if self.likeliest else ""
        return f"{often}; {self.second} is next: uncertain, train more seeds of both"


@dataclass(frozen=True)
class Selection:
    """A ranking of specifications, and of the runs within them, without labels."""

    specifications: polars.DataFrame
    """data, specification, score, value, low, high (95 % over resampled seeds), seeds, rank, chance of being best."""
    runs: polars.DataFrame
    """data, specification, run, seed, score, value, low, high (over resampled partners), rank in its specification."""
    against: polars.DataFrame
    """data, score, supervised, over (specifications or runs), count, correlation, low, high: Spearman's rank
    correlation, positive if better by the label-free score means a higher supervised score."""
    notes: tuple[str, ...] = ()
    """What was left out, and why."""

    @property
    def choices(self) -> list[Choice]:
        """The choice on each data set by each score."""
        found = []
        first = self.specifications.filter(polars.col("rank") == 1)
        for row in first.unique(["data", "score"], keep="first", maintain_order=True).iter_rows(named=True):
            same = (polars.col("data") == row["data"]) & (polars.col("score") == row["score"])
            others = self.specifications.filter(same).drop_nulls("rank").sort("rank", maintain_order=True)
            inside = self.runs.filter(same & (polars.col("specification") == row["specification"]))
            best = inside.filter(polars.col("rank") == 1)["run"][0]
            second = others.filter(polars.col("specification") != row["specification"])["specification"]
            likeliest = others.drop_nulls("chance").sort("chance", descending=True, maintain_order=True).head(1)
            more = likeliest.filter(polars.col("chance") > (row["chance"] or 0)).select("specification", "chance")
            found.append(
                Choice(
                    row["data"],
                    row["score"],
                    row["specification"],
                    Path(best),
                    row["chance"],
                    second[0] if len(second) else "",
                    row["seeds"],
                    int((others["rank"] == 1).sum()) - 1,
                    more.row(0) if len(more) else None,
                )
            )
        return found

    def ranked(self, score: str, data: str | None = None) -> polars.DataFrame:
        """Return the specifications ranked by one score.

        Parameters
        ----------
        score
            The name of the score.
        data
            The data set, if there are several.

        Returns
        -------
        polars.DataFrame
            The rows of `specifications`, best first; those without the score come last.
        """
        rows = self.specifications.filter(polars.col("score") == score)
        rows = rows if data is None else rows.filter(polars.col("data") == data)
        return rows.sort("data", "rank", nulls_last=True, maintain_order=True)


def direction(score: str) -> str:
    """Return which direction of a score is better, as text.

    >>> direction("dynamics")
    'lower is better'
    """
    return "higher is better" if SCORES[score].higher_is_better else "lower is better"
