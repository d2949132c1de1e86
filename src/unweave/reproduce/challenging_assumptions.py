"""The large-scale study of unsupervised disentanglement: our answers to its five questions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from unweave.reproduce.by_study import StudyReproduction
from unweave.reproduce.challenging_design import PRESETS, STAND_IN, Settings, with_strengths
from unweave.reproduce.challenging_findings import answers
from unweave.reproduce.frame import Findings
from unweave.study import Study


class ChallengingAssumptions(StudyReproduction):
    """Six methods, six strengths each, seven data sets, fifty seeds; or a part of it."""

    source: ClassVar[str] = "[Locatello2019]_, tables and sections 5.2 to 5.6"
    summary: ClassVar[str] = (
        "Many unsupervised models: how much of a score is due to the method, its strength and the seed."
    )
    presets: ClassVar[Mapping[str, Settings]] = PRESETS

    def study(self, settings: Settings, *, seed: int, out: Path) -> Study:
        """Return the study of these settings."""
        options = {**settings.options, **({"steps": settings.steps} if settings.steps else {})}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*takes pixels for probabilities")  # as the published study does
            return Study(
                data=settings.data,
                methods=settings.entries(),
                seeds=range(seed, seed + settings.seeds),
                metrics=settings.metrics,
                evaluate=dict(settings.evaluate),
                out=out,
                **options,
            )

    def findings(self, settings: Settings, study: Study) -> Findings:
        """Answer the five questions from the scores."""
        from unweave.reproduce.challenging_figures import figures

        table = with_strengths(study.scores())
        found = answers(table)
        return Findings(tuple(found.rows), tuple(found.notes), figures(table), {"scores.csv": table.write_csv()})

    def cost(self, settings: Settings) -> str:
        """Return the number of runs and the estimated training time here, measured on drawn images."""
        from unweave.reproduce.study_cost import training_seconds

        small = replace(settings, data=(STAND_IN,), seeds=1)
        seconds = sum(training_seconds(self.study(small, seed=0, out=Path("unused")).plan).values())
        hours = seconds * len(settings.data) * settings.seeds / 3600
        told = (
            f"{len(settings.data)} data sets × 6 methods × {len(settings.strengths)} strengths × {settings.seeds} seeds"
        )
        time = f"{hours:,.0f}" if hours >= 10 else f"{hours:.2f}"
        return (
            f"{settings.count():,} runs: {told}.\n"
            f"Training them would take about {time} hours on one core of this machine, measured on {STAND_IN}; "
            f"scoring comes on top."
        )
