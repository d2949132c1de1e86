"""The dimension of a data manifold, from how far neighbours spread in each direction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unweave.errors import UsageError
from unweave.geometry.neighbours import nearest
from unweave.geometry.tangents import spreads_around

NEIGHBOURS = 24
POINTS = 2_000
"""Points whose surroundings are looked at; their neighbours are sought among all."""
CLEAR_RATIO = 2.5
"""A fall of the spread by more than this is steep."""


class Dimension(NamedTuple):
    """An estimate of a manifold's dimension, and the evidence for it."""

    dim: int
    spreads: np.ndarray
    """The mean square of neighbours' distances along the 1st, 2nd, … principal direction, as shares of the first."""
    ratio: float
    """How many times the spread falls behind direction `dim`; 1 where no fall is clear and all directions count."""


def estimate_dim(points: Any, neighbours: int = NEIGHBOURS) -> Dimension:
    """Return the dimension behind which the spread of neighbours first falls steeply.

    Within a small surrounding a manifold is as wide in all its own directions, and in all others only as far as it is
    curved. Where no fall is steeper than `CLEAR_RATIO`, every coordinate counts.
    """
    x = np.asarray(points, float)
    if x.ndim != 2 or len(x) < 3 or not np.isfinite(x).all():
        raise UsageError("the dimension is estimated from an array (n, D) of 3 finite points or more")
    near = nearest(x, min(neighbours, len(x) - 1))
    rows = np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int)
    spreads = spreads_around(x, near, rows).mean(axis=0)
    shares = spreads / max(spreads[0], np.finfo(float).tiny)
    falls = shares[:-1] / np.maximum(shares[1:], 1e-9)
    steep = np.nonzero(falls > CLEAR_RATIO)[0]
    if len(steep) == 0:
        return Dimension(len(shares), shares, 1.0)
    return Dimension(int(steep[0]) + 1, shares, float(falls[steep[0]]))
