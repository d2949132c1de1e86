"""Standardise codes before a predictor is fitted to them."""

from __future__ import annotations

import numpy as np

from unweave.metrics.inputs import Pair

FAR = 1e12
"""Test codes are clipped to this many standard deviations, so that a latent that hardly varies cannot overflow."""


def standardise(train: Pair, test: Pair) -> tuple[np.ndarray, np.ndarray]:
    """Return both sets of codes minus the means of the train rows, divided by their standard deviations.

    A latent that is constant in the train rows becomes 0 in both sets: nothing can be learned from it.
    """
    codes = train[0]
    spread = np.where(np.ptp(codes, axis=0) > 0, codes.std(axis=0), 0.0)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-150)
    centre = codes.mean(axis=0)
    return (codes - centre) * scale, np.clip((test[0] - centre) * scale, -FAR, FAR)
