"""The dynamics score by number of latents and β, after figure 4a of [Holtz2022]_."""

from __future__ import annotations

import polars
from matplotlib.figure import Figure

from unweave.report.style import LIGHT


def dynamics_figure(scores: polars.DataFrame) -> Figure:
    """Draw the mean score of each specification, and its runs as points, by data set."""
    data = scores["data"].unique(maintain_order=True).to_list()
    figure = Figure(figsize=(5.4 * len(data), 4.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(data), squeeze=False)[0], data, strict=True):
        part = scores.filter(polars.col("data") == name)
        order = part.group_by("specification").agg(polars.col("dynamics").mean()).sort("dynamics", nulls_last=True)
        for place, (label, mean) in enumerate(order.iter_rows()):
            runs = part.filter(polars.col("specification") == label)["dynamics"].drop_nulls()
            axes.plot(runs, [place] * len(runs), "o", color=LIGHT["line"], markersize=4)
            axes.plot(mean, place, "o", color=LIGHT["accent"], markersize=6)
        axes.set_yticks(range(len(order)), order["specification"].to_list(), fontsize=8)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlabel("dynamics score (MMD² between seeds); lower is better", color=LIGHT["ink"])
        axes.set_title(name, loc="left", color=LIGHT["ink"], fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
