"""Joint diagonalisation of several symmetric matrices by one rotation, at every point."""

from __future__ import annotations

import numpy as np

from unweave.compiled import cached

SWEEPS = 30


def diagonalise(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations W (n, k, k) and the diagonals (n, k, m) of W^T A W for matrices A (n, m, k, k).

    Jacobi's rotations for several matrices [Cardoso1996]_: each rotates two axes by the angle that minimises the sum of
    squares off the diagonals, over all m matrices.
    """
    n, m, k, _ = matrices.shape
    turned = np.array(matrices, float)
    rotations = np.tile(np.eye(k), (n, 1, 1))
    _rotate(turned, rotations)
    return rotations, np.diagonal(turned, axis1=2, axis2=3).transpose(0, 2, 1).reshape(n, k, m)


@cached(nogil=True)
def _rotate(matrices, rotations):  # pragma: no cover
    k = matrices.shape[2]
    for i in range(len(matrices)):
        for _ in range(SWEEPS):
            largest = 0.0
            for p in range(k):
                for q in range(p + 1, k):
                    largest = max(largest, _turn(matrices[i], rotations[i], p, q))
            if largest < 1e-7:
                break


@cached(nogil=True)
def _turn(matrices, rotation, p, q):  # pragma: no cover
    """Rotate axes p and q by the best angle, and return the absolute value of its sine."""
    m, k, _ = matrices.shape
    on = off = both = 0.0
    for r in range(m):
        gap, twice = matrices[r, p, p] - matrices[r, q, q], 2.0 * matrices[r, p, q]
        on += gap * gap
        off += twice * twice
        both += gap * twice
    angle = 0.25 * np.arctan2(2.0 * both, on - off)
    c, s = np.cos(angle), np.sin(angle)
    if abs(s) < 1e-12:
        return 0.0
    for r in range(m):
        a = matrices[r]
        for row in range(k):
            one, other = a[row, p], a[row, q]
            a[row, p], a[row, q] = c * one + s * other, c * other - s * one
        for row in range(k):
            one, other = a[p, row], a[q, row]
            a[p, row], a[q, row] = c * one + s * other, c * other - s * one
    for row in range(k):
        one, other = rotation[row, p], rotation[row, q]
        rotation[row, p], rotation[row, q] = c * one + s * other, c * other - s * one
    return abs(s)
