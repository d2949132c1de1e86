"""Which latent follows which factor: rank correlations as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from unweave.errors import UsageError
from unweave.report.style import HEAT, LIGHT, plain


def rank_correlation(codes: ArrayLike, factors: ArrayLike) -> NDArray[np.float64]:
    """Return Spearman's rank correlation of every latent with every factor, (latents, factors).

    Equal values share their mean rank; a column that never changes correlates with nothing (0).

    >>> rank_correlation([[1.0], [10.0], [100.0]], [[0, 2], [1, 1], [2, 0]]).round(6).tolist()
    [[1.0, -1.0]]
    """
    return _standard_ranks(codes).T @ _standard_ranks(factors)


def association(
    axes: Axes,
    codes: ArrayLike,
    factors: ArrayLike,
    names: Sequence[str],
    *,
    latents: Sequence[int] | NDArray[np.int64] | None = None,
) -> Axes:
    """Draw the absolute rank correlation of factors (rows) and latents (columns; all, or those given).

    In a disentangled code every factor has one dark cell, in a column of its own. A factor without an order
    (a shape) or on a circle (a hue, an angle) can be encoded well and still look pale.
    """
    strengths = np.abs(rank_correlation(codes, factors)).T
    columns = np.arange(strengths.shape[1]) if latents is None else np.asarray(latents)
    if len(names) != len(strengths):
        raise UsageError(f"there are {len(strengths)} factors and {len(names)} names")
    for (row, column), strength in np.ndenumerate(strengths[:, columns]):
        _cell(axes, row, column, float(strength))
    axes.set(xlim=(0, len(columns)), ylim=(len(names), 0))
    axes.set_xticks(np.arange(len(columns)) + 0.5, [f"z{latent}" for latent in columns])
    axes.set_yticks(np.arange(len(names)) + 0.5, list(names), parse_math=False)
    axes.xaxis.tick_top()
    plain(axes).tick_params(labelcolor=LIGHT["ink"], labelsize=10)
    axes.grid(visible=False)
    return axes


def association_figure(
    codes: ArrayLike,
    factors: ArrayLike,
    names: Sequence[str],
    *,
    latents: Sequence[int] | NDArray[np.int64] | None = None,
) -> Figure:
    """Return the heat map of `association` as a figure, with cells of one size however many there are."""
    count = np.shape(codes)[1] if latents is None else len(latents)
    longest = max(map(len, names), default=0)
    size = (0.3 + 0.1 * longest + 0.56 * count, 0.4 + 0.4 * len(names))
    figure = Figure(figsize=size, layout="constrained")
    association(figure.add_subplot(), codes, factors, names, latents=latents)
    return figure


def _cell(axes: Axes, row: int, column: int, strength: float) -> None:
    """Draw one cell: the opacity is the value, so that it reads on any background."""
    square = Rectangle((column + 0.03, row + 0.03), 0.94, 0.94, color=HEAT, alpha=strength, linewidth=0)
    axes.add_patch(square)
    ink = "#ffffff" if strength > 0.6 else LIGHT["ink"] if strength > 0.2 else LIGHT["muted"]
    axes.text(column + 0.5, row + 0.5, f"{strength:.2f}", color=ink, ha="center", va="center", fontsize=9)


def _standard_ranks(table: ArrayLike) -> NDArray[np.float64]:
    """Return the ranks in each column, centred and of length 1 (0 for a column that never changes)."""
    columns = np.atleast_2d(np.asarray(table)).T
    ranks = np.stack([_ranks(column) for column in columns], axis=1)
    ranks -= ranks.mean(axis=0)
    length = np.linalg.norm(ranks, axis=0)
    return np.divide(ranks, length, out=np.zeros_like(ranks), where=length > 0)


def _ranks(column: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return the rank of every value, equal values sharing the mean of theirs."""
    _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
