"""The connection: the rotation that carries the tangent space of a point into that of its neighbour."""

from __future__ import annotations

import numpy as np

from unweave.compiled import cached
from unweave.geometry.neighbours import Graph

STEPS = 12
"""The most Newton steps for a rotation; the few nearly orthogonal frames that need more take an SVD."""


def connection(frames: np.ndarray, graph: Graph) -> np.ndarray:
    r"""Return Q_ij = U V^T, where U S V^T is the SVD of F_i^T F_j, for every entry of the graph: (entries, k, k).

    This orthogonal matrix minimises |F_j - F_i Q_ij|: it carries coordinates in frame F_j into the nearest in F_i. Q_ji
    is its transpose, exactly.
    """
    sources, targets = graph.sources, graph.targets
    carried = np.empty((len(targets), frames.shape[2], frames.shape[2]), np.float32)
    back = np.argsort(targets, kind="stable")  # entry p is (i, j) and entry back[p] is (j, i)
    there = np.zeros(len(targets), bool)
    _fill(frames, sources, targets, back, carried, there)
    rest = np.nonzero(~there & (sources < targets))[0]
    left, _, right = np.linalg.svd(frames[sources[rest]].transpose(0, 2, 1) @ frames[targets[rest]])
    carried[rest] = left @ right
    carried[back[rest]] = carried[rest].transpose(0, 2, 1)
    return carried


@cached(nogil=True)
def _fill(frames, sources, targets, back, carried, there):  # pragma: no cover
    """Fill in the rotations that the iteration finds, and record which these are."""
    width, k = frames.shape[1:]
    x, square, new = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    for entry in range(len(targets)):
        i, j = sources[entry], targets[entry]
        if j < i:
            continue
        for a in range(k):
            for b in range(k):
                total = 0.0
                for axis in range(width):
                    total += frames[i, axis, a] * frames[j, axis, b]
                x[a, b] = total
        there[entry] = _to_rotation(x, square, new)
        for a in range(k):
            for b in range(k):
                carried[entry, a, b] = x[a, b]
                carried[back[entry], b, a] = x[a, b]


@cached(nogil=True)
def _to_rotation(x, square, new):  # pragma: no cover
    """Replace x, of singular values up to 1, by its orthogonal polar factor; return whether it converged.

    Newton and Schulz: X <- X (3 I - X^T X) / 2, which squares the distance from an orthogonal matrix.
    """
    k = len(x)
    for _ in range(STEPS):
        off = 0.0
        for a in range(k):
            for b in range(a + 1):
                total = 0.0
                for c in range(k):
                    total += x[c, a] * x[c, b]
                square[a, b] = total
                square[b, a] = total
                miss = total - 1.0 if a == b else total
                off += miss * miss
        if off < 1e-14:
            return True
        for a in range(k):
            for b in range(k):
                total = 0.0
                for c in range(k):
                    total += x[a, c] * square[c, b]
                new[a, b] = 1.5 * x[a, b] - 0.5 * total
        for a in range(k):
            for b in range(k):
                x[a, b] = new[a, b]
    return False
