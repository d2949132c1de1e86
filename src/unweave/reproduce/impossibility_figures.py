"""A grid before and after it is entangled, and scores along the family of entangled models."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import ndtr

from unweave.gaussian.impossibility import Entangler
from unweave.report.style import LIGHT, plain
from unweave.reproduce.intervals import Estimate

LINES = np.linspace(0.05, 0.95, 19)
"""Cumulative probabilities at the lines of the grid."""
FINE = ndtr(np.linspace(-5.5, 5.5, 221))
"""Cumulative probabilities at the points of a line, dense at its ends too."""
SECOND = "#c2571a"
"""The second colour, for lines of the second coordinate and the second score."""


def grid_figure(priors: Mapping[str, Entangler]) -> Figure:
    """Draw lines of equal z_1 and of equal z_2 (left), and their images under f (right), a row for each prior."""
    figure = Figure(figsize=(7.2, 3.7 * len(priors)), layout="constrained")
    axes = figure.subplots(len(priors), 2, squeeze=False)
    for (name, prior), (left, right) in zip(priors.items(), axes, strict=True):
        for axis, colour in enumerate((LIGHT["accent"], SECOND)):
            lines = _lines(prior, axis)
            left.plot(*_joined(lines), color=colour, linewidth=0.9)
            right.plot(*_joined(prior(lines)), color=colour, linewidth=0.9)
        ends = [each.ppf([0.001, 0.999]) for each in prior.marginals]
        for place, title, symbol in ((left, f"{name} z", "z"), (right, "f(z), with the same distribution", "f(z)")):
            _dress(place, title)
            place.grid(visible=False)
            place.set(xlim=ends[0], ylim=ends[1], aspect="equal")
            place.set_xlabel(f"{symbol}₁", color=LIGHT["muted"])
            place.set_ylabel(f"{symbol}₂", color=LIGHT["muted"])
    return figure


def family_figure(family: Mapping[float, Mapping[str, Estimate]], metrics: Mapping[str, str]) -> Figure:
    """Draw scores and their intervals over alpha; each alpha is a model of the same likelihood."""
    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    axes = figure.add_subplot()
    alphas = list(family)
    for (name, label), colour in zip(metrics.items(), (LIGHT["accent"], SECOND), strict=True):
        value, low, high = np.transpose([family[alpha][name] for alpha in alphas])
        axes.fill_between(alphas, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(alphas, value, color=colour, marker="o", markersize=3, linewidth=1.4, label=label)
    _dress(axes, "Scores of models with the same likelihood, uniform z")
    axes.set(xlim=(0, 0.5), ylim=(-0.02, 1.02))
    axes.set_xlabel("α, one model each", color=LIGHT["muted"])
    axes.legend(frameon=False, labelcolor=LIGHT["ink"])
    return figure


def _lines(prior: Entangler, axis: int) -> NDArray[np.float64]:
    """Return the lines on which coordinate `axis` is constant, as points (lines, points, 2)."""
    still, moving = prior.marginals[axis].ppf(LINES), prior.marginals[1 - axis].ppf(FINE)
    pair = np.meshgrid(still, moving, indexing="ij")
    return np.stack(pair if axis == 0 else pair[::-1], axis=-1)


def _joined(lines: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return all lines as one, (2, points), with gaps between them: one line is drawn faster than many."""
    gapped = np.pad(lines, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
    return gapped.reshape(-1, 2).T


def _dress(axes: Axes, title: str) -> None:
    plain(axes)
    axes.set_title(title, loc="left", color=LIGHT["ink"], fontsize=10)
