"""Lasso regressions from correlations alone: no pass over the rows for each pair of models."""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-10
"""The largest move of a coefficient in the last sweep."""
SWEEPS = 20_000
"""Sweeps after which coordinate descent stops, converged or not: only predictors that are copies take so many."""


def lasso(gram: np.ndarray, products: np.ndarray, alpha: float) -> np.ndarray:
    """Return the coefficients (d, t) of t lasso regressions on the same d predictors, by coordinate descent.

        w = argmin  |y - X w|^2 / 2n + alpha |w|_1

    which needs of the data only X'X / n, (d, d), with a diagonal of 1, and X'Y / n, (d, t).
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
