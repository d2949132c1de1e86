"""Plots of what a loss sees of a data set: distance matrices, cumulative distances, factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from unweave.errors import UsageError
from unweave.report.chart import Chart
from unweave.report.study.cells import COLOURS
from unweave.report.style import LIGHT, number, plain

if TYPE_CHECKING:
    from unweave.perception.verdict import Kind

KINDS: dict[Kind, str] = {
    "seen": LIGHT["accent"],
    "half seen": f"{LIGHT['accent']}70",
    "confused": LIGHT["alert"],
    "overlooked": LIGHT["muted"],
    "unknown": LIGHT["line"],
}
"""The colour of a factor by how well the loss sees it."""
CELL = 1.15
"""Side of a distance matrix in inches."""
POINTS = 400
"""Points of a cumulative curve."""
RANDOM = "random"
BETAS = ("signal", "worth")
"""Predictions that are values of β, and span orders of magnitude."""


def distance_matrix(matrix: ArrayLike, ax: Axes | None = None, *, title: str = "") -> Axes:
    """Draw the distances between the values of a factor, darker for larger distances, from 0 to the largest.

    Parameters
    ----------
    matrix
        Distances (size, size), one of those that `unweave.perception.distance_matrices` returns.
    ax
        Where to draw; by default axes of their own.
    title
        What stands above.

    Returns
    -------
    Axes
        The axes.
    """
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise UsageError(f"a distance matrix is square, but its shape is {values.shape}")
    axes = ax or Chart(2.6, 2.7).add_subplot()
    axes.imshow(values, cmap="Blues", vmin=0, vmax=max(float(values.max()), 1e-12))
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color(LIGHT["line"])
    axes.set_title(title, fontsize=9, color=LIGHT["ink"], parse_math=False)
    return axes


def distance_matrices_figure(matrices: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> Chart:
    """Draw the distance matrices of all factors [Michlo2022]_, figures 3.4 and 3.5: one column each, one row per level.

    Parameters
    ----------
    matrices
        What `unweave.perception.distance_matrices` returns.

    Returns
    -------
    Chart
        A matplotlib figure. Each matrix has its own scale, up to the number below it.
    """
    if not matrices:
        raise UsageError("there is no factor to draw")
    levels = list(next(iter(matrices.values())))
    figure = Chart(0.6 + CELL * len(matrices), 0.35 + (CELL + 0.25) * len(levels))
    for column, (factor, found) in enumerate(matrices.items()):
        for row, level in enumerate(levels):
            axes = figure.add_subplot(len(levels), len(matrices), 1 + row * len(matrices) + column)
            distance_matrix(found[level], axes, title=factor if not row else "")
            axes.set_xlabel(number(float(found[level].max()), 3), fontsize=8, color=LIGHT["muted"], labelpad=2)
            if not column:
                axes.set_ylabel(level, fontsize=9, color=LIGHT["ink"])
    return figure


def cumulative_distances(distances: Mapping[str, NDArray[np.float64]], ax: Axes | None = None) -> Axes:
    """Draw the cumulative distances of pairs [Michlo2022]_, figure 3.13: one line per factor, and random pairs.

    Parameters
    ----------
    distances
        Perceived distances by name, as `Perception.distances` has them; "random" is drawn in black.
    ax
        Where to draw; by default axes of their own.

    Returns
    -------
    Axes
        The axes. A line further to the right is a factor that changes images more.
    """
    axes = ax or Chart(6.4, 3.6).add_subplot()
    colours = cycle(COLOURS)
    shares = np.linspace(0, 1, POINTS)
    farthest = 1.05 * max((float(np.max(values)) for values in distances.values()), default=1.0) or 1.0
    for name, values in sorted(distances.items(), key=lambda item: -float(np.mean(item[1]))):
        colour = LIGHT["ink"] if name == RANDOM else next(colours)
        # Steps, not slopes, where many pairs are equally far apart.
        x = np.quantile(values, shares, method="inverted_cdf")
        axes.step([0, *x, farthest], [0, *shares, 1], where="post", color=colour, linewidth=1.8, label=name)
    axes.set(ylim=(0, 1.01), xlim=(0, farthest))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("perceived distance", color=LIGHT["muted"], fontsize=9)
    axes.set_ylabel("share of pairs", color=LIGHT["muted"], fontsize=9)
    legend = axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for text in legend.get_texts():
        text.set_parse_math(False)
    return plain(axes)


def factors_seen(table: polars.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw each factor by how much it changes images and by whether distances follow its values.

    Parameters
    ----------
    table
        What `Perception.table` returns.
    ax
        Where to draw; by default axes of their own.

    Returns
    -------
    Axes
        The axes: right of both lines a loss sees a factor, between them it half sees it, left of them it confuses the
        factor's values. A factor without a known importance is drawn at 0.
    """
    from unweave.perception.verdict import CLEAR, ORDERED  # which loads torch

    axes = ax or Chart(6.4, 3.6).add_subplot()
    rows = table.filter(polars.col("verdict").is_not_null())
    for limit in (ORDERED, CLEAR):
        axes.axvline(limit, color=LIGHT["line"], linewidth=1.6)
    for kind, colour in KINDS.items():
        if not len(found := rows.filter(verdict=kind)):
            continue
        x, y = found["order"].to_numpy(), found["relative"].fill_null(0.0).to_numpy()
        axes.scatter(x, y, s=36, color=colour, linewidths=0, zorder=3, label=kind)
    for label, x, y in _labels(rows):
        axes.annotate(
            label, (x, y), (5, 4), textcoords="offset points", fontsize=9, color=LIGHT["ink"], parse_math=False
        )
    axes.set(xlim=(-0.05, 1.2), ylim=(0, max(1.0, 1.15 * float(rows["relative"].max() or 0.0))))  # pyright: ignore[reportArgumentType]
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("share of triplets in order (chance: 0.5)", color=LIGHT["muted"], fontsize=9)
    axes.set_ylabel("importance / random pairs", color=LIGHT["muted"], fontsize=9)
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    return plain(axes)


