"""How many eigenvalues are near zero: those below the steepest rise of the spectrum."""

from __future__ import annotations

import numpy as np

FLOOR = 0.05
"""Share of the largest value below which values count as equal: how near to nothing they come is chance."""


def rises(values: np.ndarray) -> np.ndarray:
    """Return how many times each value but the first is as large as the one before it.

    A share of the largest, `FLOOR`, is added to both. The ratio and not the difference of neighbours tells a spectrum's
    gap: the rotation group has nine eigenvalues close together far below the next ten, and these lie further from
    them than from zero.
    """
    lifted = np.maximum(values, 0) + FLOOR * max(values[-1], np.finfo(float).tiny)
    return lifted[1:] / lifted[:-1]


def split(values: np.ndarray) -> int:
    """Return how many values lie below the steepest rise."""
    return int(np.argmax(rises(values))) + 1 if len(values) > 1 else len(values)
