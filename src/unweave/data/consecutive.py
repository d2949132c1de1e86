"""Draw consecutive images: neighbouring rows, or two steps of a slow walk over the factors."""

from __future__ import annotations

import numpy as np

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.data.restricted import reweighted
from unweave.data.table import require_grid
from unweave.errors import UsageError, unknown

TIMES = ("auto", "rows", "walk")
"""Sources of time: the order of the rows, a slow walk over the grid of factors, or the one that the data set has."""


def draw_consecutive(data: Dataset, n: int, rng: np.random.Generator, *, time: str = "auto", step: int = 1) -> Integers:
    """Return the indices (2, n) of images and of the images that follow them.

    Of rows whose order is time, the next one follows each; only pairs of which the set draws both rows are used. On a
    grid, every factor moves by -step to step, each with the same probability; a step that would leave the grid is not
    taken. A move to an image that the set draws more rarely is accepted with the ratio of the two probabilities (the
    Metropolis rule), so both images of a pair are distributed as the set draws images.
    """
    if _time_of(data, time) == "rows":
        first = _draw_first_rows(data, n, rng)
        return np.stack([first, first + 1])
    first, sizes = data.sample(n, rng), np.array(data.factors.sizes)
    factors = data.factors.from_index(first)
    moved = factors + rng.integers(-step, step + 1, size=factors.shape)
    second = data.factors.to_index(np.where((moved < 0) | (moved >= sizes), factors, moved))
    if (drawn := reweighted(data)) is not None:
        accepted = rng.random(n) < drawn.weights(second) / drawn.weights(first)
        second = np.where(accepted, second, first)
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
    else:
        _draw_first_rows(data, 1, np.random.default_rng(0))  # raises if there is no pair


def _time_of(data: Dataset, time: str) -> str:
    return time if time != "auto" else "walk" if data.is_grid else "rows"


def _draw_first_rows(data: Dataset, n: int, rng: np.random.Generator) -> Integers:
    """Draw rows (n,) that are followed by another row of the training set."""
    if (drawn := reweighted(data)) is None:
        return np.minimum(data.sample(n, rng), len(data) - 2)  # none follows the last row
    first = drawn.allowed[:-1][np.diff(drawn.allowed) == 1]
    if not len(first):
        raise UsageError(f"{data.name} draws no two consecutive rows: choose a larger part of the rows")
    weights = drawn.weights(first)
    return rng.choice(first, size=n, p=weights / weights.sum())
