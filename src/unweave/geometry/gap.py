"""How many eigenvalues are near zero: those below the largest ratio between neighbours in the spectrum."""

from __future__ import annotations

import numpy as np

FLOOR = 0.05
"""Share of the largest value below which values count as equal, because their exact size is chance."""


def rises(values: np.ndarray) -> np.ndarray:
    """Return the ratio of each value to the previous one.

    A share of the largest, `FLOOR`, is added to both. The ratio of neighbours shows a spectrum's gap, not their
    difference: the rotation group has nine eigenvalues close together far below the next ten, and these are further
    from the nine than the nine are from zero.
    """
    lifted = np.maximum(values, 0) + FLOOR * max(values[-1], np.finfo(float).tiny)
    return lifted[1:] / lifted[:-1]


def split(values: np.ndarray) -> int:
    """Return how many values lie below the largest ratio."""
    return int(np.argmax(rises(values))) + 1 if len(values) > 1 else len(values)
