"""A study read once for its page: runs with their states, scores, and how they were made."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars

from unweave.report.directions import NOT_SCORES
from unweave.report.scores import origin_of
from unweave.report.study.cells import CELL, finite, named
from unweave.study import Study
from unweave.study.sessions import read_sessions
from unweave.study.table import LeftOut, Records, run_frame, score_table

UNKNOWN = ("null", "{}")
"""The record of a run without one."""


@dataclass(frozen=True)
class Seen:
    """The content of a study's page."""

    study: Study
    runs: polars.DataFrame
    """One row for each run of the plan: run, data, method, the settings that differ, seed, and in columns that begin
    with a dot the cell's name, steps, state and seconds."""
    scores: polars.DataFrame
    """The tidy table, with the settings that differ in the plan; values that are not finite are null."""
    records: Records

    @cached_property
    def final(self) -> polars.DataFrame:
        """The scores at the end of training."""
        planned = self.runs.select("run", ".steps")
        return self.scores.join(planned, on="run").filter(polars.col("step") == polars.col(".steps")).drop(".steps")

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that have any value, in the order of the plan."""
        found = self.final.drop_nulls("value")["metric"].unique(maintain_order=True).to_list()
        asked = list(self.study.plan.scoring.metrics)
        place = {name: next((i for i, each in enumerate(asked) if _is_of(name, each)), len(asked)) for name in found}
        return sorted(found, key=lambda name: (place[name], _part(name)))

    @cached_property
    def data(self) -> list[str]:
        """The data sets."""
        return self.runs["data"].unique(maintain_order=True).to_list()

    @cached_property
    def methods(self) -> list[str]:
        """The methods."""
        return self.runs["method"].unique(maintain_order=True).to_list()

    @cached_property
    def settings(self) -> list[str]:
        """The settings that differ."""
        return [name for name in self.runs.columns if name not in ("run", "data", "method", "seed") and name[0] != "."]

    @cached_property
    def failures(self) -> dict[str, str]:
        """Why each failed run failed, in one line."""
        failed = set(self.runs.filter(polars.col(".state") == "failed")["run"])
        return {task.name: self.study.folder.failure(task) for task in self.study.plan.tasks if task.name in failed}

    @cached_property
    def sessions(self) -> list[dict[str, Any]]:
        """The calls of `study run` so far."""
        return read_sessions(self.study.path)

    def recorded(self, column: str) -> list[tuple[dict[str, Any], int]]:
        """Return the records in a column (versions, machine) with the number of runs of each, most first."""
        texts = self._own[column].drop_nulls().to_list()
        return [(json.loads(text), count) for text, count in Counter(texts).most_common() if text not in UNKNOWN]

    @cached_property
    def seconds(self) -> float:
        """Seconds of training, summed over runs."""
        return float(self._own["seconds"].sum() or 0.0)

    @cached_property
    def _own(self) -> polars.DataFrame:
        """The records of the plan's runs."""
        return self.records.runs.filter(polars.col("run").is_in(self.runs["run"].to_list()))


def look(study: Study) -> Seen:
    """Read the folder of a study."""
    tasks = {task.name: task for task in study.plan.tasks}
    records = study.records()
    states = study.status().states
    seconds = dict(records.runs.select("run", "seconds").iter_rows())
    described = run_frame({name: task.config for name, task in tasks.items()})
    runs = _unlabelled_data(described).with_columns(
        polars.Series(".steps", [tasks[name].config["training"]["steps"] for name in described["run"]], polars.Int64),
        polars.Series(".state", [states[name] for name in described["run"]], polars.String),
        polars.Series(".seconds", [seconds.get(name) for name in described["run"]], polars.Float64),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOut)  # the page says which runs are not done
        table = score_table(records, list(tasks))
    own = [name for name in ("step", "metric", "value", "low", "high", "floor", "ceiling") if name in table.columns]
    table = table.select("run", *own).filter(~polars.col("metric").is_in(NOT_SCORES))
    described = described.with_columns(runs[CELL]).with_row_index(".place")
    scores = described.join(table.cast({"step": polars.Int64}), on="run", how="inner")
    scores = scores.sort(".place", "step", "metric").drop(".place")
    return Seen(study, runs, finite(scores), records)


def _unlabelled_data(runs: polars.DataFrame) -> polars.DataFrame:
    """Name cells without their data set, because the page has a table for each data set."""
    return runs.with_columns(named(runs.with_columns(data=polars.lit("")))[CELL])


def _part(name: str) -> int:
    """Return the position of a row among the parts of its metric."""
    origin = origin_of(name)
    return origin.metric.names(origin.name).index(name) if origin else 0


def _is_of(name: str, asked: str) -> bool:
    """Return whether a row of scores is that of a metric, or a part of it."""
    return name == asked or name.startswith(f"{asked}-")
