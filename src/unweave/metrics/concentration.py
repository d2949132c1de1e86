"""How far importances are concentrated on one factor: one minus the entropy of their shares."""

from __future__ import annotations

import math

import numpy as np


def shares(amounts: np.ndarray, axis: int) -> np.ndarray:
    """Return each amount's share of the sum along the axis: 0 where the sum is 0."""
    total = amounts.sum(axis=axis, keepdims=True)
    return np.divide(amounts, total, out=np.zeros_like(amounts), where=total > 0)


def concentration(importance: np.ndarray) -> np.ndarray:
    """Return one minus the entropy, to base k, of the shares of each row: (d, k, ...) to (d, ...).

    It is 0 for a row of zeros, that is, for a latent that no factor uses.

    >>> concentration(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    array([1., 0., 0.])
    """
    parts = shares(importance, axis=1)
    entropy = -(parts * np.log(np.where(parts > 0, parts, 1.0))).sum(axis=1)
    found = np.clip(1 - entropy / math.log(max(2, parts.shape[1])), 0.0, 1.0)  # clips rounding only
    return np.where(parts.any(axis=1), found, 0.0)
