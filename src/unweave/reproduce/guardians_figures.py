"""The map of scores, metric by encoder in each world, and floors over the numbers of rows and factors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from unweave.report.style import LIGHT
from unweave.reproduce.guardians_claims import CLAIM_OF
from unweave.reproduce.guardians_page import Score, mean, missed_share, of_size, sizes_of
from unweave.reproduce.guardians_worlds import ENCODERS, WORLDS

HEAT = LinearSegmentedColormap.from_list("heat", ["#ffffff", "#9cc3ea", "#1f6fc0"])
WRONG = "#c2421a"
ENDS = ("floor", "ceiling")
GAP = 0.7
"""Space between groups of metrics, in cells, for the name of their claim."""


def map_figure(scores: Sequence[Score], size: tuple[int, int]) -> Figure:
    """Draw every score of one size: the colour is the adjusted value, a triangle marks a missed claim."""
    own = of_size(scores, size)
    metrics = _ordered(own)
    figure = Figure(figsize=(13.5, 2 * _height(metrics) + 0.5), layout="constrained")
    grid = figure.subplots(2, 2, sharey=True)
    for axes, world in zip(grid.flat, WORLDS, strict=True):
        _world(axes, [each for each in own if each.world == world], metrics)
        axes.set_title(f"{world} factors", loc="left", color=LIGHT["ink"], fontsize=12, pad=74)
    for axes in grid[:, 0]:
        _name(axes, metrics)
    figure.suptitle(
        f"Scores at {size[0]:,} rows of {size[1]} factors. Number: the value. Colour: its position between floor "
        "(white) and ceiling (blue);\ngrey: undefined. Triangles: too high or too low for the metric's claim.",
        x=0.01,
        ha="left",
        color=LIGHT["muted"],
        fontsize=10,
    )
    return figure


def sizes_figure(scores: Sequence[Score]) -> Figure:
    """Draw the mean floor and the share of missed claims of every metric, by size."""
    metrics, sizes = _ordered(scores), sizes_of(scores)
    figure = Figure(figsize=(4.4 + 1.1 * len(sizes), _height(metrics)), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for place, title in zip(axes, ("floor", "claims missed"), strict=True):
        for row, metric in zip(_places(metrics), metrics, strict=True):
            for column, size in enumerate(sizes):
                own = [each for each in of_size(scores, size) if each.metric == metric]
                value = mean([each.floor for each in own]) if title == "floor" else missed_share(own)
                if value is not None:
                    text = _short(value) if title == "floor" else f"{100 * value:.0f} %"
                    _cell(place, column, row, text, None if abs(value) > 1 else value)
        _frame(place, [float(column) for column in range(len(sizes))], [f"{n:,} × {k}" for n, k in sizes], metrics)
        place.set_title(title, loc="left", color=LIGHT["ink"], fontsize=11, pad=62)
    _name(axes[0], metrics)
    return figure


def _world(axes: Axes, scores: Sequence[Score], metrics: Sequence[str]) -> None:
    """Draw one world: a column for each encoder, and one each for the mean floor and ceiling."""
    columns = [*range(len(ENCODERS)), *(len(ENCODERS) + 0.3 + place for place in range(len(ENDS)))]
    for row, metric in zip(_places(metrics), metrics, strict=True):
        own = [each for each in scores if each.metric == metric]
        for column, encoder in enumerate(ENCODERS):
            here = [each for each in own if each.encoder == encoder]
            value, adjusted = mean([each.value for each in here]), mean([each.adjusted for each in here])
            if value is not None:
                _cell(axes, column, row, _short(value), adjusted)
            wrong = mean([each.verdict for each in here])
            if wrong is not None and abs(wrong) >= 0.5:
                _triangle(axes, column + 0.34, row, up=wrong > 0)
        for column, end in zip(columns[len(ENCODERS) :], ENDS, strict=True):
            value = mean([getattr(each, end) for each in own])
            if value is not None:
                axes.text(column, row, _short(value), ha="center", va="center", fontsize=7.5, color=LIGHT["muted"])
    _frame(axes, columns, [*ENCODERS, *ENDS], metrics)


def _cell(axes: Axes, column: float, row: float, text: str, shade: float | None) -> None:
    """Draw a value on its colour; without one, on grey."""
    inside = 0.0 if shade is None else float(np.clip(shade, 0, 1))
    colour = LIGHT["line"] if shade is None else HEAT(inside)
    axes.fill(
        [column - 0.48, column + 0.48, column + 0.48, column - 0.48],
        np.array([-1, -1, 1, 1]) * 0.48 + row,
        color=colour,
    )
    axes.text(
        column - 0.06,
        row,
        text,
        ha="center",
        va="center",
        fontsize=7.5,
        color="white" if inside > 0.7 else LIGHT["ink"],
    )


def _triangle(axes: Axes, x: float, y: float, *, up: bool) -> None:
    axes.plot(x, y, marker="^" if up else "v", markersize=6, color=WRONG, markeredgecolor="white", markeredgewidth=0.7)


def _height(metrics: Sequence[str]) -> float:
    """Return the height of a panel with its headings, in inches."""
    return 1.3 + 0.225 * (float(_places(metrics)[-1]) + 1)


def _frame(axes: Axes, columns: Sequence[float], names: Sequence[str], metrics: Sequence[str]) -> None:
    axes.set(xlim=(-0.6, max(columns) + 0.6), ylim=(_places(metrics)[-1] + 0.6, -1.2))
    axes.set_xticks(list(columns), list(names), rotation=55, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=9, labelcolor=LIGHT["ink"])
    for spine in axes.spines.values():
        spine.set_visible(False)


def _name(axes: Axes, metrics: Sequence[str]) -> None:
    """Write the names of metrics on the left, with their claim above each group."""
    places = _places(metrics)
    axes.set_yticks(places.tolist(), list(metrics), fontsize=9)
    for place, metric, before in zip(places, metrics, [None, *metrics[:-1]], strict=True):
        if before is None or CLAIM_OF[before] != CLAIM_OF[metric]:
            axes.annotate(
                CLAIM_OF[metric],
                (axes.get_xlim()[0], place - 0.5),
                xytext=(-4, 1),
                textcoords="offset points",
                ha="right",
                va="bottom",
                fontsize=8,
                fontweight="bold",
                color=LIGHT["accent"],
                annotation_clip=False,
            )


def _ordered(scores: Sequence[Score]) -> list[str]:
    there = {each.metric for each in scores}
    return [metric for metric in CLAIM_OF if metric in there]


def _places(metrics: Sequence[str]) -> NDArray[np.float64]:
    """Return the row of each metric, with a gap where another claim begins."""
    changes = [0.0, *(float(CLAIM_OF[a] != CLAIM_OF[b]) for a, b in pairwise(metrics))]
    return np.arange(len(metrics)) + GAP * np.cumsum(changes)


def _short(value: float) -> str:
    """Return a score in a few characters.

    >>> _short(0.987), _short(-0.02), _short(50.07), _short(-0.001)
    ('.99', '−.02', '50', '.00')
    """
    value = round(value, 2) + 0.0  # avoids "−0"
    digits = 0 if abs(value) >= 9.95 else 1 if abs(value) >= 1 else 2
    text = f"{value:.{digits}f}".replace("-", "−")
    return text if digits < 2 else text.replace("0.", ".", 1)
