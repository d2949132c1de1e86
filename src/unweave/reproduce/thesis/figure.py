"""The base class of the figures of the thesis: run a study, and check the claims about the figure with its table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import polars

from unweave.reproduce.by_study import StudyReproduction
from unweave.reproduce.frame import Findings, Row
from unweave.reproduce.thesis.claims import Claim
from unweave.reproduce.thesis.comparisons import summary
from unweave.reproduce.thesis.experiment import STAND_IN, Experiment
from unweave.reproduce.thesis.scores import at_best, at_end, has_snapshots, prepared
from unweave.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

NO_NUMBERS = "The thesis prints no numbers for this figure; the notes list its claims."
AT_END = "Scores are from the end of training; the thesis plots the largest during training."
LARGEST = "largest score during training"
WITH_LARGEST = f"Scores are from the end of training, unless labelled '{LARGEST}', which the thesis plots."


class ThesisFigure(StudyReproduction):
    """A figure of the thesis: its study in three sizes, the claims about it, and a drawing after it."""

    presets: ClassVar[Mapping[str, Experiment]]
    groups: ClassVar[tuple[str, ...]] = ("data", "method")
    """Columns by which scores are grouped in means.csv."""
    best: ClassVar[bool] = False
    """Whether a seed counts there by its best setting, instead of the mean over settings."""

    @abstractmethod
    def claims(self, table: polars.DataFrame) -> list[Claim]:
        """Return the thesis' claims about the figure, with the numbers of a prepared table, one step per run."""

    @abstractmethod
    def drawing(self, table: polars.DataFrame) -> Drawing:
        """Return the figure."""

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Return the runs that the thesis plots, from a prepared table, and notes on those left out."""
        return table, []

    def study(self, settings: Experiment, *, seed: int, out: Path) -> Study:
        """Return the study of these settings."""
        return settings.study(seed, out)

    def findings(self, settings: Experiment, study: Study) -> Findings:
        """Read the scores of the study."""
        return self.read(study.scores())

    def read(self, table: polars.DataFrame) -> Findings:
        """Return the findings of a table of scores, which may be prepared already."""
        table = prepared(table)
        shown, left_out = self.plotted(table)
        ends = at_end(shown)
        claims = self.claims(ends)
        rows, notes = _rows(claims), [each.note() for each in claims]
        if has_snapshots(shown):
            best = self.claims(at_best(shown))
            rows += [replace(row, what=f"{LARGEST}: {row.what}") for row in _rows(best)]
            notes += [f"By the {LARGEST}. {each.note()}" for each in best]
        told = (*notes, *left_out, WITH_LARGEST if has_snapshots(shown) else AT_END, NO_NUMBERS)
        tables = {"scores.csv": table, "means.csv": summary(ends, self.groups, best=self.best)}
        texts = {name: each.write_csv() for name, each in tables.items()}
        return Findings(tuple(rows), told, {"scores": self.drawing(ends)}, texts)

    def cost(self, settings: Experiment) -> str:
        """Return the number of runs and the estimated training time here, from a few steps of each method and loss."""
        from unweave.reproduce.study_cost import training_seconds

        measured: dict[str, float] = {}
        seconds = 0.0
        for entry, data, runs in settings.parts():
            plan = settings.plan_of(entry, data)
            task = plan.tasks[0]
            key = f"{task.config['method']['name']} {task.config['method']['loss']} {task.config['data']}"
            if key not in measured:
                measured[key] = training_seconds(plan, few=2, more=8)[task.name]
            seconds += runs * measured[key]
        hours = seconds / 3600
        time = f"{hours:,.0f}" if hours >= 10 else f"{hours:.2f}"
        return (
            f"{settings.count():,} runs: {_counts(settings)}.\n"
            f"Training them would take about {time} hours on one core of this machine, estimated from a few steps of "
            f"each method and loss ({STAND_IN} instead of published files); scoring comes on top."
        )


def _rows(claims: list[Claim]) -> list[Row]:
    return [row for each in claims for case in each.cases for row in case.rows()]


def _counts(settings: Experiment) -> str:
    """Return the number of runs of each method."""
    found: dict[str, int] = {}
    for entry, _, runs in settings.parts():
        found[entry["name"]] = found.get(entry["name"], 0) + runs
    listed = ", ".join(f"{runs:,} of {name}" for name, runs in found.items())
    sets = "1 data set" if len(settings.data) == 1 else f"{len(settings.data)} data sets"
    return f"{listed}, on {sets}, with {settings.seeds} {'seed' if settings.seeds == 1 else 'seeds'}"
