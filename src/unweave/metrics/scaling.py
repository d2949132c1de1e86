"""Codes brought to one scale before a predictor is fitted to them."""

from __future__ import annotations

import numpy as np

from unweave.metrics.inputs import Pair

FAR = 1e12
"""Test codes are cut at this many standard deviations: one that hardly varies in the train rows must not overflow."""


def standardise(train: Pair, test: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return both sets of codes less the means of the train rows and over their standard deviations.

    A code that is constant in the train rows becomes 0 in both sets: nothing can be learned from it.
    """
    codes = train[0]
    spread = np.where(np.ptp(codes, axis=0) > 0, codes.std(axis=0), 0.0)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-150)
    centre = codes.mean(axis=0)
    return (codes - centre) * scale, np.clip((test[0] - centre) * scale, -FAR, FAR)
