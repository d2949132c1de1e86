"""Draw the agreement of label-free with supervised scores."""

from __future__ import annotations

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unweave.report.style import LIGHT
from unweave.reproduce.label_free_table import overall

STEP = 0.18
"""Distance between the points of two supervised scores, relative to that of two rows."""
COLOURS = ("#2a78d6", "#eb6834", "#1baf7a", "#9466c9")


def agreement_figure(agreement: polars.DataFrame) -> Figure:
    """Draw the rank correlation of every label-free score with each supervised one, by data set."""
    cells = agreement.filter(polars.col("over") == "specifications")
    data = cells["data"].unique(maintain_order=True).to_list()
    order = overall(agreement)["score"].to_list()
    figure = Figure(figsize=(1.6 + 4.2 * len(data), 1.3 + 0.5 * len(order)), layout="constrained")
    panels = figure.subplots(1, len(data), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, data, strict=True):
        _panel(axes, cells.filter(polars.col("data") == name), order)
        axes.set_title(name, loc="left", color=LIGHT["ink"], fontsize=11)
    labels = panels[0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside upper center", ncols=len(COLOURS), fontsize=8, frameon=False)
    return figure


def _panel(axes: Axes, cells: polars.DataFrame, order: list[str]) -> None:
    axes.axvline(0, color=LIGHT["line"], linewidth=1)
    for number, (supervised, rows) in enumerate(_by_supervised(cells)):
        shift = (number - 1.5) * STEP
        for each in rows.drop_nulls("correlation").iter_rows(named=True):
            place = order.index(each["score"]) + shift
            if each["low"] is not None:
                axes.plot([each["low"], each["high"]], [place, place], color=COLOURS[number], linewidth=1.4)
            axes.plot(each["correlation"], place, "o", color=COLOURS[number], markersize=4.5)
        axes.plot([], [], "o", color=COLOURS[number], markersize=4.5, label=supervised)
    axes.set_yticks(range(len(order)), order)
    axes.set_ylim(len(order) - 0.5, -0.5)
    axes.set_xlim(-1.05, 1.05)
    axes.set_xlabel("rank correlation over specifications", color=LIGHT["ink"])
    axes.spines[["top", "right"]].set_visible(False)


def _by_supervised(cells: polars.DataFrame) -> list[tuple[str, polars.DataFrame]]:
    names = cells["supervised"].unique(maintain_order=True).to_list()
    return [(name, cells.filter(polars.col("supervised") == name)) for name in names]
