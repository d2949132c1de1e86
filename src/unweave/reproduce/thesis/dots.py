"""A table of the thesis as a picture: printed numbers as circles, ours as dots on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from unweave.report.style import LIGHT, plain
from unweave.reproduce.frame import Row


def dots(rows: Sequence[Row], what: str) -> Figure:
    """Draw every row on its own line."""
    figure = Figure(figsize=(9, 0.9 + 0.22 * len(rows)), layout="constrained")
    axes = plain(figure.subplots())
    places = np.arange(len(rows))[::-1]
    for place, each in zip(places, rows, strict=True):
        if np.isfinite(each.low):
            axes.plot([each.low, each.high], [place, place], color=LIGHT["accent"], linewidth=1)
        if each.published is not None:
            axes.plot(each.published, place, "o", markersize=9, markerfacecolor="none", color=LIGHT["alert"])
        axes.plot(each.ours, place, ".", markersize=7, color=LIGHT["accent"])
    axes.set_yticks(places, [each.what for each in rows], fontsize=8)
    axes.set_ylim(-1, len(rows))
    axes.set_title(f"{what}: thesis as circles, ours as dots", loc="left", fontsize=10, color=LIGHT["ink"])
    return figure
