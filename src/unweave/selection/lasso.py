"""Lasso regressions from correlations alone, without a pass over the rows for each pair of models."""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-10
"""Stop when no coefficient changes by more than this in a sweep."""
SWEEPS = 20_000
"""Largest number of sweeps; only predictors that are copies of each other need more."""


def lasso(gram: np.ndarray, products: np.ndarray, alpha: float) -> np.ndarray:
    """Return the coefficients (d, t) of t lasso regressions on the same d predictors, by coordinate descent.

        w = argmin  |y - X w|^2 / 2n + alpha |w|_1

    It needs only X'X / n, (d, d), with a diagonal of 1, and X'Y / n, (d, t).
    """
    coefficients = np.zeros_like(products)
    residual = products.copy()  # X'(Y - X w) / n
    for _ in range(SWEEPS):
        largest = 0.0
        for a in range(len(gram)):
            reach = residual[a] + coefficients[a]
            moved = np.sign(reach) * np.maximum(np.abs(reach) - alpha, 0.0) - coefficients[a]
            coefficients[a] += moved
            residual -= gram[:, a, None] * moved
            largest = max(largest, float(np.abs(moved).max(initial=0.0)))
        if largest <= TOLERANCE:
            break
    return coefficients
