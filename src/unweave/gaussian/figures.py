"""Pictures of a study: scores over the grid of (gamma, lambda), and the information plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unweave.gaussian.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(study: Study, title: str = "") -> Figure:
    """Draw four maps over the grid, and the codes' information about factors against that about observations."""
    from matplotlib.figure import Figure

    im, sap = study.successes
    maps = {
        "I_m, nats": study.score("im").mean(axis=2),
        "SAP": study.score("sap").mean(axis=2),
        "success of I_m, %": 100 * im.mean(axis=2),
        "success of SAP, %": 100 * sap.mean(axis=2),
    }
    figure = Figure(figsize=(11.5, 6.2), layout="constrained")
    spaces = figure.add_gridspec(2, 4)
    for place, (name, values) in enumerate(maps.items()):
        _map(figure.add_subplot(spaces[place // 2, place % 2]), study, name, values)
    _plane(figure, figure.add_subplot(spaces[:, 2:]), study)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def _map(axes: Axes, study: Study, name: str, values: np.ndarray) -> None:
    share = name.endswith("%")
    low, high = (0.0, 100.0) if share else (0.0, max(float(values.max()), 1e-9))
    axes.imshow(values, cmap="Blues", vmin=low, vmax=high, aspect="auto")
    if values.size <= 60:
        for (row, column), value in np.ndenumerate(values):
            colour = "white" if value > 0.6 * (high - low) else "#1b1f24"
            text = f"{value:.0f}" if share else f"{value:.2f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    for axis, numbers in ((axes.xaxis, study.lambdas), (axes.yaxis, study.gammas)):
        ticks = np.unique(np.linspace(0, len(numbers) - 1, min(len(numbers), 7)).astype(int))
        axis.set_ticks(ticks, [f"{numbers[tick]:g}" for tick in ticks], fontsize=8)
    axes.tick_params(length=0)
    axes.set(xlabel="λ", ylabel="γ")
    axes.set_title(name, loc="left", fontsize=10)


def _plane(figure: Figure, axes: Axes, study: Study) -> None:
    observed, factors = study.information
    gammas = np.broadcast_to(study.gammas[:, None, None], study.shape)
    points = axes.scatter(
        observed.ravel(), factors.ravel(), c=gammas.ravel(), s=14, alpha=0.8, cmap="viridis", linewidths=0
    )
    figure.colorbar(points, ax=axes, label="γ", shrink=0.6)
    axes.set(xlabel="I(X; Y), nats", ylabel="I(X; V), nats", xlim=(0, None), ylim=(0, None))
    axes.set_title("information plane: one dot for each cell", loc="left", fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
