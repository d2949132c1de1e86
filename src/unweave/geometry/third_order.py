"""The bias of tangent spaces: what the third-order bending of the manifold adds to the error of a second-order fit."""

from __future__ import annotations

import numpy as np

from unweave.compiled import cached
from unweave.geometry.second_order import dot, factorised, fill_offsets, fill_terms, slopes, variance

SIZE = 2.0
"""How many times the estimate the bias is. It is one where neighbourhoods are small; but of the bending's change over
the width of two neighbourhoods a linear fit sees about half at a few thousand points, where neighbourhoods are as wide
as the manifold bends (measured on ellipsoids and bumpy spheres: `python benchmarks/geomancer.py --tilts`)."""


def bias(points: np.ndarray, near: np.ndarray, frames: np.ndarray, least: int) -> float:
    r"""Return the tangent of the angle by which third-order terms tilt the second-order fits at all n points.

    Least squares take the part |u|² t·u of a third-order term for a slope, t Σ|u|⁴ / Σ|u|², and leave nothing of it
    that the standard error could see. But the same term makes the bending Q change from point to point:
    t = grad tr Q / (k + 2). Here tr Q comes from the fit at every point, and its gradient from a linear fit to the
    neighbours', whose own variance is taken off its square. At a single point what is left is mostly chance, so the
    root mean square over all points is returned.

    Points with fewer than `least` neighbours, others than themselves, have no fit and are left out.
    """
    points, near = np.ascontiguousarray(points, dtype=float), np.asarray(near, np.int32)
    bends, known = np.zeros(points.shape), np.zeros(len(points), np.bool_)
    _fill_bends(points, near, least, frames, bends, known)
    squares = np.zeros(len(points))
    _fill_squares(points, near, frames, bends, known, squares)
    return SIZE * max(float(squares.sum()) / max(int(known.sum()), 1), 0.0) ** 0.5


@cached(nogil=True, error_model="numpy")
def _fill_bends(points, near, least, frames, bends, known):  # pragma: no cover
    """Fill in the normal vectors tr Q (n, D) of the points that have a fit."""
    width, k = frames.shape[1:]
    m = near.shape[1]
    offsets = np.empty((width, m + 1))
    terms = np.empty((k * (k + 3) // 2 + 1, m + 1))
    gram, share = np.empty((len(terms), len(terms))), np.empty(len(terms))
    for i in range(len(frames)):
        others = 0
        for place in range(m):
            others += near[i, place] != i
        if others < least:
            continue
        fill_offsets(points, near, i, offsets)
        if not fill_terms(offsets, frames[i], terms) or not factorised(terms, gram):
            continue
        known[i] = True
        _trace_shares(gram, k, share)
        for place in range(m + 1):
            weight = dot(share, terms[:, place]) / terms[0, 0]
            for axis in range(width):
                bends[i, axis] += weight * offsets[axis, place]
        _off(frames[i], bends[i])


@cached(nogil=True, error_model="numpy")
def _trace_shares(factor, k, share):  # pragma: no cover
    """Fill in (A^T A)^-1 e, where e marks the squares among the terms: the sum of their coefficients is A times it."""
    p = len(share)
    for row in range(p):
        share[row] = 0.0
    for a in range(k):
        share[1 + a * (a + 1) // 2 + a] = 1.0
    for row in range(p):
        share[row] = (share[row] - dot(factor[row, :row], share[:row])) / factor[row, row]
    for row in range(p - 1, -1, -1):
        share[row] /= factor[row, row]
        for before in range(row):
            share[before] -= factor[row, before] * share[row]


@cached(nogil=True, error_model="numpy")
def _off(frame, vector):  # pragma: no cover
    """Take off a vector what lies in the space of an orthonormal frame."""
    width, k = frame.shape
    for a in range(k):
        inside = 0.0
        for axis in range(width):
            inside += frame[axis, a] * vector[axis]
        for axis in range(width):
            vector[axis] -= inside * frame[axis, a]


@cached(nogil=True, error_model="numpy")
def _fill_squares(points, near, frames, bends, known, squares):  # pragma: no cover
    """Fill in the square of the bias, less the part of it that is chance; it may be negative."""
    width, k = frames.shape[1:]
    m = near.shape[1]
    offsets, changes, vector = np.empty((width, m + 1)), np.empty((width, m + 1)), np.empty(width)
    terms, linear = np.empty((k * (k + 3) // 2 + 1, m + 1)), np.empty((k + 1, m + 1))
    gram, solved, part = np.empty((k + 1, k + 1)), np.empty((k, k + 1)), np.empty(k + 1)
    weights, gradient = np.empty((k, m + 1)), np.empty((width, k))
    for i in range(len(frames)):
        fill_offsets(points, near, i, offsets)
        if not known[i] or not fill_terms(offsets, frames[i], terms):
            continue
        for place in range(m + 1):
            linear[0, place] = terms[0, place]
            for a in range(k):
                linear[1 + a, place] = terms[len(terms) - k + a, place]
        for place in range(m + 1):
            j = near[i, place] if place < m and known[near[i, place]] else i
            for axis in range(width):
                vector[axis] = bends[j, axis]
            _off(frames[i], vector)
            for axis in range(width):
                changes[axis, place] = vector[axis]
        if not factorised(linear, gram):
            continue
        slopes(changes, linear, gram, solved, weights, gradient)
        square = -variance(changes, linear, gram, solved, part)
        for axis in range(width):
            square += dot(gradient[axis], gradient[axis])
        squares[i] = square * (_spread(linear) / (k + 2)) ** 2


@cached(nogil=True, error_model="numpy")
def _spread(linear):  # pragma: no cover
    """Return Σ|u|⁴ / Σ|u|² over the places, of terms 1 and u."""
    second = fourth = 0.0
    for place in range(linear.shape[1]):
        r = dot(linear[1:, place], linear[1:, place])
        second += r
        fourth += r * r
    return fourth / second
