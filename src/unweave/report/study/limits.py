"""The axis of a score: its limits, the better direction, and its floor and ceiling."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import polars
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from unweave.report.study.cells import direction
from unweave.report.style import LIGHT, number

REACH = 0.6
"""A floor or a ceiling is drawn if it extends the axis by at most this share."""


def score_axis(
    axes: Axes, rows: polars.DataFrame, metric: str, drawn: Iterable[float], which: Literal["x", "y"]
) -> None:
    """Set the limits, ticks and label of the axis of a score, and draw its floor and ceiling lightly.

    `drawn` are all values that must be visible. A floor or ceiling far from them is only named in the label.
    """
    low, high = _extent(drawn)
    marks = {name: _middle(rows, name) for name in ("floor", "ceiling")}
    reach = REACH * (high - low)
    near = [value for value in marks.values() if value is not None and low - reach <= value <= high + reach]
    low, high = min([low, *near]), max([high, *near])
    room = 0.04 * (high - low)
    span = axes.axvline if which == "x" else axes.axhline
    for value in near:
        span(value, color=LIGHT["muted"], linewidth=0.9, linestyle=(0, (1, 2)), zorder=0.5)
    (axes.set_xlim if which == "x" else axes.set_ylim)(low - room, high + room)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(round(value, 9))))
    text = "\n".join(filter(None, [", ".join(filter(None, [metric, direction(metric)])), _told(marks)]))
    axis.set_label_text(text, color=LIGHT["muted"], fontsize=9, parse_math=False)


def _extent(drawn: Iterable[float]) -> tuple[float, float]:
    """Return the smallest and the largest value, slightly apart if they are equal."""
    values = np.array([value for value in drawn if value is not None], dtype=float)
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    least = max(abs(low), abs(high), 1e-3) * 0.02
    return (low, high) if high - low >= least else (low - least, high + least)


def _middle(rows: polars.DataFrame, name: str) -> float | None:
    """Return the median floor or ceiling of the runs; None if they have none."""
    if name not in rows.columns:
        return None
    found = rows[name].drop_nulls().median()
    return float(found) if isinstance(found, int | float) else None


def _told(marks: dict[str, float | None]) -> str:
    return " · ".join(f"{name} {number(value, 2)}" for name, value in marks.items() if value is not None)
