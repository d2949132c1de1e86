"""The plots of a study's page: one panel for each data set, as inline SVG."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape

import numpy as np
import polars
from matplotlib.axes import Axes

from unweave.report.chart import Chart
from unweave.report.inline import captioned
from unweave.report.study.cells import CELL, Style, at_the_end, finite, named, styles_of
from unweave.report.study.line_plots import LINES, name_lines, scores_by_setting, scores_by_step
from unweave.report.study.maps import agreement_map, metric_scatter
from unweave.report.study.plots import LINE, scores_by_cell, scores_by_method, text_width
from unweave.report.study.seen import Seen
from unweave.report.study.words import counted, of_one_data_set
from unweave.report.style import LIGHT
from unweave.study.analysis import metric_agreement

CELLS = 40
"""With more cells on a data set, the scores are drawn by method."""
SETTINGS = 4
"""Largest number of settings drawn."""
MAPPED = 16
"""Largest number of metrics in the map of rank correlations."""
ABREAST = 3
"""Panels side by side."""
WIDTH = 12.0
"""Inches that fit on the page."""
Draw = Callable[[Axes, polars.DataFrame, bool], object]
"""A function that draws a panel from axes, the scores of a data set and whether it is the last panel."""


def metric_figures(seen: Seen, metric: str, *, settings: bool = True) -> str:
    """Return the plots of one metric: by cell, by default against settings, and against steps."""
    table = seen.scores.filter(polars.col("metric") == metric).drop_nulls("value")
    styles = styles_of(seen.methods)
    parts = [_by_cell(seen, table, metric, styles)]
    numbers = numeric_settings(table)[:SETTINGS] if settings else []
    parts += [_by_setting(table, metric, name, styles) for name in numbers]
    if table.group_by("run").agg(polars.col("step").n_unique())["step"].max() != 1:
        parts.append(_by_step(table, metric, styles))
    return f'<div class="maps">\n{"".join(parts)}</div>'


def numeric_settings(table: polars.DataFrame) -> list[str]:
    """Return the settings for which a method has several numbers on one data set."""
    found = []
    for name in table.columns[3 : table.columns.index("seed")]:
        if table[name].dtype == polars.Boolean:
            continue
        numbers = table.with_columns(polars.col(name).cast(polars.Float64, strict=False)).drop_nulls(name)
        groups = numbers.group_by("data", "method").agg(polars.col(name).n_unique())
        if len(groups) and int(groups[name].max()) > 1:  # pyright: ignore[reportArgumentType]
            found.append(name)
    return found


def _by_cell(seen: Seen, table: polars.DataFrame, metric: str, styles: dict[str, Style]) -> str:
    cells = seen.runs[CELL].unique(maintain_order=True).to_list()
    if len(cells) > CELLS:
        names, height = seen.methods, 2 * LINE * len(seen.methods)
        draw: Draw = lambda axes, rows, last: scores_by_method(rows, metric, axes, styles=styles)  # noqa: E731
        about = f"A point is a run, of any of {counted(len(cells), 'cell')}; a stroke is the median of a method."
    else:
        names, height = cells, LINE * len(cells)
        draw = lambda axes, rows, last: scores_by_cell(rows, metric, axes, cells=cells, styles=styles)  # noqa: E731
        about = "A point is a run, a stroke the mean of a cell over its seeds, a line its 95 % interval over seeds."
    chart = _panels(table, draw, 1.0 + height, left=text_width(names), shared=True)
    return _figure(chart, f"{metric}-cells", f"{metric} by {'method' if len(cells) > CELLS else 'cell'}", about)


def _by_setting(table: polars.DataFrame, metric: str, setting: str, styles: dict[str, Style]) -> str:
    numbers = table.filter(polars.col(setting).cast(polars.Float64, strict=False).is_not_null())

    def draw(axes: Axes, rows: polars.DataFrame, last: bool) -> object:
        return scores_by_setting(rows, metric, setting, axes, styles=styles, legend=last)

    right = _legend_width(numbers, setting)
    about = "A line goes through the means over seeds."
    return _figure(
        _panels(numbers, draw, 3.0, right=right), f"{metric}-{setting}", f"{metric} against {setting}", about
    )


def _by_step(table: polars.DataFrame, metric: str, styles: dict[str, Style]) -> str:
    def draw(axes: Axes, rows: polars.DataFrame, last: bool) -> object:
        return scores_by_step(rows, metric, axes, styles=styles, legend=last)

    about = "Snapshots of the same runs; a line goes through the means over seeds."
    chart = _panels(table, draw, 3.0, right=_legend_width(table))
    return _figure(chart, f"{metric}-steps", f"{metric} against training steps", about)


def agreement_figures(seen: Seen) -> str:
    """Return a map of rank correlations for each data set, and the two metrics that agree least."""
    metrics = seen.metrics[:MAPPED]
    parts = []
    for data in seen.data:
        table = of_one_data_set(finite(at_the_end(seen.final)), data).drop_nulls("value")
        shown = [name for name in metrics if name in set(table["metric"])]
        if len(shown) < 2 or table["run"].n_unique() < 3:
            continue
        side = text_width(shown) + 0.46 * len(shown)
        chart = Chart(0.4 + side, 0.3 + 0.75 * text_width(shown) + 0.46 * len(shown))
        agreement_map(table, chart.add_subplot(), metrics=shown)
        about = f"Spearman's rank correlation over {counted(table['run'].n_unique(), 'run')}."
        parts.append(_figure(chart, f"agreement-{data}", data, about))
        parts.append(_least(seen, table, shown, data))
    return f'<div class="maps">\n{"".join(parts)}</div>' if parts else ""


def _least(seen: Seen, table: polars.DataFrame, metrics: Sequence[str], data: str) -> str:
    """Draw the two metrics that agree least on a data set."""
    pairs = metric_agreement(table, metrics).drop_nulls("correlation").sort("correlation")
    if not len(pairs):
        return ""
    first, second = pairs.row(0)[1:3]
    styles = styles_of(seen.methods)
    chart = Chart(4.4 + (text_width(seen.methods) if len(styles) > 1 else 0), 3.4)
    axes = metric_scatter(table, first, second, chart.add_subplot(), styles=styles)
    if len(styles) > 1:
        name_lines(axes)
    title = f"The two that agree least on {data}"
    return _figure(chart, f"least-{data}", title, "A point is a run.")


def _panels(
    table: polars.DataFrame, draw: Draw, height: float, *, left: float = 0.5, right: float = 0.0, shared: bool = False
) -> Chart:
    """Return a figure with a panel for each data set, `height` inches each, all of one width."""
    sets = table["data"].unique(maintain_order=True).to_list()
    columns = min(ABREAST, len(sets))
    width = min(4.4, max(2.4, (WIDTH - left - right) / columns))
    rows = -(-len(sets) // columns)
    chart = Chart(left + right + width * columns, rows * (height + 0.3))
    grid = np.atleast_2d(chart.subplots(rows, columns, squeeze=False, sharey=shared))
    for place, axes in enumerate(grid.flat):
        if place >= len(sets):
            axes.set_visible(False)
            continue
        draw(axes, of_one_data_set(table, sets[place]), place == min(columns, len(sets)) - 1)
        if len(sets) > 1:
            title = broken(sets[place], int(width / 0.075))
            axes.set_title(title, loc="left", fontsize=9.5, color=LIGHT["ink"], parse_math=False)
    return chart


def _legend_width(table: polars.DataFrame, setting: str = "") -> float:
    """Return the width in inches of the legend next to the last panel."""
    rows = named(table.drop(setting) if setting else table)
    names = rows[CELL].str.replace(" on .*", "").unique().to_list()
    if len(names) > LINES:
        names = table["method"].unique().to_list()
    return 0.5 + text_width(names) if len(names) > 1 else 0.0


def broken(name: str, letters: int) -> str:
    r"""Return the name of a data set in lines of at most `letters` letters, broken between its options.

    >>> broken("xysquares:spacing=8,size=32", 20)
    'xysquares:spacing=8,\nsize=32'
    """
    lines = [""]
    for part in re.split(r"(?<=[:,])", name):
        if lines[-1] and len(lines[-1]) + len(part) > letters:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _figure(chart: Chart, name: str, title: str, about: str) -> str:
    return captioned(chart, name, escape(title), escape(about))
