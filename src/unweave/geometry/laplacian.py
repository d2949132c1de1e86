"""The second-order connection Laplacian on symmetric traceless matrices, applied without building the matrix.

A product is a sum over the edges of the graph. The work at an edge is written in LLVM instructions, by Python that runs
once, when numba compiles the kernel for a k: matrices are then lists of `Vector`, sums stay in registers, and
vectorisation does not depend on the compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from unweave.compiled import cached
from unweave.geometry.neighbours import Graph
from unweave.geometry.simd import LANES, Memory, Vector, opened, whole


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
    r"""The operator (L A)_i = A_i - sum_j Q_ij A_j Q_ij^T / sqrt(n_i n_j) on one symmetric traceless matrix per point.

    It is the second-order connection Laplacian [Pfau2020]_ scaled by the numbers n_i of neighbours, whose spectrum lies
    between 0 and 2 for any graph. Coordinates are those of an orthonormal basis, so it is exactly symmetric; a product
    needs k² numbers per edge, while blocks of the matrix would hold (k (k + 1) / 2 - 1)².
    """

    def __init__(self, graph: Graph, connection: np.ndarray) -> None:
        self.graph, self.connection = graph, np.ascontiguousarray(connection, np.float32)
        self.k = connection.shape[1]
        self.size = len(graph.degrees)
        self.width = self.k * (self.k + 1) // 2 - 1
        self.weights = 1 / np.sqrt(np.maximum(graph.degrees, 1).astype(np.float32))
        self.basis = traceless_basis(self.k).astype(np.float32)

    def apply(
        self,
        x: np.ndarray,
        scale: float = 1.0,
        shift: float = 0.0,
        before: np.ndarray | None = None,
        minus: float = 0.0,
        *,
        replace: bool = False,
    ) -> np.ndarray:
        """Return scale · L x + shift · x - minus · before for vectors x, (n, d, b) with b a multiple of `LANES`.

        With `replace`, the result takes the place of `before`.
        """
        x = np.ascontiguousarray(x, np.float32)
        before = x if before is None else np.ascontiguousarray(before, np.float32)
        if x.shape[:2] != (self.size, self.width) or x.shape[2] % LANES or before.shape != x.shape:
            raise ValueError(f"vectors must be ({self.size}, {self.width}, a multiple of {LANES}), not {x.shape}")
        out = before if replace and before is not x else np.empty_like(x)
        _apply(
            (0,) * self.k, self.graph.starts, self.graph.targets, self.connection, self.weights, x, before,
            np.float32(scale), np.float32(shift), np.float32(minus), out,
        )  # fmt: skip
        return out

    def matrices(self, x: np.ndarray) -> np.ndarray:
        """Return the symmetric matrices (n, b, k, k) of vectors (n, d, b)."""
        return np.einsum("ndb,dij->nbij", x, self.basis)


@cached(nogil=True)
def _apply(axes, starts, targets, connection, weights, x, before, scale, shift, minus, out):  # pragma: no cover
    """Fill out with scale · L x + shift · x - minus · before.

    `axes` is any tuple of length k: the compiler knows the length of a tuple, but not the value of a number.
    """
    k = len(axes)
    n, width, lanes = x.shape
    total = np.empty((k * (k + 1) // 2, LANES), np.float32)
    for i in range(n):
        for lane in range(0, lanes, LANES):
            total[:] = 0
            for entry in range(starts[i], starts[i + 1]):
                j = np.int64(targets[entry])
                place = j * width * lanes + lane
                _add_carried(axes, connection, entry * k * k, x, place, lanes, weights[j], total)  # pyright: ignore[reportCallIssue]
            place, weight = i * width * lanes + lane, scale * weights[i]
            _write(axes, total, weight, x, scale + shift, before, minus, out, place, lanes)  # pyright: ignore[reportCallIssue]


@intrinsic
def _add_carried(_, axes, connection, entry, x, place, step, weight, total):  # pragma: no cover
    """Add the lower half of weight · Q A Q^T to a total: for each row (Q A)_a, its products with the rows of Q."""
    k = axes.count

    def instructions(context, builder, signature, args):
        _, q, entry, x, place, step, weight, total = opened(context, builder, signature, args)
        x, total = Memory(builder, x, place, step), Memory(builder, total, whole(0), whole(LANES))
        q = [Memory(builder, q, builder.add(entry, whole(e)), whole(k)) for e in range(k)]  # its columns
        matrix = matrix_of([x[d] for d in range(k * (k + 1) // 2 - 1)], k, Vector.filled(builder, weight))
        with cgutils.for_range(builder, whole(k)) as rows:
            a, after = rows.index, builder.add(rows.index, whole(1))
            half = [q[0].number(a) * matrix[0][b] for b in range(k)]
            for e in range(1, k):
                half = [half[b] + q[e].number(a) * matrix[e][b] for b in range(k)]
            first = builder.udiv(builder.mul(a, after), whole(2))  # of row a, in a lower half written row by row
            with cgutils.for_range(builder, after) as columns:
                b = columns.index
                here = builder.add(first, b)
                total[here] = sum((half[e] * q[e].number(b) for e in range(k)), start=total[here])
        return context.get_dummy_value()

    return types.void(axes, connection, entry, x, place, step, weight, total), instructions


@intrinsic
def _write(_, axes, total, weight, x, own, before, minus, out, place, step):  # pragma: no cover
    """Write own · x - minus · before - weight · (the coordinates of a total) into out, for one point."""
    k = axes.count

    def instructions(context, builder, signature, args):
        _, total, weight, x, own, before, minus, out, place, step = opened(context, builder, signature, args)
        weight, own, minus = (Vector.filled(builder, each) for each in (weight, own, minus))
        x, before, out = (Memory(builder, each, place, step) for each in (x, before, out))
        total = Memory(builder, total, whole(0), whole(LANES))
        lower = [[total[a * (a + 1) // 2 + b] for b in range(a + 1)] for a in range(k)]
        for d, value in enumerate(coordinates_of(lower)):
            out[d] = own * x[d] - minus * before[d] - weight * value
        return context.get_dummy_value()

    return types.void(axes, total, weight, x, own, before, minus, out, place, step), instructions


def matrix_of(coordinates: Sequence[Any], k: int, weight: Any) -> list[list[Any]]:
    """Return weight · the symmetric matrix with these coordinates in `traceless_basis`."""
    matrix: list[list[Any]] = [[None] * k for _ in range(k)]
    values = iter(coordinates)
    pair = weight * 0.5**0.5
    for a in range(k):
        for b in range(a):
            matrix[a][b] = matrix[b][a] = pair * next(values)
    for r in range(1, k):
        value = weight * (r * (r + 1)) ** -0.5 * next(values)
        for a in range(r):
            matrix[a][a] = value if r == 1 else matrix[a][a] + value
        matrix[r][r] = value * -r
    return matrix


def coordinates_of(lower: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the coordinates in `traceless_basis` of the symmetric matrix with this lower half, whatever its trace."""
    found = [value * 2**0.5 for row in lower for value in row[:-1]]
    above = lower[0][0]
    for r in range(1, len(lower)):
        found.append((above - lower[r][r] * r) * (r * (r + 1)) ** -0.5)
        above = above + lower[r][r]
    return found