def _labels(rows: polars.DataFrame) -> list[tuple[str, float, float]]:
    """Return the label of each point: the names of all factors at that point, such as those of xysquares."""
    places: dict[tuple[int, int], list[tuple[str, float, float]]] = {}
    for name, x, y in rows.select("factor", "order", polars.col("relative").fill_null(0.0)).iter_rows():
        places.setdefault((round(20 * x), round(20 * y)), []).append((name, x, y))
    return [(_few([name for name, _, _ in found]), *found[0][1:]) for found in places.values()]


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]}, {names[1]} … ({len(names)})"


def learnt_scatter(rows: polars.DataFrame, predicted: str, learnt: str, ax: Axes | None = None) -> Axes:
    """Draw what was learnt about each factor against what was predicted: one point for each factor of a run.

    Parameters
    ----------
    rows
        `Predictions.rows`.
    predicted, learnt
        Their columns, along x and y.
    ax
        Where to draw; by default axes of their own.

    Returns
    -------
    Axes
        The axes, with one colour per data set.
    """
    axes = ax or Chart(6.4, 3.6).add_subplot()
    known = rows.drop_nulls([predicted, learnt])
    for colour, ((data,), found) in zip(cycle(COLOURS), known.group_by("data", maintain_order=True), strict=False):
        x, y = found[predicted].to_numpy(), found[learnt].to_numpy()
        axes.scatter(x, y, s=14, alpha=0.6, color=colour, linewidths=0, label=str(data))
    if predicted in BETAS:
        axes.set_xscale("symlog", linthresh=1)
    axes.set_xlabel(f"{predicted}, before training", color=LIGHT["muted"], fontsize=9)
    axes.set_ylabel(f"{learnt}, after training", color=LIGHT["muted"], fontsize=9)
    legend = axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for text in legend.get_texts():
        text.set_parse_math(False)
    return plain(axes)
