"""A comparison of all label-free scores: how well each agrees with supervised scores, and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path
from time import process_time
from typing import Any, ClassVar

import polars

from unweave.reproduce.by_study import StudyReproduction
from unweave.reproduce.frame import Findings, Row
from unweave.reproduce.label_free_cost import cost_of_runs
from unweave.reproduce.label_free_design import PRESETS, SUPERVISED, Settings
from unweave.reproduce.label_free_table import AGREEMENT, COSTS, as_published, conclusions, worth
from unweave.selection import SCORES, select
from unweave.selection.ranking import SAMPLES
from unweave.study import Study


@dataclass(frozen=True)
class Entry:
    """The ranking of the runs by one score."""

    score: str
    seconds: float
    """CPU time for ranking all runs by this score."""
    agreement: list[dict[str, Any]]
    notes: list[str]


class LabelFreeBakeoff(StudyReproduction):
    """β-VAEs of several strengths and sizes, ranked by every label-free score."""

    source: ClassVar[str] = "our study; scores of [Holtz2022]_, [Duan2020]_, [Lin2020]_ and others"
    summary: ClassVar[str] = "Every label-free score on the same runs: agreement with supervised scores, and cost."
    presets: ClassVar[Mapping[str, Settings]] = PRESETS

    def study(self, settings: Settings, *, seed: int, out: Path) -> Study:
        """Return the study of these settings."""
        return settings.study(seed=seed, out=out)

    def findings(self, settings: Settings, study: Study) -> Findings:
        """Rank the runs by each score, and compare the rankings with supervised ones."""
        from unweave.reproduce.label_free_figures import agreement_figure

        entries = [self.kept(f"score {name}", lambda name=name: self._entry(name, study)) for name in SCORES]
        agreement = polars.DataFrame([row for each in entries for row in each.agreement], schema=AGREEMENT)
        costs = polars.DataFrame(
            [{"score": each.score, "runs": settings.count(), "seconds": each.seconds} for each in entries], schema=COSTS
        )
        notes = tuple(dict.fromkeys(note for each in entries for note in each.notes))
        return Findings(
            rows_of(agreement, settings.seeds),
            (*conclusions(agreement, costs), *notes),
            {"agreement": agreement_figure(agreement)},
            {"agreement.csv": agreement.write_csv(), "costs.csv": costs.write_csv()},
        )

    def cost(self, settings: Settings) -> str:
        """Return the number of runs, and the estimated training time here."""
        return cost_of_runs(settings)

    def _entry(self, name: str, study: Study) -> Entry:
        start = process_time()
        chosen = select(study.path / "runs", name, against=SUPERVISED, seed=self.seed, on_progress=self.on_progress)
        seconds = process_time() - start
        if SCORES[name].metric:  # the score was read from the folders of the runs
            seconds = len(study.plan.tasks) * _seconds_of_metric(SCORES[name].metric, study)
        rows = [{**row, **worth(chosen, study, row)} for row in chosen.against.iter_rows(named=True)]
        return Entry(name, seconds, rows, list(chosen.notes))


def _seconds_of_metric(metric: str, study: Study) -> float:
    """Return the CPU time of a metric for one run, on as many images as `select` encodes."""
    from unweave.metrics.request import Request
    from unweave.runs import Run
    from unweave.scoring import score_run

    run = Run.open(study.folder.run_of(study.plan.tasks[0]))
    assert run.model
    request = Request.of(metric, {"intervals": False, "floors": False})
    start = process_time()
    score_run(run, request, samples=SAMPLES, test_samples=SAMPLES // 2)
    return process_time() - start


def rows_of(agreement: polars.DataFrame, seeds: int) -> tuple[Row, ...]:
    """Return the correlations over specifications, with the published ones."""
    found = []
    for row in agreement.filter(polars.col("over") == "specifications").iter_rows(named=True):
        published, interval = as_published(row["score"], row["supervised"], seeds)
        ours, low, high = (nan if row[key] is None else row[key] for key in ("correlation", "low", "high"))
        what = f"{row['data']}: {row['score']} with {row['supervised']}"
        found.append(Row(what, published, ours, low, high, interval))
    return tuple(found)
