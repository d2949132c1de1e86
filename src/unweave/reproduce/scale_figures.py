"""Draw scores against a size."""

from __future__ import annotations

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from unweave.report.style import LIGHT
from unweave.reproduce.scale_table import curve_of

COLOURS = ("#2a78d6", "#eb6834", "#1baf7a", "#9466c9", "#c23b55", "#7a6a2f")
COLUMNS = 3
NARROW = 30
"""Sizes whose largest is less than so many times the smallest are all labelled."""
APART = 0.012
"""Distance between intervals of the same size, as a part of the axis, so that none hides another."""


def growth_figure(points: polars.DataFrame, growths: polars.DataFrame) -> Figure:
    """Draw each score against the size, with its interval over seeds and the curve that fits best."""
    metrics = points["metric"].unique(maintain_order=True).to_list()
    rows = -(-len(metrics) // COLUMNS)
    figure = Figure(figsize=(3.6 * min(COLUMNS, len(metrics)), 0.4 + 2.7 * rows), layout="constrained")
    panels = list(figure.subplots(rows, min(COLUMNS, len(metrics)), squeeze=False).flat)
    for axes, metric in zip(panels, metrics, strict=False):
        chosen = polars.col("metric") == metric
        _panel(axes, points.filter(chosen), growths.filter(chosen))
        axes.set_title(metric, loc="left", fontsize=10, color=LIGHT["ink"])
    for axes in panels[len(metrics) :]:
        axes.set_axis_off()
    figure.axes[0].legend(fontsize=8, frameon=False)
    return figure


def _panel(axes: Axes, points: polars.DataFrame, growths: polars.DataFrame) -> None:
    curves = {row["of"]: curve_of(row) for row in growths.iter_rows(named=True)}
    groups = list(points.group_by("of", maintain_order=True))
    shifts = _shifts(len(groups), points["size"].to_numpy())
    for colour, shift, ((of,), part) in zip(COLOURS, shifts, groups, strict=False):
        sizes, values = part["size"].to_numpy(), part["value"].to_numpy()
        axes.plot(shift * sizes, values, "o", color=colour, markersize=4, label=of)
        for row in part.drop_nulls("low").iter_rows(named=True):
            axes.plot([shift * row["size"]] * 2, [row["low"], row["high"]], color=colour, linewidth=1.4)
        if of in curves:
            between = np.geomspace(sizes.min(), sizes.max(), 100)
            axes.plot(between, curves[str(of)](between), color=colour, linewidth=1, alpha=0.6)
    axes.set_xscale("log")
    _ticks(axes, sorted(set(points["size"])))
    axes.set_xlabel(str(points["axis"][0]), color=LIGHT["ink"], fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def _shifts(groups: int, sizes: np.ndarray) -> np.ndarray:
    """Return the factor by which the sizes of each group are multiplied, so that its marks stand beside the others'."""
    places = np.arange(groups) - (groups - 1) / 2
    return (sizes.max() / sizes.min()) ** (APART * places)


def _ticks(axes: Axes, sizes: list[float]) -> None:
    """Label the sizes themselves where powers of ten are too far apart to read them."""
    if sizes[-1] < NARROW * sizes[0]:
        axes.set_xticks(sizes, [_short(size) for size in sizes])
        axes.xaxis.set_minor_locator(NullLocator())


def _short(size: float) -> str:
    """Return a size in a few characters.

    >>> _short(20.0), _short(229_481.0), _short(2_163_081.0)
    ('20', '229 k', '2.16 M')
    """
    for unit, sign in ((1e6, " M"), (1e3, " k")):
        if size >= unit:
            return f"{size / unit:.3g}{sign}"
    return f"{size:.3g}"
