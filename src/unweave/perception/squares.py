"""The compiled loop that compares feature vectors: numba is imported with this file."""

from __future__ import annotations

import numpy as np

from unweave.compiled import cached

BLOCK = 4096
"""Number of squares summed in single precision; their sums are added in double precision."""


@cached(nogil=True)
def squared_distances(features, pairs, distances):
    """Sum (f - g)² over the features (n, d), float32, of pairs (m, 2) of rows, into distances (m,)."""
    for p in range(len(pairs)):
        one, other = features[pairs[p, 0]], features[pairs[p, 1]]
        total = 0.0
        for start in range(0, len(one), BLOCK):
            total += _block(one[start : start + BLOCK], other[start : start + BLOCK])
        distances[p] = total


@cached(nogil=True, fastmath={"reassoc", "contract"})
def _block(one, other):
    total = np.float32(0)
    for i in range(len(one)):
        apart = one[i] - other[i]
        total += apart * apart
    return total
