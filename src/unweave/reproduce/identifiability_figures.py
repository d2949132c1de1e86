"""How much of the latents was found, case by case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from unweave.report.style import LIGHT, plain
from unweave.reproduce.identifiability_table import Trial, by_case, mean

PANELS = (("r2", "observed_r2", "R² of the best linear map"), ("mcc", "observed_mcc", "MCC of codes without a map"))
SPREAD = 0.14
"""Largest distance between the dots of seeds."""


def recovery_figure(trials: Sequence[Trial]) -> Figure:
    """Draw a row for each case: a dot for each seed, a cross for the mixture, a bar for the expected score."""
    cases = by_case(trials)
    figure = Figure(figsize=(8.6, 0.44 * len(cases) + 1.3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(cases))[::-1]
    for axes, (score, observed, title) in zip(panels, PANELS, strict=True):
        plain(axes)
        for place, each in zip(places, cases.values(), strict=True):
            values = [getattr(trial, score) for trial in each]
            colour = LIGHT["accent"] if each[0].holds else LIGHT["alert"]
            heights = place + np.linspace(-SPREAD, SPREAD, len(values))
            axes.scatter(values, heights, s=18, color=colour, linewidths=0, zorder=3)
            axes.scatter([mean(each, observed)], [place], s=26, color=LIGHT["muted"], marker="x", zorder=2)
            if score == "r2" and each[0].expected is not None:
                at = mean(each, "expected")
                axes.plot([at, at], [place - 0.3, place + 0.3], color=LIGHT["ink"], linewidth=1.2, zorder=1)
        axes.set_title(title, loc="left", color=LIGHT["ink"], fontsize=10)
        low = min(getattr(trial, name) for trial in trials for name in (score, observed))
        axes.set_xlim(min(max(low - 0.05, -0.05), 0.5), 1.02)
    panels[0].set_yticks(places, [f"{method}, {world}" for method, world in cases], color=LIGHT["ink"])
    words = "blue: assumptions hold · orange: they do not · ×: the mixture itself · bar: best R² of Gaussian codes"
    figure.supxlabel(words, fontsize=8, color=LIGHT["muted"])
    return figure
