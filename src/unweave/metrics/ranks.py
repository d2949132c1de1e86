"""Ranks, with the mean rank for ties, from positions among the distinct values, so that a subset needs no sorting."""

from __future__ import annotations

import numpy as np


def places(columns: np.ndarray) -> np.ndarray:
    """Return each value's position among the distinct values of its column, (n, c), which has the same ranks."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in columns.T], axis=1)


def ranks_of_places(numbers: np.ndarray) -> np.ndarray:
    """Return the ranks of positions (n, c), or of any of their rows, within each column.

    >>> ranks_of_places(np.array([[0], [2], [2], [5]])).ravel()
    array([1. , 2.5, 2.5, 4. ])
    """
    ranks = np.empty(numbers.shape)
    for j, column in enumerate(numbers.T):
        counts = np.bincount(column)
        ranks[:, j] = (np.cumsum(counts) - (counts - 1) / 2)[column]
    return ranks


def ranks(columns: np.ndarray) -> np.ndarray:
    """Return the ranks of values (n, c) within each column."""
    return ranks_of_places(places(columns))
