"""What fools which metric: every score of ten encoders, in four worlds of known factors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import ClassVar, NamedTuple

import numpy as np

from unweave.metrics import METRICS, FewSamples, evaluate
from unweave.metrics.table import GROUPS
from unweave.progress import OnProgress
from unweave.reproduce.frame import Findings, Reproduction, Row
from unweave.reproduce.guardians_page import Score, Tally, as_csv, conclusions, missed_share, page, tally
from unweave.reproduce.guardians_worlds import ENCODERS, WORLDS, Array
from unweave.reproduce.intervals import mean_and_interval
from unweave.reproduce.parts import Kept, compute_always

BINS = 10
"""Number of equally frequent groups into which factors are cut for metrics that need classes."""
QUICK = ("mig", "minimality", "sufficiency", "modularity", "mcc", "mcc-rank", "mcc-rdc", "sap-correlation", "r2")
SLOW = ("downstream-logistic", "downstream-gbt")
"""Only in the preset `paper`: they take as long as all others together, with learners that DCI also uses."""
NOTES = (
    "fooled: the share of claims that a score, adjusted for its floor and ceiling, does not meet. A claim says where "
    "the score of an encoder in a world should be: in the upper third between floor and ceiling if codes have the "
    "property that the metric claims to measure, in the lower third if they lack it. There are no published numbers "
    "in this form.",
    "floor: the same codes, factors shuffled. ceiling: the factors themselves as codes, in the same world.",
)


def of_rows(names: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics that compare rows of codes with rows of factors."""
    return tuple(name for name in names if METRICS[name].supervised and "encode" not in METRICS[name].needs)


@dataclass(frozen=True)
class Settings:
    """How much is scored."""

    sizes: tuple[tuple[int, int], ...]
    """Pairs of a number of rows and a number of factors; the last one is drawn as a map."""
    metrics: tuple[str, ...]
    repeats: int = 1
    """Number of draws of each world, with an encoder of each kind."""


class Guardians(Reproduction):
    """Scores of encoders that are good or bad by construction, and which of them mislead."""

    source: ClassVar[str] = "[Joshi2026]_, whose question, worlds and most encoders these are"
    summary: ClassVar[str] = (
        "Ten encoders that are good or bad by construction, in four worlds: what fools which metric."
    )
    presets: ClassVar[Mapping[str, Settings]] = {
        "smoke": Settings(sizes=((300, 4),), metrics=QUICK),
        "small": Settings(
            sizes=((500, 4), (2_000, 4), (2_000, 8)),
            metrics=tuple(name for name in of_rows(GROUPS["all"]) if name not in SLOW),
        ),
        "paper": Settings(
            sizes=((500, 8), (2_000, 4), (2_000, 16), (10_000, 8), (2_000, 8)),
            metrics=of_rows(tuple(METRICS)),
            repeats=3,
        ),
    }

    def run(self, settings: Settings, *, seed: int, on_progress: OnProgress, kept: Kept = compute_always) -> Findings:
        """Score every encoder in every world, and count the missed claims."""
        from unweave.reproduce.guardians_figures import map_figure, sizes_figure

        scores = tuple(every_score(settings, seed, on_progress, kept))
        rows = [_row(each, scores) for each in tally(scores)]
        figures = {"map": map_figure(scores, settings.sizes[-1])}
        if len(settings.sizes) > 1:
            figures["sizes"] = sizes_figure(scores)
        tables = {"scores.csv": as_csv(scores), "fooled.md": page(scores)}
        return Findings(tuple(rows), (*conclusions(scores), *NOTES), figures, tables)


def _row(count: Tally, scores: Sequence[Score]) -> Row:
    """Return the share of claims that a metric misses, with its interval over draws if there are several."""
    own = [each for each in scores if each.metric == count.metric]
    repeats = {each.repeat for each in own}
    shares = [missed_share([each for each in own if each.repeat == repeat]) for repeat in repeats]
    percents = [100 * share for share in shares if share is not None]
    low, high = mean_and_interval(percents)[1:] if len(percents) > 1 else (np.nan, np.nan)
    return Row(f"{count.metric} ({count.claim}), fooled, %", None, count.percent, low, high)


def every_score(settings: Settings, seed: int, on_progress: OnProgress, kept: Kept) -> Iterator[Score]:
    """Yield the scores of every size, world and encoder."""
    cells = list(product(settings.sizes, range(settings.repeats), WORLDS, ENCODERS))
    for done, ((rows, count), repeat, world, encoder) in enumerate(cells):
        what = f"{rows:,} rows, {count} factors, {world}, {encoder}"
        on_progress(what, done, len(cells))
        cell = Cell(rows, count, repeat, world, encoder)
        for found in kept(f"{what}, {repeat}", partial(_scores_of, cell, settings.metrics, seed)):
            yield Score(*cell, *found)


class Cell(NamedTuple):
    """One case: an encoder in a draw of a world."""

    rows: int
    factors: int
    repeat: int
    world: str
    encoder: str


def _scores_of(cell: Cell, metrics: Sequence[str], seed: int) -> list[Found]:
    # A separate stream for each encoder: the same rotation in all worlds, and noise independent of the factors.
    streams = np.random.SeedSequence(seed, spawn_key=cell[:3]).spawn(1 + len(ENCODERS))
    factors = WORLDS[cell.world](np.random.default_rng(streams[0]).normal(size=(cell.rows, cell.factors)))
    own = np.random.default_rng(streams[1 + list(ENCODERS).index(cell.encoder)])
    return score(ENCODERS[cell.encoder](factors, own), factors, metrics, seed)


Found = tuple[str, float, float | None, float | None, float | None]
"""A metric, its value, floor, ceiling and adjusted value."""


def score(codes: Array, factors: Array, metrics: Sequence[str], seed: int) -> list[Found]:
    """Return all scores of codes, with factors as numbers if a metric takes them, otherwise in equal groups."""
    found: list[Found] = []
    for numbers in (True, False):
        names = [name for name in metrics if METRICS[name].continuous is numbers]
        if not names:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewSamples)  # the effect of few rows is a question here
            table = evaluate(
                codes,
                factors,
                names,
                preset="fast",
                seed=seed,
                intervals=False,
                bin_factors=None if numbers else BINS,
            )
        columns = ("metric", "value", "floor", "ceiling", "adjusted")
        found += [row for row in table.select(columns).iter_rows() if row[1] is not None]
    return found
