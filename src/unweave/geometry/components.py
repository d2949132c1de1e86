"""Group the axes of a point: axes whose eigenvalue vectors have the same direction belong together."""

from __future__ import annotations

import numpy as np

COSINE = 0.5
"""Axes whose eigenvalue vectors have a larger cosine belong to one factor."""


def group_axes(diagonals: np.ndarray) -> np.ndarray:
    """Return the factor, 0, 1, …, of every axis (n, k), from the eigenvalues (n, k, m) of the axes.

    Axes are joined if the cosine between their vectors of eigenvalues is above `COSINE`; a factor is a connected
    component of that graph. Factors are numbered by their first axis.
    """
    lengths = np.linalg.norm(diagonals, axis=2, keepdims=True)
    unit = diagonals / np.where(lengths > 0, lengths, 1)
    joined = unit @ unit.transpose(0, 2, 1) > COSINE
    k = diagonals.shape[1]
    joined |= np.eye(k, dtype=bool)
    for middle in range(k):  # the closure of a relation, by Warshall
        joined |= joined[:, :, middle, None] & joined[:, middle, None, :]
    first = joined.argmax(axis=2)  # the first axis of each axis's part
    return (np.cumsum(first == np.arange(k), axis=1) - 1)[np.arange(len(first))[:, None], first]
