"""Scores of a study on matplotlib axes: by cell, by method, against a setting, and against training steps.

Every function takes a tidy table as `Study.scores` returns it, draws on `ax`, or on axes of its own, and returns the
axes. A point is a training run. A mean has an interval, over training seeds, only from five seeds on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from unweave.errors import UsageError
from unweave.report.chart import Chart
from unweave.report.study.cells import CELL, Style, at_the_end, scores, styles_of
from unweave.report.study.limits import score_axis
from unweave.report.style import LIGHT, number, plain
from unweave.study.analysis import Interval, over_seeds
from unweave.study.analysis.tidy import settings_of_cells

Styles = Mapping[str, Style]
LINE = 0.25
"""Height of a cell in inches."""
LETTER = 0.068
"""Width of a letter in inches."""
LOGARITHMIC = 8
"""Settings are on a logarithmic axis from this ratio of the largest to the smallest on."""
LINES = 10
"""More lines than these are not named one by one, but by their methods."""


def scores_by_cell(
    table: polars.DataFrame,
    metric: str,
    ax: Axes | None = None,
    *,
    cells: Sequence[str] | None = None,
    styles: Styles | None = None,
) -> Axes:
    """Draw a row for each cell: a point for each seed, their mean, and from five seeds on its interval over seeds.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it; of snapshots, the last is drawn.
    metric
        The metric.
    ax
        Where to draw; by default axes of their own.
    cells
        The rows by name, in this order, so that several axes can share them; by default all, as the table has them.
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
    drawn: list[float] = []
    for (name, method), found in rows.group_by(CELL, "method", maintain_order=True):
        values = found.sort("seed")["value"].to_numpy()
        interval = over_seeds(values)
        place = names.index(str(name))
        colour = styles[str(method)].colour
        axes.scatter(values, np.full(len(values), place), s=22, color=colour, alpha=0.5, linewidths=0, zorder=3)
        _mean(axes, interval, place, colour)
        drawn += [*values, *(end for end in (interval.low, interval.high) if end is not None)]
    _rows(axes, names)
    score_axis(axes, rows, metric, drawn, "x")
    return axes


def scores_by_method(
    table: polars.DataFrame, metric: str, ax: Axes | None = None, *, styles: Styles | None = None
) -> Axes:
    """Draw a row for each method: a point for each run, whatever its settings and seed, and the median.

    For studies of more cells than `scores_by_cell` has room for. There is no interval: runs of different settings are
    no replicates.

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
        if len(values):
            axes.plot(
                [np.median(values)] * 2, [place - 0.38, place + 0.38], color=LIGHT["ink"], linewidth=1.6, zorder=4
            )
    _rows(axes, names)
    score_axis(axes, rows, metric, rows["value"], "x")
    return axes


def scores_by_setting(
    table: polars.DataFrame,
    metric: str,
    setting: str,
    ax: Axes | None = None,
    *,
    styles: Styles | None = None,
    legend: bool = True,
) -> Axes:
    """Draw scores against a number that differs, such as a strength: a line through the means of each method.

    Cells that differ in other settings too are lines of their own.

    Parameters
    ----------
    table, metric, ax, styles
        As for `scores_by_cell`.
    setting
        A column of the table that holds numbers, such as beta.
    legend
        Whether to name the lines beside the axes.

    Returns
    -------
    Axes
        The axes.
    """
    if setting not in settings_of_cells(table):
        raise UsageError(f"the table has no setting '{setting}' (it has: {', '.join(settings_of_cells(table))})")
    numbers = table.with_columns(polars.col(setting).cast(polars.Float64, strict=False).alias(".x"))
    rows = scores(at_the_end(numbers.drop(setting)), metric).drop_nulls(".x")
    if not len(rows):
        raise UsageError(f"no score of '{metric}' has a number as '{setting}'")
    axes = _line_axes(ax, rows)
    drawn = _draw_lines(axes, rows, styles or styles_of(table["method"]), legend=legend)
    places = sorted(set(rows[".x"]))
    if places[0] > 0 and places[-1] >= LOGARITHMIC * places[0]:
        axes.set_xscale("log")
    axes.set_xticks(places, [number(place) for place in places])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    return _finish_lines(axes, rows, metric, setting, drawn)


def scores_by_step(
    table: polars.DataFrame,
    metric: str,
    ax: Axes | None = None,
    *,
    styles: Styles | None = None,
    legend: bool = True,
) -> Axes:
    """Draw scores of snapshots against the steps of training: a line through the means of each cell.

    Parameters
    ----------
    table, metric, ax, styles, legend
        As for `scores_by_setting`.

    Returns
    -------
    Axes
        The axes.
    """
    rows = scores(table.with_columns(polars.col("step").cast(polars.Float64).alias(".x")), metric)
    axes = _line_axes(ax, rows)
    drawn = _draw_lines(axes, rows, styles or styles_of(table["method"]), legend=legend)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    return _finish_lines(axes, rows, metric, "step", drawn)


def text_width(names: Sequence[str]) -> float:
    """Return the inches that the longest of some labels needs."""
    return 0.15 + LETTER * max(map(len, names), default=0)


def _mean(axes: Axes, interval: Interval, place: float, colour: str) -> None:
    """Draw the mean of a cell as a stroke across its row, and its interval, if any, along it."""
    if interval.low is not None and interval.high is not None:
        axes.plot(
            [interval.low, interval.high], [place] * 2, color=colour, linewidth=2, solid_capstyle="butt", zorder=2
        )
    axes.plot([interval.value] * 2, [place - 0.32, place + 0.32], color=LIGHT["ink"], linewidth=1.6, zorder=4)


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows from above."""
    plain(axes)
    axes.set_yticks(range(len(names)), list(names), parse_math=False, color=LIGHT["ink"])
    axes.set_ylim(len(names) - 0.4, -0.6)


