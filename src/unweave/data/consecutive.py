"""Draw consecutive images: neighbouring rows, or two steps of a slow walk over the factors."""

from __future__ import annotations

import numpy as np

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.data.restricted import Reweighted
from unweave.data.table import require_grid
from unweave.data.wrapper import Wrapper
from unweave.errors import UsageError, unknown

TIMES = ("auto", "rows", "walk")
"""Sources of time: the order of the rows, a slow walk over the grid of factors, or the one that the data set has."""


def draw_consecutive(data: Dataset, n: int, rng: np.random.Generator, *, time: str = "auto", step: int = 1) -> Integers:
    """Return the indices (2, n) of images and of the images that follow them.

    If the order of rows is time, the next row follows. On a grid, every factor moves by -step to step, with equal
    probabilities; a step that would leave the grid, or lead to an image that the set never draws, is not taken. So a
    move is as likely as its reverse, and both images of a pair have the same distribution.
    """
    if _time_of(data, time) == "rows":
        first = np.minimum(data.sample(n, rng), len(data) - 2)
        return np.stack([first, first + 1])
    first, sizes = data.sample(n, rng), np.array(data.factors.sizes)
    factors = data.factors.from_index(first)
    moved = factors + rng.integers(-step, step + 1, size=factors.shape)
    second = data.factors.to_index(np.where((moved < 0) | (moved >= sizes), factors, moved))
    if (drawn := _drawn(data)) is not None:
        second = np.where(np.isin(second, drawn), second, first)
    return np.stack([first, second])


def require_consecutive(data: Dataset, time: str = "auto", step: int = 1) -> None:
    """Raise a `UsageError` if `draw_consecutive` cannot work."""
    if time not in TIMES:
        raise unknown("source of time", time, TIMES)
    if step < 1:
        raise UsageError(f"step must be at least 1, not {step}")
    if _time_of(data, time) == "walk":
        require_grid(data, "a walk over the factors")
        if max(data.factors.sizes) < 2:
            raise UsageError(f"{data.name} has no factor that varies, so there is no walk")
    elif data.is_grid:
        raise UsageError(f"the rows of {data.name} are in the order of its factors, not of time: use the time 'walk'")
    elif len(data) < 2:
        raise UsageError(f"{data.name} has a single row, so no row follows another")


def _time_of(data: Dataset, time: str) -> str:
    return time if time != "auto" else "walk" if data.is_grid else "rows"


def _drawn(data: Dataset) -> Integers | None:
    """Return the indices that a set can draw, or None for all of them."""
    while isinstance(data, Wrapper) and not isinstance(data, Reweighted):
        data = data.base
    return data.allowed if isinstance(data, Reweighted) else None
