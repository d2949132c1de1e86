"""Figures of the rates: compared with the published ones, and with one of the authors' choices changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.progress import OnProgress
from unweave.reproduce.linear_gaussian_rates import PUBLISHED, SCORES, Rate, binomial, rates
from unweave.reproduce.linear_gaussian_settings import AUTHORS, SETTINGS, Setting
from unweave.reproduce.parts import Kept, compute_always

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#1f66b0", "#c8553d")
Variations = Mapping[str, Mapping[str, Setting]]
"""For each choice that is varied, the setting of each of its values."""


def _noisy(factor: float) -> Setting:
    """Return the authors' setting with another noise variance of Y."""
    three, five = (replace(factors, noise=factor * factors.noise) for factors in AUTHORS.factors)
    return replace(AUTHORS, factors=(three, five))


VARIED: Variations = {
    "factors": {
        "theirs": AUTHORS,
        "exact": replace(AUTHORS, rounded=False),
        "unit": replace(AUTHORS, rounded=False, factors=SETTINGS["clean"].factors),
    },
    "noise of Y, σ²": {"¼": _noisy(0.25), "theirs": AUTHORS, "×4": _noisy(4.0)},
    "noise of decoder": {"diag.": AUTHORS, "full": replace(AUTHORS, decoder="full")},
    "start": {
        "theirs": AUTHORS,
        "scaled": replace(AUTHORS, start="encoder"),
        "random": replace(AUTHORS, start="random"),
        "axes": replace(AUTHORS, start="principal"),
    },
    "iterations": {f"{steps:,}": replace(AUTHORS, steps=steps) for steps in (50, 500, 5000)},
    "stop": {"rest": AUTHORS, "5 % error": replace(AUTHORS, stop="tolerance")},
    "starts of a cell": {"1": replace(AUTHORS, best_of=(1, 1)), "2": replace(AUTHORS, best_of=(2, 2)), "6, 2": AUTHORS},
    "Cov(X) in scores": {"I": AUTHORS, "true": replace(AUTHORS, codes="true")},
    "ties, nats": {f"{tie:g}": replace(AUTHORS, tie=tie) for tie in (0.0, 1e-12, 1e-9)},
}
"""The authors' choices, varied one at a time."""


def draw_rates(found: Sequence[Rate]) -> Figure:
    """Draw published and our rates side by side, both with their 95 % intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for place, score in enumerate(SCORES, start=1):
        axes = figure.add_subplot(1, 2, place)
        chosen = [rate for rate in found if rate.score == score]
        places = np.arange(len(chosen))
        published, ours = [binomial(rate.published) for rate in chosen], [rate.ours for rate in chosen]
        for shift, estimates, colour, label in (
            (-0.2, published, "#c3cad2", "published"),
            (0.2, ours, COLOURS[0], "ours"),
        ):
            values, low, high = np.array(estimates).T
            reach = np.array([values - low, high - values])
            bars = {"color": colour, "ecolor": "#1b1f24", "error_kw": {"lw": 0.8}, "label": label}
            axes.bar(places + shift, values, 0.38, yerr=reach, **bars)
        axes.set_xticks(places, [rate.scenario for rate in chosen], fontsize=8)
        axes.set(ylim=(0, 105), ylabel="success, %")
        axes.set_title(score, loc="left", fontsize=11, fontweight="bold")
        _plain(axes)
        if place == 1:
            axes.legend(frameon=False, fontsize=8)
    return figure


def draw_sensitivity(
    base: Setting, varied: Variations, runs: int, seed: int, on_progress: OnProgress, kept: Kept = compute_always
) -> Figure:
    """Draw how success changes as one choice is varied: scenarios in rows, choices in columns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(17, 10.5), layout="constrained")
    panels = figure.subplots(len(PUBLISHED), len(varied), sharey=True)
    settings = list(dict.fromkeys(setting for values in varied.values() for setting in values.values()))
    total, done = len(PUBLISHED) * len(settings), 0
    for row, name in enumerate(PUBLISHED):
        known: dict[Setting, tuple[Rate, Rate]] = {}
        for setting in settings:
            on_progress(f"{name}, varied", done, total)
            known[setting] = kept(f"{name}, {setting}", partial(_varied_rates, name, setting, runs, seed))
            done += 1
        for column, (choice, values) in enumerate(varied.items()):
            axes = panels[row, column]
            _panel(axes, name, [known[setting] for setting in values.values()])
            axes.set_xticks(range(len(values)), list(values), fontsize=7)
            places = [place for place, setting in enumerate(values.values()) if setting == base]
            axes.axvspan(places[0] - 0.25, places[0] + 0.25, color="#eef1f4", lw=0, zorder=0)
            if row == 0:
                axes.set_title(choice, loc="left", fontsize=10)
            if column == 0:
                axes.set_ylabel(f"{name}, %", fontsize=9)
    panels[0, 0].legend(frameon=False, fontsize=7, loc="lower right")
    figure.suptitle(
        "Success when one choice of the authors' setting (grey) is varied; dotted: as published, with its 95 %",
        x=0.01,
        ha="left",
        fontsize=12,
    )
    return figure


def _varied_rates(name: str, setting: Setting, runs: int, seed: int) -> tuple[Rate, Rate]:
    return rates("varied", name, setting.studies(name, runs, seed))


def _panel(axes: Axes, name: str, pairs: Sequence[tuple[Rate, Rate]]) -> None:
    for index, (score, colour) in enumerate(zip(SCORES, COLOURS, strict=True)):
        printed, low, high = binomial(PUBLISHED[name][index])
        axes.axhspan(low, high, color=colour, alpha=0.07, lw=0)
        axes.axhline(printed, color=colour, lw=0.8, ls=":")
        axes.plot([pair[index].ours.value for pair in pairs], "o-", ms=3, lw=1.4, color=colour, label=score)
    axes.set(ylim=(-4, 104), xlim=(-0.5, len(pairs) - 0.5))
    _plain(axes)


def _plain(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=8, length=2)