def _line_axes(ax: Axes | None, lines: polars.DataFrame) -> Axes:
    return (
        ax or Chart(4.6 + (text_width(list(set(lines[CELL]))) if lines[CELL].n_unique() > 1 else 0), 3.0).add_subplot()
    )


def _draw_lines(axes: Axes, rows: polars.DataFrame, styles: Styles, *, legend: bool) -> list[float]:
    """Draw a line for each cell, over `.x`, and return all values that must be seen."""
    drawn: list[float] = []
    named = rows[CELL].n_unique() <= LINES
    labels: dict[str, object] = {}
    for (name, method), line in rows.group_by(CELL, "method", maintain_order=True):
        style = styles[str(method)]
        x = sorted(set(line[".x"]))
        found = [over_seeds(line.filter(polars.col(".x") == value)["value"].to_numpy()) for value in x]
        dash = "-" if not named else ["-", "--", ":", "-."][_rank(rows, str(method), str(name)) % 4]
        means = [interval.value for interval in found]
        (drawing,) = axes.plot(
            x, means, color=style.colour, linewidth=1.6, linestyle=dash, marker=style.marker, markersize=5, zorder=4
        )
        axes.scatter(line[".x"], line["value"], s=14, color=style.colour, alpha=0.4, linewidths=0, zorder=3)
        for value, interval in zip(x, found, strict=True):
            if interval.low is not None and interval.high is not None:
                axes.plot(
                    [value] * 2, [interval.low, interval.high], color=style.colour, linewidth=2.6, alpha=0.45, zorder=2
                )
                drawn += [interval.low, interval.high]
        drawn += line["value"].to_list()
        labels.setdefault(str(name) if named else str(method), drawing)
    if legend and len(labels) > 1:
        axes.legend(
            list(labels.values()),
            list(labels),
            loc="upper left",
            bbox_to_anchor=(1.01, 1.02),
            frameon=False,
            fontsize=9,
            labelcolor=LIGHT["ink"],
            handlelength=2.4,
        )
    return drawn


def _rank(rows: polars.DataFrame, method: str, cell: str) -> int:
    """Return the place of a line among those of its method, which share a colour."""
    return rows.filter(method=method)[CELL].unique(maintain_order=True).to_list().index(cell)


def _finish_lines(axes: Axes, rows: polars.DataFrame, metric: str, along: str, drawn: list[float]) -> Axes:
    score_axis(axes, rows, metric, drawn, "y")
    axes.set_xlabel(along, color=LIGHT["muted"], fontsize=9, parse_math=False)
    return plain(axes)
