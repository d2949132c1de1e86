"""An audit of the metrics: which scores can distinguish models, with how many seeds and rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite, nan
from pathlib import Path
from typing import ClassVar

from unweave.reproduce.by_study import StudyReproduction
from unweave.reproduce.frame import Findings, Row
from unweave.reproduce.metric_audit_design import PRESETS, Settings
from unweave.reproduce.metric_audit_rescoring import EVALUATE, rescored
from unweave.reproduce.metric_audit_table import Audit, as_csv, audits, conclusions
from unweave.study import Study

NOTES = (
    "seeds: the number per cell with which a two-sided t test at 5 % distinguishes two cells in 80 % of studies, by "
    "the noncentral t distribution. Of the contrasts (first and second strength, second and third, a snapshot and the "
    "end) the median counts; of two, the harder one. The interval comes from that of the effect, which is wide with "
    "few seeds. – means more than a thousand seeds, or an interval that reaches there; audit.csv has the effects.",
    "noise: one run, scored on other rows. spread: over training seeds, within a strength. The rows for a noise below "
    "a third of the spread are extrapolated: noise is assumed to fall with the square root of their number.",
)


class MetricAudit(StudyReproduction):
    """β-VAEs of a few strengths and many seeds, scored on several draws of rows, and worlds of known truth."""

    source: ClassVar[str] = "our study; its statistics follow [Agarwal2021]_"
    summary: ClassVar[str] = "For every metric: its noise, its spread over seeds, and the seeds that comparisons need."
    presets: ClassVar[Mapping[str, Settings]] = PRESETS

    def study(self, settings: Settings, *, seed: int, out: Path) -> Study:
        """Return the study of these settings."""
        rows = settings.rows[1]
        return Study(
            data=settings.data,
            methods=[{"name": "beta-vae", "beta": list(settings.strengths)}],
            seeds=range(seed, seed + settings.seeds),
            metrics=settings.metrics,
            snapshots=[settings.snapshot],
            evaluate={**EVALUATE, "samples": rows, "test_samples": rows // 2},
            out=out,
            steps=settings.steps,
            **settings.options,
        )

    def findings(self, settings: Settings, study: Study) -> Findings:
        """Compare noise, spread and effects of every metric."""
        from unweave.reproduce.metric_audit_figures import audit_figure

        again = rescored(settings, study, self.on_progress, self.kept)
        found = audits(settings, study.scores(), again, self._claims_met(settings))
        return Findings(
            tuple(map(_row, found)),
            (*conclusions(found), *NOTES),
            {"audit": audit_figure(found)},
            {"audit.csv": as_csv(found), "rescored.csv": again.write_csv()},
        )

    def cost(self, settings: Settings) -> str:
        """Return the number of runs, and the estimated training time here."""
        from unweave.reproduce.study_cost import training_seconds

        small = replace(settings, seeds=1)
        seconds = sum(training_seconds(self.study(small, seed=0, out=Path("unused")).plan).values())
        hours = seconds * settings.seeds / 3600
        told = f"{len(settings.data)} data sets × {len(settings.strengths)} strengths × {settings.seeds} seeds"
        return (
            f"{settings.count():,} runs: {told}.\n"
            f"Training them would take about {hours:,.1f} hours on one core of this machine; scoring comes on top."
        )

    def _claims_met(self, settings: Settings) -> dict[str, float]:
        """Return for each score the share of its claims that it meets in worlds of known truth."""
        from unweave.reproduce import guardians
        from unweave.reproduce.guardians_page import tally

        worlds = guardians.Settings((settings.worlds,), guardians.of_rows(settings.metrics))
        scores = tuple(guardians.every_score(worlds, self.seed, self.on_progress, self.kept))
        return {each.metric: 1 - each.percent / 100 for each in tally(scores)}


def _row(audit: Audit) -> Row:
    """Return the number of seeds that a metric needs, with its interval."""
    typical = audit.typical
    ends = (typical.seeds, typical.fewest_seeds, typical.most_seeds)
    ours, low, high = (end if isfinite(end) else nan for end in ends)
    return Row(f"{audit.metric}: seeds for 80 % power, {audit.data}", None, ours, low, high)
