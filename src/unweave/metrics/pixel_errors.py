"""The compiled loop that compares images pixel by pixel: numba is imported with this file."""

from __future__ import annotations

import numpy as np

from unweave.compiled import cached

BLOCK = 4096
"""Number of pixels whose squared differences, below 2¹⁶ each, fit into 32 bits; eight are processed at once."""


@cached(nogil=True)
def squared_errors(images, pairs, errors):
    """Sum (x - y)² over the pixels of pairs (t, count, 2) of images (t, size, pixels), into errors (t, count)."""
    for t in range(len(images)):
        for p in range(pairs.shape[1]):
            one, other = images[t, pairs[t, p, 0]], images[t, pairs[t, p, 1]]
            total = 0
            for start in range(0, len(one), BLOCK):
                total += _block_error(one[start : start + BLOCK], other[start : start + BLOCK])
            errors[t, p] = total


@cached(nogil=True)
def _block_error(one, other):
    total = np.int32(0)
    for i in range(len(one)):
        apart = np.int16(np.int16(one[i]) - np.int16(other[i]))
        total = np.int32(total + np.int32(apart) * np.int32(apart))
    return total
