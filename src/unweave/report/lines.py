"""Vectors drawn as lines, features from left to right: traversals and reconstructions."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from PIL import Image

from unweave.data import Dataset
from unweave.report.latents import code_of_one, latent_note, traversed
from unweave.report.protocols import Floats, RunLike
from unweave.report.style import LIGHT, number, plain
from unweave.report.surveys import Survey

FEATURES = 60
"""The most features drawn: those that change most in the figure, in their own order."""
NAMED = 24
"""Up to this many features have their names below a line."""
COLUMNS = 2
PANEL = (4.6, 1.9)
"""Width and height of the lines of one latent, in inches."""
COLOURS = "coolwarm"
"""From the lowest value of a latent, blue, to the highest, red."""


def traversal_figure(
    run: RunLike, seen: Survey, *, columns: int = 9, span: float = 2.0, rows: int | None = None, seed: int = 0
) -> Figure:
    """Return a figure with a panel for every latent and a line for each of its values; see `traversals`."""
    code, latents = code_of_one(run, seed), seen.order[:rows]
    values = [traversed(seen, latent, columns, span) for latent in latents]
    drawn = []
    for latent, steps in zip(latents, values, strict=True):
        codes = np.tile(code, (len(steps), 1))
        codes[:, latent] = steps
        drawn.append(_shown(run, run.decode(codes)))
    chosen = _most_changing([np.ptp(lines, axis=0) for lines in drawn])
    figure, panels = _panels(len(latents))
    for axes, latent, steps, lines in zip(panels, latents, values, drawn, strict=True):
        colours = matplotlib.colormaps[COLOURS](np.linspace(0, 1, len(lines)))
        for line, colour in zip(lines[:, chosen], colours, strict=True):
            axes.plot(line, color=colour, linewidth=1.2, marker="." if len(chosen) == 1 else None)
        _finish(axes, run.data, chosen, f"z{latent}", latent_note(seen, latent, steps).partition("\n")[0])
    return _aligned(figure, panels)


def reconstruction_figure(run: RunLike, n: int = 6, seed: int = 0) -> Figure:
    """Return a figure of n random vectors, each with its reconstruction."""
    rows = np.random.default_rng(seed).integers(len(run.data), size=n)
    vectors = run.data.inputs(rows)
    before, after = _shown(run, vectors), _shown(run, run.reconstruct(vectors))
    chosen = _most_changing([np.ptp(before, axis=0)])
    figure, panels = _panels(n)
    for axes, row, old, new in zip(panels, rows, before[:, chosen], after[:, chosen], strict=True):
        axes.plot(old, color=LIGHT["muted"], linewidth=2.4, alpha=0.5, marker="." if len(chosen) == 1 else None)
        axes.plot(new, color=LIGHT["accent"], linewidth=1.2, marker="." if len(chosen) == 1 else None)
        _finish(axes, run.data, chosen, f"row {row:,}", "")
    return _aligned(figure, panels)


def sample_figure(data: Dataset, n: int = 30, seed: int = 0) -> Figure:
    """Return a figure of random vectors, all on the same axes."""
    vectors = data.inputs(data.sample(n, np.random.default_rng([seed, 1])))
    chosen = _most_changing([np.ptp(vectors, axis=0)])
    figure = Figure(figsize=(2 * PANEL[0], 2 * PANEL[1]), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(vectors[:, chosen].T, color=LIGHT["accent"], linewidth=0.8, alpha=0.5)
    title = f"{data.name}: {len(data):,} vectors of {data.shape[0]:,} features, {n} random ones"
    _finish(axes, data, chosen, title, "")
    return figure


def unit(run: RunLike) -> str:
    """Return what the axis of values means."""
    return "deviations from the mean" if _standardised(run) else "the data's own units"


def chosen_note(data: Dataset) -> str:
    """Return a note if not all features are drawn."""
    count = data.shape[0]
    return "" if count <= FEATURES else f" Of {number(count)} features the {FEATURES} that change most are drawn."


def picture(figure: Figure) -> Image.Image:
    """Return a figure as a picture on white."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=120, facecolor=LIGHT["paper"])
    return Image.open(buffer).convert("RGB")


def _standardised(run: RunLike) -> bool:
    return bool(run.config["training"].get("standardise"))


def _shown(run: RunLike, vectors: Any) -> Floats:
    """Return vectors as drawn: in standard deviations from the mean if the model standardises them."""
    if not _standardised(run):
        return vectors
    mean, deviation = run.data.scale()
    return (vectors - np.array(mean)) / np.array(deviation)


def _most_changing(ranges: list[Floats]) -> np.ndarray:
    """Return the features whose range is largest in any panel, in their own order."""
    change = np.max(ranges, axis=0)
    return np.sort(np.argsort(-change, kind="stable")[:FEATURES])


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    rows = -(-count // COLUMNS)
    figure = Figure(figsize=(COLUMNS * PANEL[0], rows * PANEL[1]), layout="constrained")
    return figure, [figure.add_subplot(rows, COLUMNS, place) for place in range(1, count + 1)]


def _finish(axes: Axes, data: Dataset, chosen: np.ndarray, left: str, right: str) -> None:
    """Write titles and the names of features, or their numbers if there are many."""
    axes.set_title(left, loc="left", color=LIGHT["ink"], fontsize=10, fontweight="bold", parse_math=False)
    axes.set_title(right, loc="right", color=LIGHT["muted"], fontsize=9)
    names = [str(name) for name in getattr(data, "features", range(data.shape[0]))]
    shown = np.arange(len(chosen)) if len(chosen) <= NAMED else np.linspace(0, len(chosen) - 1, 6).round().astype(int)
    axes.set_xticks(shown, [names[chosen[place]][:12] for place in shown], parse_math=False)
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    plain(axes).tick_params(axis="x", labelsize=7, rotation=45 if len(shown) > 6 else 0)


def _aligned(figure: Figure, panels: list[Axes]) -> Figure:
    """Give all panels one range of values, so that latents compare; only the lowest panels name features."""
    for axes in panels[:-COLUMNS]:
        axes.tick_params(axis="x", labelbottom=False)
    low, high = np.min([axes.get_ylim()[0] for axes in panels]), np.max([axes.get_ylim()[1] for axes in panels])
    for axes in panels:
        axes.set_ylim(float(low), float(high))
    return figure
