"""MIG of pretrained encoders against their parameters, drawn."""

from __future__ import annotations

import polars
from matplotlib.figure import Figure

from unweave.report.style import LIGHT

STYLES = {"trained": ("o", "#2a78d6"), "random": ("x", "#eb6834")}


def encoders_figure(table: polars.DataFrame) -> Figure:
    """Draw MIG against parameters, a row of panels for each data set and a column for each choice of images."""
    mig = table.filter(polars.col("metric") == "mig")
    data, ways = (mig[name].unique(maintain_order=True).to_list() for name in ("data", "images"))
    figure = Figure(figsize=(4.2 * len(ways), 0.4 + 3.2 * len(data)), layout="constrained")
    panels = figure.subplots(len(data), len(ways), squeeze=False)
    for row, name in enumerate(data):
        for column, way in enumerate(ways):
            axes = panels[row, column]
            part = mig.filter((polars.col("data") == name) & (polars.col("images") == way))
            for weights, (mark, colour) in STYLES.items():
                chosen = part.filter((polars.col("weights") == weights) & (polars.col("parameters") > 0))
                axes.plot(chosen["parameters"], chosen["value"], mark, color=colour, label=f"{weights} weights")
                for each in chosen.iter_rows(named=True) if weights == "trained" else ():
                    axes.annotate(each["encoder"], (each["parameters"], each["value"]), fontsize=7, xytext=(3, 4),
                                  textcoords="offset points", color=LIGHT["muted"])  # fmt: skip
            for each in part.filter(polars.col("parameters") == 0).iter_rows(named=True):
                axes.axhline(each["value"], color=LIGHT["muted"], linewidth=0.8, linestyle="--")
                axes.annotate(each["encoder"], (0.99, each["value"]), xycoords=("axes fraction", "data"), fontsize=7,
                              ha="right", va="bottom", color=LIGHT["muted"])  # fmt: skip
            if part.filter(polars.col("parameters") > 0).height:
                axes.set_xscale("log")
            axes.set_title(f"{name}, {way}", loc="left", fontsize=9, color=LIGHT["ink"])
            axes.set_xlabel("parameters", fontsize=9, color=LIGHT["ink"])
            axes.set_ylabel("MIG", fontsize=9, color=LIGHT["ink"])
            axes.spines[["top", "right"]].set_visible(False)
    panels[0, 0].legend(fontsize=8, frameon=False)
    return figure
