"""Which latent follows which factor: the information of each latent about each factor, and heat maps of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from unweave.errors import UsageError
from unweave.metrics.information import bin_or_number, information, known
from unweave.report.chart import Chart
from unweave.report.style import AGAINST, HEAT, LIGHT, plain

BINS = 20
"""Bins of equal width that a latent is cut into, as for MIG."""
CELL = (0.43, 0.36)
"""Width and height of a cell of a heat map in inches."""


def normalised_information(
    codes: ArrayLike, factors: ArrayLike, *, bins: int = BINS, categorical: Sequence[int] = ()
) -> NDArray[np.float64]:
    """Return the share of each factor that each latent holds, I(z_j; v_k) / H(v_k), (latents, factors).

    It is between 0 and 1, whatever the form of the relation and whether or not the factor has an order. A factor with
    more values than there are bins stays below 1; for a factor with a single value it is 0.

    Parameters
    ----------
    codes
        Codes (n, latents).
    factors
        Factors (n, k), whole numbers.
    bins
        Bins of equal width that each latent is cut into.
    categorical
        Columns of codes, counted from 0, that hold categories: each value is a bin.

    Returns
    -------
    ndarray
        The shares, (latents, k).

    Examples
    --------
    >>> normalised_information([[0.0], [1.0], [0.0], [1.0]], [[2, 0], [5, 0], [2, 1], [5, 1]]).round(6).tolist()
    [[1.0, 0.0]]
    """
    binned = bin_or_number(np.asarray(codes, dtype=np.float64), bins, categorical)
    return known(information(*binned, np.asarray(factors)))


def heat_map(
    axes: Axes,
    values: ArrayLike,
    names: Sequence[str],
    *,
    latents: Sequence[int] | NDArray[np.int64] | None = None,
) -> Axes:
    """Draw values in [0, 1], (latents, factors): one row for each factor, one column for each latent.

    In a disentangled code every factor has one filled cell, in its own column.

    Parameters
    ----------
    axes
        Matplotlib axes to draw into.
    values
        Values in [0, 1], (latents, factors).
    names
        The names of the factors.
    latents
        The latents to draw, in this order; by default all.

    Returns
    -------
    Axes
        The same axes.
    """
    strengths = np.asarray(values).T
    columns = np.arange(strengths.shape[1]) if latents is None else np.asarray(latents)
    if len(names) != len(strengths):
        raise UsageError(f"there are {len(strengths)} factors and {len(names)} names")
    for (row, column), strength in np.ndenumerate(strengths[:, columns]):
        heat_cell(axes, row, column, float(strength))
    axes.set(xlim=(0, len(columns)), ylim=(len(names), 0))
    axes.set_xticks(np.arange(len(columns)) + 0.5, [f"z{latent}" for latent in columns])
    axes.set_yticks(np.arange(len(names)) + 0.5, list(names), parse_math=False)
    axes.xaxis.tick_top()
    plain(axes).tick_params(labelcolor=LIGHT["ink"], labelsize=9)
    axes.grid(visible=False)
    return axes


def heat_map_figure(
    values: ArrayLike, names: Sequence[str], *, latents: Sequence[int] | NDArray[np.int64] | None = None
) -> Chart:
    """Return `heat_map` as a figure, with cells of a fixed size.

    Parameters
    ----------
    values
        Values in [0, 1], (latents, factors).
    names
        The names of the factors.
    latents
        The latents to draw, in this order; by default all.

    Returns
    -------
    Chart
        A matplotlib figure.
    """
    count = np.shape(values)[0] if latents is None else len(latents)
    longest = max(map(len, names), default=0)
    figure = Chart(0.25 + 0.085 * longest + CELL[0] * count, 0.35 + CELL[1] * len(names))
    heat_map(figure.add_subplot(), values, names, latents=latents)
    return figure


def heat_cell(axes: Axes, row: int, column: int, value: float) -> None:
    """Draw one cell of values in [-1, 1]: the opacity is the absolute value, so that it works on any background."""
    size = min(abs(value), 1.0)
    colour = HEAT if value >= 0 else AGAINST
    axes.add_patch(Rectangle((column + 0.03, row + 0.03), 0.94, 0.94, color=colour, alpha=size, linewidth=0))
    ink = "#ffffff" if size > 0.6 else LIGHT["ink"] if size > 0.2 else LIGHT["muted"]
    text = f"{value:.2f}".replace("-", "−")
    axes.text(column + 0.5, row + 0.5, text, color=ink, ha="center", va="center", fontsize=8)
