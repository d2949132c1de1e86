"""Tangent spaces by a second-order fit, which does not mistake the curvature of the manifold for tilt."""

from __future__ import annotations

import numpy as np

from unweave.compiled import cached
from unweave.geometry.tangents import Tangents

ROUNDS = 8
CLOSE = 0.02
"""A point has converged when the tangent of the largest tilt of an axis in one step is below this."""
RIDGE = 1e-10
"""Ridge: share of the mean square of the terms added to each, so that degenerate neighbours have a fit too."""


def refined(points: np.ndarray, near: np.ndarray, rough: Tangents, least: int) -> Tangents:
    r"""Return better tangent spaces (r, D, k) at the first r points, from rough ones and r rows of neighbours.

    Near x_i a manifold is a graph over any space F that is not too far from its tangent space: with u = F^T (x - x_i),

        x - x_i = c + J u + Q(u, u) + O(u³),

    and J spans the tangent space. Principal components mistake the curvature Q for tilt, an error proportional to the
    distance of the neighbours; with the term Q in a least-squares fit of c, J and Q, the error is proportional to its
    square. The constant c absorbs the point's own noise. Since F^T J is the identity, J - F is the tilt of F. The error
    that cubic terms leave has the opposite sign, so every round takes a whole step to J and then half of another.

    The standard error of J is sqrt(s² tr (A^T A)^-1), where s² is the mean squared residual and the trace runs over the
    linear terms of A.

    The fit has 1 + k + k (k + 1) / 2 terms; `near` should hold two or three times as many neighbours. Points with fewer
    than `least` neighbours other than themselves keep their rough spaces.
    """
    frames, tilts = np.ascontiguousarray(rough.frames, dtype=float).copy(), rough.tilts.copy()
    _refine(np.ascontiguousarray(points, dtype=float), np.asarray(near, np.int32), least, frames, tilts)
    return Tangents(frames, tilts)


