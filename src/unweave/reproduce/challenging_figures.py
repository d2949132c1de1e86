"""Figures after those of the large-scale study: one for each of its five questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unweave.report.style import LIGHT
from unweave.reproduce.challenging_findings import (
    ACCURACY,
    LABEL_FREE,
    MEAN,
    SAMPLED,
    present,
)
from unweave.reproduce.challenging_published import METRICS
from unweave.study import analysis

COLOURS = ("#1f66b0", "#b3541e", "#2f8f5b", "#8250a8", "#c2a01a", "#5b6570")
HEAT = "RdBu"
EFFICIENCY = "downstream-gbt-efficiency"


def figures(table: polars.DataFrame) -> dict[str, Figure]:
    """Return the figures that the table has scores for."""
    supervised = present(table, METRICS)
    found: dict[str, Figure] = {}
    if {SAMPLED, MEAN} <= {*table["metric"]}:
        found["total-correlation"] = total_correlation(table)
    if len(supervised) > 1:
        found["agreement"] = correlations(table, supervised, supervised)
    found["methods"] = methods(table, supervised)
    if free := present(table, LABEL_FREE):
        found["label-free"] = correlations(table, free, supervised)
    if outcomes := present(table, (ACCURACY, EFFICIENCY)):
        found["downstream"] = correlations(table, outcomes, supervised)
    return found


def total_correlation(table: polars.DataFrame) -> Figure:
    """Draw the total correlation of sampled and mean codes over the strength: points are seeds, lines medians."""
    data = table["data"].unique(maintain_order=True).to_list()
    figure = Figure(figsize=(10, 3.4 * len(data)), layout="constrained")
    panels = figure.subplots(len(data), 2, squeeze=False)
    for row, name in zip(panels, data, strict=True):
        for axes, metric, what in zip(row, (SAMPLED, MEAN), ("sampled codes", "mean codes"), strict=True):
            own = table.filter((polars.col("data") == name) & (polars.col("metric") == metric))
            _over_strength(axes, own.filter(polars.col("method") != "annealed-vae"))
            axes.set_title(f"{what}, {name}", loc="left", fontsize=10, color=LIGHT["ink"])
            axes.set_ylabel("total correlation, nats")
    panels[0, 0].legend(fontsize=8, frameon=False)
    return figure


def _over_strength(axes: Axes, rows: polars.DataFrame) -> None:
    """Draw each method over the ranks of its strengths, weakest first, because their units differ."""
    most = 1
    for number, ((method,), own) in enumerate(rows.group_by("method", maintain_order=True)):
        strengths = own["strength"].unique().sort().to_list()
        most = max(most, len(strengths))
        scores = [own.filter(polars.col("strength") == strength)["value"].to_numpy() for strength in strengths]
        shift = 0.05 * (number - 2)
        for place, values in enumerate(scores):
            axes.plot(np.full(len(values), place + shift), values, ".", color=COLOURS[number], alpha=0.5, markersize=5)
        places = np.arange(len(scores)) + shift
        axes.plot(places, [np.median(values) for values in scores], color=COLOURS[number], label=str(method))
    axes.set_yscale("symlog", linthresh=0.1)
    axes.set_xticks(range(most), ["weakest", *[""] * (most - 2), "strongest"] if most > 1 else ["one"])
    _plain(axes)


def methods(table: polars.DataFrame, metrics: Sequence[str]) -> Figure:
    """Draw the scores of every run by method: strengths from left to right, one point per seed."""
    data = table["data"].unique(maintain_order=True).to_list()
    names = table["method"].unique(maintain_order=True).to_list()
    figure = Figure(figsize=(13, 1 + 2.1 * len(metrics)), layout="constrained")
    panels = figure.subplots(len(metrics), len(data), squeeze=False, sharey="row")
    for row, metric in zip(panels, metrics, strict=True):
        for axes, name in zip(row, data, strict=True):
            own = table.filter((polars.col("data") == name) & (polars.col("metric") == metric))
            for place, method in enumerate(names):
                _strip(axes, place, own.filter(polars.col("method") == method), COLOURS[place % len(COLOURS)])
            axes.set_xticks(range(len(names)), names if metric == metrics[-1] else [""] * len(names), rotation=15)
            axes.set_title(f"{METRICS[metric]}, {name}", loc="left", fontsize=10, color=LIGHT["ink"])
            _plain(axes)
    return figure


def _strip(axes: Axes, place: float, rows: polars.DataFrame, colour: str) -> None:
    """Draw the runs of one method around its position, and the mean of each strength as a dash."""
    strengths = rows["strength"].unique().sort().to_list()
    for number, strength in enumerate(strengths):
        values = rows.filter(polars.col("strength") == strength)["value"].drop_nulls().to_numpy()
        x = place + 0.5 * ((number + 0.5) / len(strengths) - 0.5)
        axes.plot(np.full(len(values), x), values, ".", color=colour, alpha=0.6, markersize=5)
        if len(values):
            axes.plot([x - 0.05, x + 0.05], [values.mean()] * 2, color=LIGHT["ink"], linewidth=1.2)


def correlations(table: polars.DataFrame, down: Sequence[str], across: Sequence[str]) -> Figure:
    """Draw the rank correlations over the runs of each data set, of some scores with others."""
    data = table["data"].unique(maintain_order=True).to_list()
    size = (2 + 0.75 * len(across)) * len(data), 1.6 + 0.42 * len(down)
    figure = Figure(figsize=size, layout="constrained")
    for axes, name in zip(figure.subplots(1, len(data), squeeze=False, sharey=True)[0], data, strict=True):
        runs = analysis.one_row_per_run(table.filter(polars.col("data") == name), [*dict.fromkeys([*down, *across])])
        values = np.array([[_correlation(runs, a, b) for b in across] for a in down])
        axes.imshow(values, cmap=HEAT, vmin=-1, vmax=1, aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            text = "–" if np.isnan(value) else f"{value:.2f}".replace("-", "−")
            dark = not np.isnan(value) and abs(value) > 0.6
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else LIGHT["ink"])
        axes.set_xticks(range(len(across)), [METRICS.get(each, each) for each in across], rotation=35, ha="right")
        axes.set_yticks(range(len(down)), [METRICS.get(each, each) for each in down])
        axes.set_title(name, loc="left", fontsize=10, color=LIGHT["ink"])
        axes.tick_params(length=0, labelsize=8)
    return figure


def _correlation(runs: polars.DataFrame, one: str, other: str) -> float:
    found = analysis.rank_correlation(runs[one].to_numpy(), runs[other].to_numpy(), runs["seed"].to_numpy())
    return float("nan") if found.correlation is None else found.correlation


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8, colors=LIGHT["muted"])
    axes.grid(axis="y", color=LIGHT["line"], linewidth=0.6)
