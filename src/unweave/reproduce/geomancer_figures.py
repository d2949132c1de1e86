"""Errors of GeoManCEr against the number of points, and on objects beside chance."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from unweave.data.objects3d import Objects3D
from unweave.geometry import chance_error
from unweave.report.style import LIGHT, number, plain
from unweave.reproduce.geomancer_objects import DIMS, FoundFactors
from unweave.reproduce.geomancer_products import FLAT, Trials

COLOURS = ("#1f66b0", "#c2571a", "#2f8f5b", "#8a4fa3", "#9a7b16", "#b8336a", "#5b6770")
DASHES = (0, (4, 3))
LARGEST = np.pi / 2
TICKS = {0.01: "0.01", 0.02: "0.02", 0.05: "0.05", 0.1: "0.1", 0.2: "0.2", 0.5: "0.5", 1: "1", LARGEST: "π/2"}
"""Of the axis of errors."""
SHOWN = 9
"""Number of objects in the strip."""


def products_figure(products: Mapping[str, Mapping[int, Trials]]) -> Figure:
    """Draw the error over the number of points, one panel per number of factors; hollow if factors are wrong."""
    panels: dict[str, list[str]] = {}
    for name, sizes in products.items():
        panels.setdefault(_kind(name, len(next(iter(sizes.values())).dims)), []).append(name)
    figure = Figure(figsize=(2.9 * len(panels) + 0.7, 5.0), layout="constrained")
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    for place, (title, names) in zip(axes, panels.items(), strict=True):
        _dress(place, title)
        place.set(xscale="log", yscale="log")
        for order, (name, colour) in enumerate(zip(names, cycle(COLOURS), strict=False)):
            _line(place, name, products[name], colour, shift=1.04 ** (order - (len(names) - 1) / 2))
        place.set_xlabel("points", color=LIGHT["muted"])
        place.legend(
            frameon=False, fontsize=8, labelcolor=LIGHT["ink"], loc="upper left", bbox_to_anchor=(-0.03, -0.13)
        )
    _ticks(axes[0], products)
    axes[0].set_ylabel("error, radians", color=LIGHT["muted"])
    told = (
        "GeoManCEr on products of manifolds: mean error, and its range over samples\n"
        "dashed: random subspaces; hollow: wrong factors in at least one sample"
    )
    figure.suptitle(told, x=0.01, ha="left", fontsize=9, color=LIGHT["ink"])
    return figure


def objects_figure(inputs: Mapping[str, FoundFactors], seed: int) -> Figure:
    """Draw a few objects, and below them the errors at all points for each input of GeoManCEr."""
    figure = Figure(figsize=(7.2, 1.3 + len(inputs)), layout="constrained")
    strip, below = figure.subfigures(2, 1, squeeze=False, height_ratios=(0.9, 0.4 + len(inputs)))[:, 0]
    images = Objects3D(size=128, n=SHOWN, seed=seed).images(np.arange(SHOWN))
    for place, image in zip(strip.subplots(1, SHOWN, squeeze=False)[0], images, strict=True):
        place.imshow(image[:, :, 0], cmap="gray", vmin=0, vmax=255)
        place.set_axis_off()
    axes = below.subplots(len(inputs), 1, sharex=True, squeeze=False)[:, 0]
    for place, (name, found) in zip(axes, inputs.items(), strict=True):
        mean = found.errors.mean()
        counted = f"{found.count} factor{'s' * (found.count != 1)} found"
        _dress(place, f"{name}: {counted}; mean error with the number 2 given: {number(mean, 3)}")
        place.grid(visible=False)
        place.hist(found.errors, np.linspace(0, LARGEST, 73), color=LIGHT["accent"])
        place.axvline(chance_error(DIMS), color=LIGHT["ink"], linewidth=1, linestyle=DASHES)
        place.axvline(mean, color=COLOURS[1], linewidth=1.6)
        place.set(yticks=[], xlim=(0, LARGEST * 1.01))
    axes[-1].set_xticks(np.linspace(0, LARGEST, 5), ["0", "π/8", "π/4", "3π/8", "π/2"])
    axes[-1].set_xlabel("error at a point, radians; orange: mean, dashed: random subspaces", color=LIGHT["muted"])
    return figure


def _kind(name: str, factors: int) -> str:
    if name in FLAT:
        return "with flat factors"
    return {2: "two factors", 3: "three factors"}.get(factors, "four and five")


def _line(axes: Axes, name: str, sizes: Mapping[int, Trials], colour: str, shift: float) -> None:
    """Draw the error of one product, its range, its failures and its chance, slightly offset from the others."""
    points = sorted(sizes)
    places = shift * np.array(points)
    value = [np.mean(sizes[n].errors) for n in points]
    axes.axhline(sizes[points[0]].chance, color=colour, linewidth=1, linestyle=DASHES, alpha=0.7)
    axes.plot(places, value, color=colour, linewidth=1.4, label=name)
    ends = [(min(sizes[n].errors), max(sizes[n].errors)) for n in points]
    axes.vlines(places, *np.transpose(ends), color=colour, linewidth=1.2)
    for n, place, height in zip(points, places, value, strict=True):
        fill = colour if all(sizes[n].right) else LIGHT["paper"]
        axes.plot(place, height, marker="o", markersize=5, color=colour, markerfacecolor=fill)


def _ticks(axes: Axes, products: Mapping[str, Mapping[int, Trials]]) -> None:
    """Label the axes: the numbers of points, and a few errors."""
    sizes = sorted({n for each in products.values() for n in each})
    least = min(min(found.errors) for each in products.values() for found in each.values())
    axes.set_xticks(sizes, [f"{n / 1000:g}k" if n >= 1000 else str(n) for n in sizes])
    axes.set_yticks(list(TICKS), list(TICKS.values()))
    axes.set(xlim=(0.8 * sizes[0], 1.25 * sizes[-1]), ylim=(min(0.05, 0.6 * least), 1.2 * LARGEST))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())


def _dress(axes: Axes, title: str) -> None:
    plain(axes)
    axes.set_title(title, loc="left", color=LIGHT["ink"], fontsize=9)
