"""Codes brought to one scale before a learner sees them."""

from __future__ import annotations

import numpy as np

from unweave.metrics.inputs import Pair

FAR = 1e12
"""A judged code is at most this many deviations away: a code that hardly moves where it is fitted must not overflow."""


def standardise(fitted: Pair, judged: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return both sets of codes less the fitted rows' means and over their deviations.

    A code that is constant in the fitted rows becomes 0 in both sets: nothing can be learnt from it.
    """
    codes = fitted[0]
    spread = np.where(np.ptp(codes, axis=0) > 0, codes.std(axis=0), 0.0)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-150)
    centre = codes.mean(axis=0)
    return (codes - centre) * scale, np.clip((judged[0] - centre) * scale, -FAR, FAR)
