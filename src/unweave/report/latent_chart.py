"""What each latent of a run carries, and which factors it follows, as one figure."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from unweave.errors import UsageError
from unweave.metrics.inputs import bin_factors
from unweave.report.association import BINS, CELL, heat_map, normalised_information
from unweave.report.chart import Chart
from unweave.report.protocols import RunLike
from unweave.report.style import LIGHT, plain
from unweave.report.surveys import Survey, survey

BARS = 1.1
"""Height in inches of the bars."""


def latents_figure(run: RunLike, *, samples: int = 2000, seed: int = 0) -> Chart:
    """Return a figure of all latents, the most informative first: what each carries, and its share of each factor.

    Parameters
    ----------
    run
        The run.
    samples
        Random images that are encoded.
    seed
        Seed of the random images.

    Returns
    -------
    Chart
        Above, the mean KL divergence of each latent from the prior, in nats (for latents without a posterior variance,
        their variance; for categories, their entropy). Below, the share of each factor that it holds, I(z; v) / H(v): a
        disentangled code has one filled cell in each row, each in its own column. Without factors, only the upper part.

    Examples
    --------
    >>> latents_figure(unweave.Run.open("runs/first"), samples=100).savefig("latents.png")
    """
    seen = survey(run, samples=samples, seed=seed)
    if len(seen.codes) < 2:
        raise UsageError("the data set has a single image: latents cannot be measured on it")
    names = run.data.factors.names
    longest = max(map(len, names), default=8)
    chart = Chart(0.6 + 0.085 * longest + CELL[0] * len(seen.order), BARS + 0.5 + CELL[1] * len(names))
    if not len(names):
        _bars(chart.add_subplot(), seen)
        return chart
    above, below = chart.subplots(2, 1, height_ratios=[BARS, 0.35 + CELL[1] * len(names)])
    _bars(above, seen)
    above.tick_params(labelbottom=False)  # the heat map below has the same names
    known = normalised_information(seen.codes, bin_factors(seen.factors, BINS), categorical=seen.categorical)
    heat_map(below, known, names, latents=seen.order)
    return chart


def _bars(axes: Axes, seen: Survey) -> None:
    """Draw what each latent carries."""
    places = np.arange(len(seen.order)) + 0.5
    axes.bar(places, seen.carried[seen.order], width=0.8, color=LIGHT["accent"])
    axes.set(xlim=(0, len(places)))
    axes.set_xticks(places, [f"z{latent}" for latent in seen.order])
    axes.set_ylabel(seen.unit, color=LIGHT["muted"], fontsize=9)
    plain(axes)
