"""Scores of a study on matplotlib axes: by cell, and by method.

Every function takes a tidy table as `Study.scores` returns it, draws on `ax` or on new axes, and returns the axes. A
point is a training run. A mean has an interval over training seeds only with at least five seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars
from matplotlib.axes import Axes

from unweave.report.chart import Chart
from unweave.report.study.cells import CELL, Style, at_the_end, scores, styles_of
from unweave.report.study.limits import score_axis
from unweave.report.style import LIGHT, plain
from unweave.study.analysis import over_seeds

Styles = Mapping[str, Style]
LINE = 0.25
"""Height of a cell in inches."""
LETTER = 0.068
"""Width of a letter in inches."""
INTERVALS = "_intervals"
"""The label of intervals over seeds; matplotlib leaves it out of legends."""


def scores_by_cell(
    table: polars.DataFrame,
    metric: str,
    ax: Axes | None = None,
    *,
    cells: Sequence[str] | None = None,
    styles: Styles | None = None,
) -> Axes:
    """Draw a row for each cell: a point per seed, their mean and, with five seeds or more, its interval over seeds.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it; of snapshots, the last is drawn.
    metric
        The metric.
    ax
        Where to draw; by default on new axes.
    cells
        The names of the rows, in order, so that several axes can share them; by default all, in the order of the table.
    styles
        Colours of methods, so that several axes can share them.

    Returns
    -------
    Axes
        The axes.
    """
    rows = scores(at_the_end(table), metric)
    names = list(dict.fromkeys(rows[CELL])) if cells is None else list(cells)
    styles = styles or styles_of(table["method"])
    axes = ax or Chart(4.2 + text_width(names), 0.75 + LINE * len(names)).add_subplot()
    cells_found = [
        (names.index(str(name)), styles[str(method)].colour, over_seeds(found["value"].to_numpy()))
        for (name, method), found in rows.group_by(CELL, "method", maintain_order=True)
    ]
    for (method,), found in rows.group_by("method", maintain_order=True):
        places = [names.index(name) for name in found[CELL]]
        colour = styles[str(method)].colour
        axes.scatter(found["value"], places, s=24, color=colour, alpha=0.6, linewidths=0, zorder=3)
    known = [(place, colour, found) for place, colour, found in cells_found if found.low is not None]
    ends = [[end for _, _, found in known if (end := getattr(found, side)) is not None] for side in ("low", "high")]
    if known:
        places, colours, _ = zip(*known, strict=True)
        axes.hlines(places, *ends, colors=list(colours), linewidth=2, zorder=2, label=INTERVALS)
    _strokes(axes, [(found.value, place) for place, _, found in cells_found], 0.32)
    drawn = [*rows["value"], *ends[0], *ends[1]]
    _rows(axes, names)
    score_axis(axes, rows, metric, drawn, "x")
    return axes


def scores_by_method(
    table: polars.DataFrame, metric: str, ax: Axes | None = None, *, styles: Styles | None = None
) -> Axes:
    """Draw a row for each method: a point for each run, whatever its settings and seed, and the median.

    For studies with more cells than `scores_by_cell` has room for. There is no interval, because runs with different
    settings are not replicates.

    Parameters
    ----------
    table, metric, ax, styles
        As for `scores_by_cell`.

    Returns
    -------
    Axes
        The axes.
    """
    rows = scores(at_the_end(table), metric)
    names = list(dict.fromkeys(table["method"]))
    styles = styles or styles_of(names)
    axes = ax or Chart(4.2 + text_width(names), 0.75 + 2 * LINE * len(names)).add_subplot()
    for place, name in enumerate(names):
        values = rows.filter(method=name)["value"].to_numpy()
        spread = np.random.default_rng(place).uniform(-0.3, 0.3, len(values))
        axes.scatter(values, place + spread, s=12, color=styles[name].colour, alpha=0.4, linewidths=0, zorder=3)
    medians = dict(rows.group_by("method").agg(polars.col("value").median()).iter_rows())
    _strokes(axes, [(medians[name], place) for place, name in enumerate(names) if name in medians], 0.38)
    _rows(axes, names)
    score_axis(axes, rows, metric, rows["value"], "x")
    return axes


def text_width(names: Sequence[str]) -> float:
    """Return the width in inches of the longest of some labels."""
    return 0.15 + LETTER * max(map(len, names), default=0)


def _strokes(axes: Axes, means: Sequence[tuple[float, float]], reach: float) -> None:
    """Draw the mean or median of each row, (value, row), as a stroke across it."""
    values, places = (np.array(part) for part in zip(*means, strict=True)) if means else (np.array([]),) * 2
    axes.vlines(values, places - reach, places + reach, colors=LIGHT["ink"], linewidth=1.6, zorder=4)


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Label the rows from the top."""
    plain(axes)
    axes.set_yticks(range(len(names)), list(names), parse_math=False, color=LIGHT["ink"])
    axes.set_ylim(len(names) - 0.4, -0.6)
