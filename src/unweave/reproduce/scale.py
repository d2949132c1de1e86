"""Does disentanglement grow with compute, data and parameters? The question of [Ottlik2022]_, over seeds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import ClassVar

import polars

from unweave.data import load
from unweave.errors import UsageError
from unweave.report.study.words import duration
from unweave.reproduce.by_study import StudyReproduction
from unweave.reproduce.frame import Findings, Row
from unweave.reproduce.scale_design import COMPUTE, DATA, PARAMETERS, Settings
from unweave.reproduce.scale_table import growths, points, scores_by_run
from unweave.reproduce.study_cost import training_seconds
from unweave.study import Study

STEPS = (1_000, 5_000, 10_000, 20_000)
PUBLISHED: dict[tuple[float, str], tuple[float, ...]] = {
    (1.0, "mig"): (0.042, 0.0387, 0.042, 0.0223),
    (1.0, "sap"): (0.027, 0.051, 0.053, 0.058),
    (4.0, "mig"): (0.0225, 0.016, 0.036, 0.046),
    (4.0, "sap"): (0.011, 0.008, 0.011, 0.013),
}
"""Figures 6 (VAE) and 7 (β = 4) of [Ottlik2022]_ at these steps, read off the bars to ±0.0005; one run each."""
LONG = "long"
"""The folder of the long runs, next to the study."""
Axis = tuple[str, str, tuple[str, ...]]
"""The name of the size, its column, and the columns whose values each have a curve."""


class Scale(StudyReproduction):
    """A scaling study: its scores at each size, how they grow, and conclusions."""

    source: ClassVar[str] = "[Ottlik2022]_, and our study"
    notes: ClassVar[tuple[str, ...]] = ()

    def study(self, settings: Settings, *, seed: int, out: Path) -> Study:
        """Return the study of these settings."""
        return settings.study(seed=seed, out=out)

    @abstractmethod
    def measured(self, settings: Settings, table: polars.DataFrame) -> list[tuple[Axis, polars.DataFrame]]:
        """Return each axis with its rows of the table."""

    def findings(self, settings: Settings, study: Study) -> Findings:
        """Return the mean scores at each size, and how they grow."""
        from unweave.reproduce.scale_figures import growth_figure

        axes = self.measured(settings, scores_by_run(study))
        found = polars.concat([points(part, *axis, seed=self.seed) for axis, part in axes])
        grown = polars.concat([growths(part, *axis, seed=self.seed) for axis, part in axes])
        figures = {
            axis: growth_figure(found.filter(polars.col("axis") == axis), grown.filter(polars.col("axis") == axis))
            for axis in found["axis"].unique(maintain_order=True)
        }
        rows = (*(_point(row) for row in found.iter_rows(named=True)), *map(_slope, grown.iter_rows(named=True)))
        return Findings(
            rows,
            (*conclusions(grown), *self.notes),
            figures,
            {"points.csv": found.write_csv(), "growth.csv": grown.write_csv()},
        )

    def cost(self, settings: Settings) -> str:
        """Return the number of runs, and the estimated training time here."""
        one = replace(settings, seeds=1).study(seed=0, out=Path("unused"))
        seconds = training_seconds(one.plan)
        whole = sum(seconds.values()) * settings.seeds
        told = f"{len(seconds) * settings.seeds} runs of {settings.steps:,} steps"
        if settings.long:
            whole += sum(seconds.values()) / settings.steps * settings.long
            told += f" and {len(settings.strengths)} of {settings.long:,}"
        return f"{told}; training all of them takes about {duration(whole)} on one core of this machine."


class ScaleCompute(Scale):
    """Scores of β-VAEs against training steps."""

    summary: ClassVar[str] = "MIG, SAP and others against steps of training: figures 6 and 7, over seeds."
    presets: ClassVar[Mapping[str, Settings]] = COMPUTE
    notes: ClassVar[tuple[str, ...]] = ("Published numbers are of dSprites at 64 × 64 pixels, one run each.",)

    def measured(self, settings: Settings, table: polars.DataFrame) -> list[tuple[Axis, polars.DataFrame]]:
        """Return the scores at all snapshots, and those of the long runs."""
        found: list[tuple[Axis, polars.DataFrame]] = [(("steps", "step", ("beta",)), table)]
        if settings.long:
            found.append((("steps of one long run", "step", ("beta",)), self._long(settings)))
        return found

    def _long(self, settings: Settings) -> polars.DataFrame:
        with self._place() as place:
            study = settings.long_study(seed=self.seed, out=place.parent / LONG)
            study.run(workers=self.workers, on_progress=self.on_progress)
            if not study.status().counts["done"]:
                raise UsageError(f"no long run has finished: {study.folder.failure(study.plan.tasks[0])}")
            return scores_by_run(study)


class ScaleData(Scale):
    """Scores of β-VAEs against the number of training images."""

    summary: ClassVar[str] = "Scores on all images against the number of images to train on."
    presets: ClassVar[Mapping[str, Settings]] = DATA

    def measured(self, settings: Settings, table: polars.DataFrame) -> list[tuple[Axis, polars.DataFrame]]:
        """Return the scores at the end of training."""
        last = table.filter(polars.col("step") == polars.col("steps"))
        last = last.with_columns(polars.col("images").fill_null(len(load(settings.data))))
        return [(("images", "images", ("beta",)), last)]


class ScaleParameters(Scale):
    """Scores of β-VAEs against width, depth and latents, and against training steps at each width."""

    summary: ClassVar[str] = "Scores against the width, the depth and the latents of a model."
    presets: ClassVar[Mapping[str, Settings]] = PARAMETERS

    def measured(self, settings: Settings, table: polars.DataFrame) -> list[tuple[Axis, polars.DataFrame]]:
        """Return the scores at the end against each size, and those of each width against steps."""
        usual = {name: table[name].mode().min() for name in ("width", "depth", "latents")}
        last = table.filter(polars.col("step") == polars.col("steps"))

        def alone(changed: str, rows: polars.DataFrame) -> polars.DataFrame:
            fixed = [polars.col(name) == value for name, value in usual.items() if name != changed]
            return rows.filter(*fixed)

        widths = alone("width", table)
        return [
            (("parameters (width)", "parameters", ("beta",)), alone("width", last)),
            (("parameters (depth)", "parameters", ("beta",)), alone("depth", last)),
            (("latents", "latents", ("beta",)), alone("latents", last)),
            (("steps", "step", ("beta", "width")), widths),
        ]


def conclusions(grown: polars.DataFrame) -> list[str]:
    """Return a sentence for each axis: which scores rise, which fall, and which are undecided."""
    said = []
    for (axis,), part in grown.group_by("axis", maintain_order=True):
        known = part.drop_nulls("low")
        if not len(known):
            said.append(f"{axis}: none of {len(part)} slopes has an interval, because there are too few seeds.")
            continue
        rising, falling = (known.filter(each) for each in (polars.col("low") > 0, polars.col("high") < 0))
        up, down = "rises" if len(rising) == 1 else "rise", "falls" if len(falling) == 1 else "fall"
        said.append(
            f"{axis}: {len(rising)} of {len(part)} scores {up}{_named(rising, part)} and {len(falling)} {down}"
            f"{_named(falling, part)} with the whole interval of the slope over seeds."
        )
    return said


def _named(rows: polars.DataFrame, part: polars.DataFrame) -> str:
    """Return the metrics of some slopes, with their settings unless all slopes of the metric are among them."""
    names = []
    for (metric,), found in rows.group_by("metric", maintain_order=True):
        is_whole = len(found) == len(part.filter(polars.col("metric") == metric))
        names.append(str(metric) if is_whole else f"{metric} with {' and '.join(found['of'])}")
    return f" ({', '.join(names)})" if names else ""


def _point(row: dict) -> Row:
    low, high = (nan if row[end] is None else row[end] for end in ("low", "high"))
    what = f"{row['metric']}, {row['of']}, {row['axis']} {row['size']:,.0f}"
    return Row(what, published(row), row["value"], low, high)


def _slope(row: dict) -> Row:
    low, high = (nan if row[end] is None else row[end] for end in ("low", "high"))
    return Row(f"{row['metric']}, {row['of']}: gain for ten times the {row['axis']}", None, row["slope"], low, high)


def published(row: dict) -> float | None:
    """Return the height of the bar in figure 6 or 7."""
    if row["axis"] != "steps" or row["size"] not in STEPS or "width" in row["of"]:
        return None
    heights = PUBLISHED.get((float(row["of"].removeprefix("beta=")), row["metric"]))
    return None if heights is None else heights[STEPS.index(int(row["size"]))]
