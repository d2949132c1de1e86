"""Metrics against each other, and which runs of a study are done, on matplotlib axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from unweave.errors import UsageError
from unweave.report.association import heat_cell
from unweave.report.chart import Chart
from unweave.report.study.cells import Style, arrow, at_the_end, finite, styles_of
from unweave.report.study.limits import score_axis
from unweave.report.study.line_plots import name_lines
from unweave.report.study.plots import text_width
from unweave.report.style import LIGHT, plain
from unweave.study.analysis import metric_agreement, one_row_per_run

CELL = 0.46
"""Side of a cell of the map in inches."""
STATES = {"done": LIGHT["accent"], "running": LIGHT["muted"], "failed": LIGHT["alert"], "todo": LIGHT["line"]}


def metric_scatter(
    table: polars.DataFrame,
    first: str,
    second: str,
    ax: Axes | None = None,
    *,
    styles: Mapping[str, Style] | None = None,
) -> Axes:
    """Draw one metric against another: a point for each run, in the colour of its method.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it; of snapshots, the last is drawn.
    first, second
        The metrics, along x and y.
    ax
        Where to draw; by default on new axes.
    styles
        Colours of methods, so that several axes can share them.

    Returns
    -------
    Axes
        The axes.
    """
    last = at_the_end(finite(table))
    runs = one_row_per_run(last, [first, second]).drop_nulls([first, second])
    styles = styles or styles_of(table["method"])
    axes = ax or Chart(4.6 + (text_width(list(styles)) if len(styles) > 1 else 0), 3.4).add_subplot()
    for (method,), found in runs.group_by("method", maintain_order=True):
        style = styles[str(method)]
        x, y = found[first].to_numpy(), found[second].to_numpy()
        axes.scatter(x, y, s=20, color=style.colour, marker=style.marker, alpha=0.8, linewidths=0, label=str(method))
    for metric, which in ((first, "x"), (second, "y")):
        score_axis(axes, last.filter(metric=metric), metric, runs[metric], which)  # pyright: ignore[reportArgumentType]
    if len(styles) > 1 and ax is None:
        name_lines(axes)
    return plain(axes)


def agreement_map(table: polars.DataFrame, ax: Axes | None = None, *, metrics: Sequence[str] | None = None) -> Axes:
    """Draw Spearman's rank correlation of every two metrics over the runs on one data set.

    Parameters
    ----------
    table
        A table of scores of one data set, as `Study.scores` returns it; of snapshots, the last counts.
    ax
        Where to draw; by default on new axes.
    metrics
        Which, in this order; by default all.

    Returns
    -------
    Axes
        The axes. A metric that is constant over all runs has no correlation, which is drawn as a dash.
    """
    if table["data"].n_unique() > 1:
        raise UsageError("rank correlations need one data set, but the table has several: filter it by data")
    last = at_the_end(finite(table))
    names = last["metric"].unique(maintain_order=True).to_list() if metrics is None else list(metrics)
    axes = (
        ax
        or Chart(0.2 + text_width(names) + CELL * len(names), 0.6 + text_width(names) + CELL * len(names)).add_subplot()
    )
    found = {(row["first"], row["second"]): row["correlation"] for row in _agreement(last, names)}
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            value = 1.0 if i == j else found.get((first, second), found.get((second, first)))
            if isinstance(value, float):
                heat_cell(axes, i, j, value)
            else:
                axes.text(j + 0.5, i + 0.5, "–", color=LIGHT["muted"], ha="center", va="center", fontsize=8)
    axes.set(xlim=(0, len(names)), ylim=(len(names), 0), aspect="equal")
    labels = [f"{name} {arrow(name)}".strip() for name in names]
    places = np.arange(len(names)) + 0.5
    plain(axes).grid(visible=False)
    axes.set_yticks(places, labels, parse_math=False, color=LIGHT["ink"])
    axes.set_xticks(
        places, labels, parse_math=False, color=LIGHT["ink"], rotation=40, ha="left", rotation_mode="anchor"
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    return axes


def state_matrix(states: polars.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw cells × seeds: whether each run is done, running, failed or to do.

    Parameters
    ----------
    states
        One row for each run: cell (its name), seed, state (done, running, failed or todo).
    ax
        Where to draw; by default on new axes.

    Returns
    -------
    Axes
        The axes.
    """
    cells, seeds = list(dict.fromkeys(states["cell"])), sorted(set(states["seed"]))
    axes = ax or Chart(1.0 + text_width(cells) + 0.25 * len(seeds), 0.6 + 0.25 * len(cells)).add_subplot()
    for cell, seed, state in states.select("cell", "seed", "state").iter_rows():
        corner = (seeds.index(seed) + 0.08, cells.index(cell) + 0.08)
        axes.add_patch(Rectangle(corner, 0.84, 0.84, color=STATES[state], linewidth=0))
        if state == "failed":
            axes.text(
                corner[0] + 0.42, corner[1] + 0.44, "×", color=LIGHT["paper"], ha="center", va="center", fontsize=9
            )
    axes.set(xlim=(0, len(seeds)), ylim=(len(cells), 0))
    plain(axes).grid(visible=False)
    axes.set_xticks(np.arange(len(seeds)) + 0.5, [str(seed) for seed in seeds])
    axes.set_yticks(np.arange(len(cells)) + 0.5, cells, parse_math=False, color=LIGHT["ink"])
    axes.set_xlabel("seed", color=LIGHT["muted"], fontsize=9)
    axes.xaxis.set_label_position("top")
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    return axes


def _agreement(table: polars.DataFrame, names: Sequence[str]) -> list[dict[str, object]]:
    known = [name for name in names if table.filter(metric=name)["value"].count()]
    return metric_agreement(table, known).to_dicts() if len(known) > 1 else []