def unexplained(points: np.ndarray, near: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Return the unexplained share (r,) of neighbours' mean squared offsets, for the fit over each of r frames."""
    out = np.ones(len(frames))
    _leave(np.ascontiguousarray(points, dtype=float), np.asarray(near, np.int32), frames, out)
    return out


@cached(nogil=True, error_model="numpy")
def _refine(points, near, least, frames, tilts):  # pragma: no cover
    width, k = frames.shape[1:]
    m = near.shape[1]
    offsets = np.empty((width, m + 1))
    terms = np.empty((k * (k + 3) // 2 + 1, m + 1))
    gram = np.empty((len(terms), len(terms)))
    solved, part = np.empty((k, len(terms))), np.empty(len(terms))
    weights, fitted = np.empty((k, m + 1)), np.empty((width, k))
    frame = np.empty((width, k))
    for i in range(len(frames)):
        others = 0
        for place in range(m):
            others += near[i, place] != i
        if others < least:
            continue
        _fill_offsets(points, near, i, offsets)
        _copy(frames[i], frame)
        for step in range(2 * ROUNDS):
            if not _fit(offsets, frame, terms, gram, solved, weights, fitted):
                break
            share = 0.5 if step % 2 else 1.0
            tilt = _step(frame, fitted, share)
            if share < 1.0:
                _copy(frame, frames[i])
                tilts[i] = _standard_error(offsets, terms, gram, solved, part)
                if tilt < CLOSE:
                    break


@cached(nogil=True, error_model="numpy")
def _copy(matrix, into):  # pragma: no cover
    for a in range(matrix.shape[0]):
        for b in range(matrix.shape[1]):
            into[a, b] = matrix[a, b]


@cached(nogil=True, error_model="numpy")
def _leave(points, near, frames, out):  # pragma: no cover
    """Fill in the share of the offsets' squares that the fit does not explain."""
    width, k = frames.shape[1:]
    m = near.shape[1]
    offsets = np.empty((width, m + 1))
    terms = np.empty((k * (k + 3) // 2 + 1, m + 1))
    gram, part = np.empty((len(terms), len(terms))), np.empty(len(terms))
    for i in range(len(frames)):
        _fill_offsets(points, near, i, offsets)
        if not _fill_terms(offsets, frames[i], terms) or not _factorised(terms, gram):
            continue
        whole = 0.0
        for axis in range(width):
            whole += _dot(offsets[axis], offsets[axis])
        out[i] = _left(offsets, terms, gram, part) / whole


@cached(nogil=True, error_model="numpy")
def _left(offsets, terms, factor, part):  # pragma: no cover
    """Return the residual sum of squares: |x|² minus the square of its part along the terms, L^-1 A^T x."""
    left = 0.0
    for axis in range(len(offsets)):
        left += _dot(offsets[axis], offsets[axis])
        for row in range(len(terms)):
            part[row] = (_dot(terms[row], offsets[axis]) - _dot(factor[row, :row], part[:row])) / factor[row, row]
            left -= part[row] * part[row]
    return max(left, 0.0)


@cached(nogil=True, error_model="numpy")
def _standard_error(offsets, terms, factor, solved, part):  # pragma: no cover
    """Return the standard error of the linear coefficients as an angle; `solved` holds their rows of (A^T A)^-1."""
    k, p = solved.shape
    trace = 0.0
    for a in range(k):
        trace += solved[a, p - k + a]
    free = max(terms.shape[1] - p, 1)
    return np.arctan(np.sqrt(_left(offsets, terms, factor, part) / free * trace))


@cached(nogil=True, error_model="numpy")
def _fill_offsets(points, near, i, offsets):  # pragma: no cover
    """Fill in the offsets of neighbours from point i, (D, m + 1), with its own last."""
    width, m = len(offsets), near.shape[1]
    for axis in range(width):
        offsets[axis, m] = 0.0
        for place in range(m):
            offsets[axis, place] = points[near[i, place], axis] - points[i, axis]


@cached(nogil=True, error_model="numpy")
def _fit(offsets, frame, terms, gram, solved, weights, fitted):  # pragma: no cover
    """Fill `fitted` with the linear coefficients J (D, k) of offsets (D, m); return False if undetermined."""
    if not _fill_terms(offsets, frame, terms) or not _factorised(terms, gram):
        return False
    width, k = fitted.shape
    p, m = terms.shape
    _last_columns(gram, solved)
    for a in range(k):
        for place in range(m):
            weights[a, place] = 0.0
        for b in range(p):
            share = solved[a, b]
            for place in range(m):
                weights[a, place] += share * terms[b, place]
    for axis in range(width):
        for a in range(k):
            fitted[axis, a] = _dot(weights[a], offsets[axis])
    return True


@cached(nogil=True, error_model="numpy")
def _fill_terms(offsets, frame, terms):  # pragma: no cover
    """Fill in the scaled products u_a u_b and, last, u itself; return False if the range of u is 0."""
    width, k = frame.shape
    p, m = terms.shape
    largest = 0.0
    for a in range(k):
        u = terms[p - k + a]
        for place in range(m):
            u[place] = 0.0
        for axis in range(width):
            share = frame[axis, a]
            for place in range(m):
                u[place] += share * offsets[axis, place]
        for place in range(m):
            largest = max(largest, abs(u[place]))
    if not largest > 0.0:
        return False
    for place in range(m):
        terms[0, place] = largest  # all terms have the size of u, so that the ridge affects them equally
    row = 1
    for a in range(k):
        for b in range(a + 1):
            for place in range(m):
                terms[row, place] = terms[p - k + a, place] * terms[p - k + b, place] / largest
            row += 1
    return True


@cached(nogil=True, error_model="numpy")
def _factorised(terms, gram):  # pragma: no cover
    """Fill in the Cholesky factor of the terms' products; return False if there is none."""
    p = len(terms)
    squares = 0.0
    for a in range(p):
        for b in range(a + 1):
            gram[a, b] = _dot(terms[a], terms[b])
        squares += gram[a, a]
    for a in range(p):
        gram[a, a] += RIDGE * squares / p
    return _cholesky(gram)


@cached(nogil=True, fastmath={"reassoc", "contract"})
def _dot(one, other):  # pragma: no cover
    """Return the sum of products."""
    total = 0.0
    for place in range(len(one)):
        total += one[place] * other[place]
    return total


@cached(nogil=True, error_model="numpy")
def _cholesky(matrix):  # pragma: no cover
    """Replace the lower half of a symmetric matrix by its Cholesky factor; return False if it is not positive."""
    for a in range(len(matrix)):
        for b in range(a + 1):
            rest = matrix[a, b] - _dot(matrix[a, :b], matrix[b, :b])
            if a > b:
                matrix[a, b] = rest / matrix[b, b]
            elif rest > 0.0:
                matrix[a, a] = np.sqrt(rest)
            else:
                return False
    return True


@cached(nogil=True, error_model="numpy")
def _last_columns(factor, solved):  # pragma: no cover
    """Fill `solved` (k, p) with the last k columns of the inverse of L L^T."""
    k, p = solved.shape
    for a in range(k):
        x = solved[a]
        for row in range(p):
            x[row] = 1.0 if row == p - k + a else 0.0
        for row in range(p - k + a, p):
            x[row] = (x[row] - _dot(factor[row, p - k : row], x[p - k : row])) / factor[row, row]
        for row in range(p - 1, -1, -1):
            x[row] /= factor[row, row]
            for before in range(row):
                x[before] -= factor[row, before] * x[row]


@cached(nogil=True, error_model="numpy")
def _step(frame, fitted, share):  # pragma: no cover
    """Move the frame by this share of the way to the fitted one, and return the largest tilt of an axis."""
    width, k = frame.shape
    largest = 0.0
    for a in range(k):
        tilt = 0.0
        for axis in range(width):
            way = fitted[axis, a] - frame[axis, a]
            tilt += way * way
            frame[axis, a] += share * way
        largest = max(largest, tilt)
    for a in range(k):  # Gram and Schmidt
        for b in range(a):
            inside = 0.0
            for axis in range(width):
                inside += frame[axis, a] * frame[axis, b]
            for axis in range(width):
                frame[axis, a] -= inside * frame[axis, b]
        length = 0.0
        for axis in range(width):
            length += frame[axis, a] * frame[axis, a]
        length = np.sqrt(length)
        for axis in range(width):
            frame[axis, a] /= length
    return np.sqrt(largest)
