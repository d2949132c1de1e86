"""Scores of a study as lines on matplotlib axes: against a setting such as a strength, and against training steps.

As in `plots`, a point is a training run, and a mean has an interval over seeds only with at least five seeds.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from unweave.errors import UsageError
from unweave.report.chart import Chart
from unweave.report.study.cells import CELL, Style, at_the_end, scores, styles_of
from unweave.report.study.limits import score_axis
from unweave.report.study.plots import INTERVALS, Styles, text_width
from unweave.report.style import LIGHT, number, plain
from unweave.study.analysis import over_seeds
from unweave.study.analysis.tidy import settings_of_cells

LOGARITHMIC = 8
"""The axis of a setting is logarithmic if the ratio of the largest to the smallest value is at least this."""
LINES = 10
"""With more lines than this, they are thin, without points, and named by their methods."""
DASHES = ("-", "--", ":", "-.")


def scores_by_setting(
    table: polars.DataFrame,
    metric: str,
    setting: str,
    ax: Axes | None = None,
    *,
    styles: Styles | None = None,
    legend: bool = True,
) -> Axes:
    """Draw scores against a numeric setting, such as a strength: a line through the means of each method.

    Cells that also differ in other settings have separate lines.

    Parameters
    ----------
    table, metric, ax, styles
        As for `scores_by_cell`.
    setting
        A column of the table that holds numbers, such as beta.
    legend
        Whether to draw a legend next to the axes.

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
        raise UsageError(f"no score of '{metric}' has a numeric '{setting}'")
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


def _line_axes(ax: Axes | None, lines: polars.DataFrame) -> Axes:
    names = list(set(lines[CELL]))
    return ax or Chart(4.6 + (text_width(names) if len(names) > 1 else 0), 3.0).add_subplot()


def _draw_lines(axes: Axes, rows: polars.DataFrame, styles: Styles, *, legend: bool) -> list[float]:
    """Draw a line for each cell, over `.x`, and return all values that must be visible."""
    named = rows[CELL].n_unique() <= LINES
    looks = _looks(rows, styles)
    drawn: list[float] = rows["value"].to_list()
    labels: dict[str, Artist] = {}
    for (name, method), line in rows.group_by(CELL, "method", maintain_order=True):
        style, dash = looks[str(name)]
        groups = line.sort(".x").group_by(".x", maintain_order=True)
        found = {float(str(x)): over_seeds(part["value"].to_numpy()) for (x,), part in groups}
        (drawing,) = axes.plot(
            list(found),
            [interval.value for interval in found.values()],
            color=style.colour,
            linewidth=1.7 if named else 0.8,
            linestyle=dash if named else "-",
            marker=style.marker if named else None,
            markersize=5,
            zorder=4,
        )
        labels.setdefault(str(name) if named else str(method), drawing)
        if not named:
            continue
        axes.scatter(line[".x"], line["value"], s=18, color=style.colour, alpha=0.5, linewidths=0, zorder=3)
        bars = [(x, interval.low, interval.high) for x, interval in found.items() if interval.low is not None]
        if bars:
            axes.vlines(*zip(*bars, strict=True), colors=style.colour, linewidth=2.6, alpha=0.45, label=INTERVALS)
            drawn += [end for _, *ends in bars for end in ends if end is not None]
    if legend and len(labels) > 1:
        name_lines(axes, labels)
    return drawn


def name_lines(axes: Axes, labels: Mapping[str, Artist] | None = None) -> None:
    """Draw the legend of lines or points next to the axes."""
    named = (list(labels.values()), list(labels)) if labels else ()
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02)}
    axes.legend(*named, **place, frameon=False, fontsize=9, labelcolor=LIGHT["ink"], handlelength=2.4)


def _looks(rows: polars.DataFrame, styles: Styles) -> dict[str, tuple[Style, str]]:
    """Return the style and the dash of each line; lines of a single method have different colours."""
    cells = rows.select(CELL, "method").unique(maintain_order=True).rows()
    methods = {method for _, method in cells}
    if len(methods) == 1 and 1 < len(cells) <= LINES:
        return {name: (style, "-") for name, style in styles_of(name for name, _ in cells).items()}
    seen: dict[str, int] = {}
    looks = {}
    for name, method in cells:
        looks[name] = (styles[method], DASHES[seen.get(method, 0) % len(DASHES)])
        seen[method] = seen.get(method, 0) + 1
    return looks


def _finish_lines(axes: Axes, rows: polars.DataFrame, metric: str, along: str, drawn: list[float]) -> Axes:
    score_axis(axes, rows, metric, drawn, "y")
    axes.set_xlabel(along, color=LIGHT["muted"], fontsize=9, parse_math=False)
    return plain(axes)
