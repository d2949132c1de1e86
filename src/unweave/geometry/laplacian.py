"""The second-order connection Laplacian on symmetric traceless matrices, applied without ever being built."""

from __future__ import annotations

import numpy as np
from numba import njit

from unweave.geometry.neighbours import Graph

LANES = 8
"""Vectors that are worked on together: as many as fit a register of the processor."""


def traceless_basis(k: int) -> np.ndarray:
    """Return an orthonormal basis of the symmetric traceless matrices: (k (k + 1) / 2 - 1, k, k).

    First come the pairs (E_ab + E_ba) / sqrt(2), then the diagonals (1, …, 1, -r, 0, …) / sqrt(r (r + 1)).
    """
    rows, columns = np.tril_indices(k, -1)
    basis = np.zeros((k * (k + 1) // 2 - 1, k, k))
    place = np.arange(len(rows))
    basis[place, rows, columns] = basis[place, columns, rows] = 0.5**0.5
    for r in range(1, k):
        diagonal = np.zeros(k)
        diagonal[:r], diagonal[r] = 1, -r
        basis[len(rows) + r - 1] = np.diag(diagonal) / np.sqrt(r * (r + 1))
    return basis


class Laplacian:
    r"""The operator (L A)_i = A_i - sum_j Q_ij A_j Q_ij^T / sqrt(n_i n_j) on a symmetric traceless matrix a point.

    It is the second-order connection Laplacian [Pfau2020]_ scaled by the numbers n_i of neighbours, whose spectrum lies
    between 0 and 2 for any graph. Coordinates are those of an orthonormal basis, so it is exactly symmetric; a product
    costs k² numbers an edge, while blocks of the matrix would hold (k (k + 1) / 2 - 1)².
    """

    def __init__(self, graph: Graph, connection: np.ndarray) -> None:
        self.graph, self.connection = graph, connection
        self.k = connection.shape[1]
        self.size = len(graph.degrees)
        self.width = self.k * (self.k + 1) // 2 - 1
        degrees = np.maximum(graph.degrees, 1).astype(np.float32)
        self.weights = 1 / np.sqrt(degrees)
        self.basis = traceless_basis(self.k).astype(np.float32)
        self._full = np.empty(0, np.float32)

    def apply(
        self,
        x: np.ndarray,
        scale: float = 1.0,
        shift: float = 0.0,
        before: np.ndarray | None = None,
        minus: float = 0.0,
    ) -> np.ndarray:
        """Return scale · L x + shift · x - minus · before for vectors x, (n, d, b) with b a multiple of `LANES`."""
        shape = (self.size, self.k, self.k, x.shape[2])
        if self._full.shape != shape:
            self._full = np.empty(shape, np.float32)
        _unpack(x, self.weights, self._full)
        out = np.empty_like(x)
        g = self.graph
        before = x if before is None else before
        _apply(
            g.starts, g.targets, self.connection, self._full, x, before, self.weights,
            np.float32(scale), np.float32(shift), np.float32(minus), out,
        )  # fmt: skip
        return out

    def matrices(self, x: np.ndarray) -> np.ndarray:
        """Return the symmetric matrices (n, b, k, k) of vectors (n, d, b)."""
        return np.einsum("ndb,dij->nbij", x, self.basis)


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def _unpack(x, weights, full):  # pragma: no cover
    """Turn coordinates into matrices times the weight of their point."""
    n, k = full.shape[:2]
    lanes = full.shape[3]
    root = np.float32(0.5**0.5)
    pairs = k * (k - 1) // 2
    for i in range(n):
        w = weights[i]
        place = 0
        for a in range(k):
            for b in range(a):
                for c in range(lanes):
                    value = w * root * x[i, place, c]
                    full[i, a, b, c] = value
                    full[i, b, a, c] = value
                place += 1
        for c in range(lanes):
            full[i, 0, 0, c] = np.float32(0)
        for r in range(1, k):
            share = np.float32(1 / np.sqrt(r * (r + 1.0))) * w
            for c in range(lanes):
                value = share * x[i, pairs + r - 1, c]
                full[i, r, r, c] = -np.float32(r) * value
                for a in range(r):
                    full[i, a, a, c] += value


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "reassoc"})
def _apply(starts, targets, carry, full, x, before, weights, scale, shift, minus, out):  # pragma: no cover
    """Fill out with scale · L x + shift · x - minus · before, from weighted matrices."""
    n, k = full.shape[:2]
    lanes = full.shape[3]
    root = np.float32(2**0.5)
    pairs = k * (k - 1) // 2
    rows = full.reshape(n, k, k * lanes)
    half, turned = np.empty(k * lanes, np.float32), np.empty((k, k * lanes), np.float32)
    total = np.empty((k, k * lanes), np.float32)
    own = scale + shift
    for i in range(n):
        total[:] = np.float32(0)
        for entry in range(starts[i], starts[i + 1]):
            _add_carried(carry[entry], rows[targets[entry]], half, turned, total, lanes)
        w = scale * weights[i]
        place = 0
        for a in range(k):
            for b in range(a):
                for c in range(lanes):
                    out[i, place, c] = (
                        own * x[i, place, c] - minus * before[i, place, c] - w * root * total[a, b * lanes + c]
                    )
                place += 1
        for r in range(1, k):  # the sum of the diagonal so far stands in its first entry
            share = np.float32(1 / np.sqrt(r * (r + 1.0))) * w
            place = pairs + r - 1
            for c in range(lanes):
                value = share * (total[0, c] - np.float32(r) * total[r, r * lanes + c])
                total[0, c] += total[r, r * lanes + c]
                out[i, place, c] = own * x[i, place, c] - minus * before[i, place, c] - value


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "reassoc"})
def _add_carried(q, matrix, half, turned, total, lanes):  # pragma: no cover
    """Add the lower half of Q A Q^T to a total; rows of matrices and lanes lie behind each other, for long loops."""
    k = len(q)
    for a in range(k):
        half[:] = np.float32(0)
        _add_rows(q[a], matrix, half, k * lanes)
        for b in range(k):
            for c in range(lanes):
                turned[b, a * lanes + c] = half[b * lanes + c]
    for a in range(k):
        _add_rows(q[a], turned, total[a], (a + 1) * lanes)


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "reassoc"})
def _add_rows(weights, rows, into, stop):  # pragma: no cover
    """Add weighted rows to one, four at a time, so that sums stay in registers for longer."""
    k = len(weights)
    for first in range(0, k - 3, 4):
        a, b, c, d = weights[first], weights[first + 1], weights[first + 2], weights[first + 3]
        for t in range(stop):
            into[t] += a * rows[first, t] + b * rows[first + 1, t] + c * rows[first + 2, t] + d * rows[first + 3, t]
    for last in range(k - k % 4, k):
        a = weights[last]
        for t in range(stop):
            into[t] += a * rows[last, t]
