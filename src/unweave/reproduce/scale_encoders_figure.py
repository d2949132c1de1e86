"""Draw MIG of pretrained encoders, with its intervals over images, against their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from unweave.report.style import LIGHT

COLOURS = {"trained": "#2a78d6", "random": "#eb6834"}
MARKS = "osD^vP<>*X"
"""One for each network; filled with trained weights, open with random ones."""


def encoders_figure(table: polars.DataFrame) -> Figure:
    """Draw MIG against parameters: one row of panels per data set, one panel per choice of images."""
    mig = table.filter(polars.col("metric") == "mig")
    marks = dict(zip(mig.filter(_is_network())["encoder"].unique(maintain_order=True), cycle(MARKS), strict=False))
    rows = [
        [part for _, part in of_data.group_by("images", maintain_order=True)]
        for _, of_data in mig.group_by("data", maintain_order=True)
    ]
    columns = max(map(len, rows))
    figure = Figure(figsize=(4.2 * columns, 0.9 + 3.2 * len(rows)), layout="constrained")
    panels = figure.subplots(len(rows), columns, squeeze=False)
    for axes, parts in zip(panels, rows, strict=True):
        for panel, part in zip(axes, parts, strict=False):
            _draw(panel, part, marks)
        for panel in axes[len(parts) :]:
            panel.set_axis_off()
    shapes = [
        Line2D([], [], marker=mark, color=LIGHT["muted"], linestyle="", label=name) for name, mark in marks.items()
    ]
    colours = [
        Line2D([], [], marker="o", linestyle="", label=f"{weights} weights", **_style(weights)) for weights in COLOURS
    ]
    figure.legend(handles=[*colours, *shapes], loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return figure


def _draw(axes: Axes, part: polars.DataFrame, marks: Mapping[str, str]) -> None:
    """Draw the encoders of one data set and one choice of images; baselines are lines."""
    for row in part.filter(_is_network()).iter_rows(named=True):
        around = [[row["value"] - row["low"]], [row["high"] - row["value"]]]
        axes.errorbar(row["parameters"], row["value"], around, marker=marks[row["encoder"]], markersize=5, elinewidth=1,
                      **_style(row["weights"]))  # fmt: skip
    for row in part.filter(polars.col("parameters") == 0).iter_rows(named=True):
        axes.axhline(row["value"], color=LIGHT["muted"], linewidth=0.8, linestyle="--")
        axes.annotate(row["encoder"], (0.99, row["value"]), xycoords=("axes fraction", "data"), fontsize=7,
                      ha="right", va="bottom", color=LIGHT["muted"])  # fmt: skip
    if part.filter(_is_network()).height:
        axes.set_xscale("log")
        axes.set_xticks([1e6, 3e6, 1e7, 3e7])
        axes.set_xlim(1e6, 5e7)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count / 1e6:g} M"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(f"{part['data'][0]}, {part['images'][0]}", loc="left", fontsize=9, color=LIGHT["ink"])
    axes.set_xlabel("parameters", fontsize=9, color=LIGHT["ink"])
    axes.set_ylabel("MIG", fontsize=9, color=LIGHT["ink"])
    axes.spines[["top", "right"]].set_visible(False)


def _style(weights: str) -> dict[str, Any]:
    colour = COLOURS[weights]
    return {"color": colour, "markerfacecolor": colour if weights == "trained" else "white"}


def _is_network() -> polars.Expr:
    return polars.col("parameters") > 0
