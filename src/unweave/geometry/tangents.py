"""Tangent spaces by local principal components: the directions in which a point's neighbours lie."""

from __future__ import annotations

import numpy as np

CHUNK = 2**22
"""Numbers of neighbours' offsets held at a time."""


def tangent_spaces(points: np.ndarray, near: np.ndarray, dim: int) -> np.ndarray:
    """Return at every point an orthonormal basis of the first `dim` principal directions of x_j - x_i: (n, D, dim).

    `near` (n, m) holds the neighbours j of every i; i itself may fill up a row, for it adds nothing. Where neighbours
    span fewer directions, any others complete the basis.
    """
    frames = np.empty((*points.shape, dim))
    for rows in _chunks(points, near):
        offsets = points[near[rows]] - points[rows, None]
        flat = offsets.transpose(0, 2, 1)
        if near.shape[1] >= points.shape[1]:
            frames[rows] = np.linalg.eigh(flat @ offsets)[1][:, :, : -dim - 1 : -1]
        else:  # the other product has the same eigenvalues but zeros, and is smaller
            inside = np.linalg.eigh(offsets @ flat)[1][:, :, : -dim - 1 : -1]
            frames[rows] = np.linalg.qr(flat @ inside)[0]
    return frames


def spreads_around(points: np.ndarray, near: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the mean squares of x_j - x_i along principal directions, largest first, at some points i."""
    found = []
    for chunk in _chunks(points[rows], near):
        offsets = points[near[rows[chunk]]] - points[rows[chunk], None]
        found.append(np.linalg.svd(offsets, compute_uv=False) ** 2 / near.shape[1])
    return np.concatenate(found)


def _chunks(points: np.ndarray, near: np.ndarray) -> list[slice]:
    size = max(1, CHUNK // (near.shape[1] * points.shape[1]))
    return [slice(start, start + size) for start in range(0, len(points), size)]
