"""Draw the comparison of methods: disentanglement at the usual strength, with its interval over seeds."""

from __future__ import annotations

import polars
from comparison_cells import ASKS, DISENTANGLEMENT, UNTRAINED, Cell, by_need, scores_of_cell, sets_of, usual
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from unweave.report.style import LIGHT
from unweave.study.analysis import over_seeds

PALETTE = ("#2a78d6", "#eb6834", "#c2255c", "#2b8a3e", "#7048e8", "#b08900")
FAINT = 0.3
"""Opacity of the bands."""
COLOURS: dict[str, str] = dict(zip(ASKS, PALETTE, strict=True))
"""A colour for each kind of supervision."""


def comparison_figure(table: polars.DataFrame, cells: list[Cell]) -> Figure:
    """Draw one panel per data set and one line per method; a dot is a run, the tick is the mean over seeds."""
    names = [(asks, method) for asks, method in by_need() if method != UNTRAINED]
    figure = Figure(figsize=(11, 0.9 + 0.24 * len(names)), layout="constrained")
    panels = figure.subplots(1, len(sets_of(cells)), sharey=True, squeeze=False)[0]
    for axes, data in zip(panels, sets_of(cells), strict=True):
        for place, (asks, method) in enumerate(names):
            _draw(axes, table, usual(cells, method, data), place, COLOURS[asks])
        _floor(axes, table, usual(cells, UNTRAINED, data))
        _finish(axes, data)
    panels[0].set_yticks(range(len(names)), [method for _, method in names], fontsize=8)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    labels = [
        Line2D([], [], marker="o", color=colour, linestyle="", label=ASKS[asks]) for asks, colour in COLOURS.items()
    ]
    figure.legend(handles=labels, loc="outside lower center", ncols=len(labels), fontsize=8, frameon=False)
    return figure


def _draw(axes: Axes, table: polars.DataFrame, cell: Cell, place: int, colour: str) -> None:
    values = scores_of_cell(table, cell, DISENTANGLEMENT).drop_nulls().to_numpy()
    if not len(values):
        return
    found = over_seeds(values)
    if found.low is not None and found.high is not None:
        axes.plot(
            [max(found.low, 0), min(found.high, 1)],
            [place] * 2,
            color=colour,
            linewidth=5,
            alpha=FAINT,
            solid_capstyle="butt",
        )
    axes.plot(found.value, place, "|", color=colour, markersize=9, markeredgewidth=1.8)
    axes.plot(values, [place] * len(values), "o", color=colour, markersize=2.6)


def _floor(axes: Axes, table: polars.DataFrame, cell: Cell) -> None:
    values = scores_of_cell(table, cell, DISENTANGLEMENT).drop_nulls()
    if len(values):
        axes.axvline(float(values.to_numpy().mean()), color=LIGHT["muted"], linewidth=0.8, linestyle="--")


def _finish(axes: Axes, data: str) -> None:
    axes.set_title(data, loc="left", fontsize=9, color=LIGHT["ink"])
    axes.set_xlabel("D (DCI disentanglement)", fontsize=8, color=LIGHT["ink"])
    axes.set_xlim(-0.02, None)  # so that marks at 0 are whole
    axes.locator_params(axis="x", nbins=5)
    axes.tick_params(labelsize=8, length=0)
    axes.grid(axis="both", color=LIGHT["line"], linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
