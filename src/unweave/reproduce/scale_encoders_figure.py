"""Draw MIG of pretrained encoders, with its intervals over images, against their parameters."""

from __future__ import annotations

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from unweave.report.style import LIGHT

STYLES = {"trained": ("o", "#2a78d6"), "random": ("x", "#eb6834")}


def encoders_figure(table: polars.DataFrame) -> Figure:
    """Draw MIG against parameters: one row of panels per data set, one panel per choice of images."""
    mig = table.filter(polars.col("metric") == "mig")
    rows = [
        [part for _, part in of_data.group_by("images", maintain_order=True)]
        for _, of_data in mig.group_by("data", maintain_order=True)
    ]
    columns = max(map(len, rows))
    figure = Figure(figsize=(4.2 * columns, 0.4 + 3.2 * len(rows)), layout="constrained")
    panels = figure.subplots(len(rows), columns, squeeze=False)
    for axes, parts in zip(panels, rows, strict=True):
        for panel, part in zip(axes, parts, strict=False):
            _draw(panel, part)
        for panel in axes[len(parts) :]:
            panel.set_axis_off()
    panels[0, 0].legend(fontsize=8, frameon=False)
    return figure


def _draw(axes: Axes, part: polars.DataFrame) -> None:
    """Draw the encoders of one data set and one choice of images; baselines are lines."""
    networks = part.filter(polars.col("parameters") > 0)
    for weights, (mark, colour) in STYLES.items():
        chosen = networks.filter(polars.col("weights") == weights)
        around = [chosen["value"] - chosen["low"], chosen["high"] - chosen["value"]]
        axes.errorbar(chosen["parameters"], chosen["value"], around, fmt=mark, color=colour, label=f"{weights} weights",
                      markersize=5, elinewidth=1)  # fmt: skip
        for each in chosen.iter_rows(named=True) if weights == "trained" else ():
            axes.annotate(each["encoder"], (each["parameters"], each["value"]), fontsize=7, xytext=(3, 4),
                          textcoords="offset points", color=LIGHT["muted"])  # fmt: skip
    for each in part.filter(polars.col("parameters") == 0).iter_rows(named=True):
        axes.axhline(each["value"], color=LIGHT["muted"], linewidth=0.8, linestyle="--")
        axes.annotate(each["encoder"], (0.99, each["value"]), xycoords=("axes fraction", "data"), fontsize=7,
                      ha="right", va="bottom", color=LIGHT["muted"])  # fmt: skip
    if networks.height:
        axes.set_xscale("log")
        axes.set_xticks([1e6, 3e6, 1e7, 3e7, 1e8])
        axes.set_xlim(1e6, 1e8)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count / 1e6:g} M"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(f"{part['data'][0]}, {part['images'][0]}", loc="left", fontsize=9, color=LIGHT["ink"])
    axes.set_xlabel("parameters", fontsize=9, color=LIGHT["ink"])
    axes.set_ylabel("MIG", fontsize=9, color=LIGHT["ink"])
    axes.spines[["top", "right"]].set_visible(False)
