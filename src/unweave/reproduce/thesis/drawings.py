"""Figures after those of the thesis: scores of every run in groups, or against a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from unweave.report.style import LIGHT, plain
from unweave.reproduce.thesis.comparisons import METHODS, TITLES, VAES, label, levels, present
from unweave.study import analysis

COLOURS = ("#1f66b0", "#b3541e", "#2f8f5b", "#8250a8", "#c2a01a", "#5b6570")
DASHES = {"beta-vae": (0, (4, 2)), "ada-gvae": (0, ())}
"""Line styles of the methods that are drawn for comparison, as in the thesis."""
Dashes = tuple[float, Sequence[float]]
ENOUGH = 5
"""The fewest runs of a group for which a density is drawn."""
LEAST_TOP = 0.2
"""Of the axis of a score: noise is not drawn larger."""


def grouped(table: polars.DataFrame, group: str, colour: str, *, order: Sequence[Any] = ()) -> Figure:
    """Draw every run as a point, in groups along the axis and by colour, with densities; one panel per metric.

    Next to other methods, β-VAE and Ada-GVAE are lines at their means, as in figures 5.1 and 5.5.
    """
    metrics = present(table, TITLES)
    figure, panels = _panels(metrics)
    groups = [each for each in order if each in levels(table, group)] or levels(table, group)
    colours = _colours(table, colour)
    methods = levels(table, "method")
    beside = [name for name in VAES if name in methods and {*methods} - {*VAES} and colour != "method"]
    for axes, metric in zip(panels, metrics, strict=True):
        own = table.filter(polars.col("metric") == metric)
        points = own.filter(~polars.col("method").is_in(beside))
        for place, name in enumerate(groups):
            _group(axes, place, points.filter(polars.col(group) == name), colour, colours)
        for name in beside:
            _lines(axes, own.filter(polars.col("method") == name), group, groups, DASHES[name])
        axes.set_xticks(range(len(groups)), [label(each) for each in groups], rotation=15 if len(groups) > 3 else 0)
        _score_axis(axes, metric, own)
    _legend(figure, colours, {METHODS[name]: DASHES[name] for name in beside})
    return figure


def against(table: polars.DataFrame, column: str, *, panels_by: str | None = None) -> Figure:
    """Draw every run as a point over a number, and means over seeds as lines with intervals; one panel per metric."""
    metrics = present(table, TITLES)
    parts = levels(table, panels_by) if panels_by else [None]
    figure, panels = _panels([*metrics] * len(parts), columns=min(len(metrics), 3))
    methods = [method for method in METHODS if method in levels(table, "method")]
    colours = _colours(table, "method")
    for place, axes in enumerate(panels):
        part, metric = parts[place // len(metrics)], metrics[place % len(metrics)]
        own = table.filter(polars.col("metric") == metric)
        own = own if part is None else own.filter(polars.col(str(panels_by)) == part)
        for number, method in enumerate(methods):
            _over(axes, own.filter(polars.col("method") == method), column, colours[method], 0.06 * (number - 0.5))
        axes.set_xlabel(column if part is None else f"{column}, {part}", fontsize=9, color=LIGHT["muted"])
        _score_axis(axes, metric, table.filter(polars.col("metric") == metric))
    _legend(figure, colours, {})
    return figure


def _colours(table: polars.DataFrame, column: str) -> dict[Any, str]:
    """Return a colour for each value of a column; methods have the same in every figure."""
    if column == "method":
        return {name: COLOURS[place] for place, name in enumerate(METHODS) if name in levels(table, "method")}
    return dict(zip(levels(table, column), COLOURS * 9, strict=False))


def _panels(metrics: Sequence[str], columns: int = 3) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each metric, up to `columns` in a row."""
    across = min(len(metrics), columns)
    down = -(-len(metrics) // across)
    figure = Figure(figsize=(4.6 * across, 3.3 * down + 0.5), layout="constrained")
    found = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in found[len(metrics) :]:
        axes.set_visible(False)
    return figure, found[: len(metrics)]


def _group(axes: Axes, place: int, rows: polars.DataFrame, column: str, colours: Mapping[Any, str]) -> None:
    """Draw the runs of a group side by side by their value of `column`."""
    width = 0.8 / max(len(colours), 1)
    for number, (value, colour) in enumerate(colours.items()):
        scores = rows.filter(polars.col(column) == value)["value"].to_numpy()
        x = place + width * (number + 0.5) - 0.4
        if len(scores) >= ENOUGH and np.ptp(scores) > 1e-6:
            body = axes.violinplot(scores, [x], widths=0.9 * width, showextrema=False)["bodies"][0]  # pyright: ignore[reportIndexIssue]
            body.set(facecolor=colour, alpha=0.22)
        places = x + 0.25 * width * np.linspace(-1, 1, len(scores)) if len(scores) > 1 else [x]
        if len(scores):
            axes.plot(places, scores, ".", color=colour, alpha=0.75, markersize=5)
            axes.plot([x - 0.35 * width, x + 0.35 * width], [scores.mean()] * 2, color=colour, linewidth=1.6)


def _lines(axes: Axes, rows: polars.DataFrame, group: str, groups: Sequence[Any], style: Dashes) -> None:
    """Draw the mean of a method as a line: in each group, or through all if it is in none."""
    for place, name in enumerate(groups):
        own = rows.filter(polars.col(group) == name)
        scores = (own if len(own) else rows.filter(polars.col(group).is_null()))["value"].to_numpy()
        if len(scores):
            axes.plot(
                [place - 0.45, place + 0.45], [scores.mean()] * 2, linestyle=style, color=LIGHT["muted"], linewidth=1.2
            )


def _over(axes: Axes, rows: polars.DataFrame, column: str, colour: str, shift: float) -> None:
    """Draw the runs of one method over a number, and the mean of each number with its interval over seeds."""
    numbers = levels(rows, column)
    reach = shift * (max(numbers) - min(numbers)) / 8 if numbers else 0.0
    means, ends = [], []
    for number in numbers:
        own = rows.filter(polars.col(column) == number)
        axes.plot(
            np.full(len(own), number + reach), own["value"].to_numpy(), ".", color=colour, alpha=0.4, markersize=5
        )
        seeds = own.group_by("seed").agg(polars.col("value").mean())["value"].to_numpy()
        found = analysis.over_seeds(seeds)
        means.append(found.value)
        ends.append((found.value, found.value) if found.low is None else (found.low, found.high))
    if not numbers:
        return
    below, above = np.abs(np.array(ends, dtype=float) - np.array(means)[:, None]).T
    places = np.array(numbers) + reach
    axes.errorbar(places, means, [below, above], color=colour, linewidth=1.6, elinewidth=0.9, capsize=2)
    axes.set_xticks(numbers)


def _score_axis(axes: Axes, metric: str, rows: polars.DataFrame) -> None:
    """Let the axis begin at 0 and end above the highest score, or at 1."""
    plain(axes)
    axes.set_title(TITLES[metric], loc="left", fontsize=10, color=LIGHT["ink"])
    top = min(max(1.15 * float(rows["value"].to_numpy().max()), LEAST_TOP), 1.0)
    axes.set_ylim(-0.03 * top, 1.03 * top)


def _legend(figure: Figure, colours: Mapping[Any, str], lines: Mapping[str, Dashes]) -> None:
    """Put one legend above all panels."""
    handles = [Line2D([], [], marker="o", linestyle="", color=colour, label=label(n)) for n, colour in colours.items()]
    handles += [Line2D([], [], linestyle=style, color=LIGHT["muted"], label=name) for name, style in lines.items()]
    figure.legend(handles=handles, loc="outside upper left", ncols=6, frameon=False, fontsize=9)
