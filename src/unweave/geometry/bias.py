"""The bias of tangent spaces: what third-order curvature of the manifold adds to the error of a second-order fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unweave.geometry.neighbours import nearest_of

WIDER = 2
"""Ratio of the numbers of neighbours of the wider and the narrower fit."""
POINTS = 500
"""Points at which both fits are made."""
CHUNK = 2**22
"""Numbers of neighbours' terms held at a time."""
RIDGE = 1e-10
"""Ridge: share of the mean square of the terms added to each, as in the fit itself."""
LEVERAGE = 0.95
"""The largest leverage of a neighbour, so that its residual still shows its noise."""


class _Comparison(NamedTuple):
    """Fits to a narrower and a wider neighbourhood of some points, each (r,)."""

    change: np.ndarray
    """|J' - J|² of the slopes of the wider and the narrower fit."""
    chance: np.ndarray
    """The part of it that the residuals explain."""
    repeated: np.ndarray
    """The product of J' - J with what a second step adds to it."""
    narrow: np.ndarray
    """The spread s of the narrower neighbourhood, and …"""
    wide: np.ndarray
    """… of the wider."""


def bias(points: np.ndarray, frames: np.ndarray, errors: np.ndarray, narrow: int) -> float:
    r"""Return the tilt by third-order terms of fits to `narrow` neighbours, as a multiple of the standard `errors`
    (n,).

    Least squares mistakes the part |u|² t·u of a third-order term for a slope, t s with s = Σ|u|⁴ / Σ|u|², and leaves
    no residual for the standard error. In a wider neighbourhood the slope J' is off by t s', so that

        t s = (J' - J) s / (s' - s),

    which is Richardson's extrapolation. Part of the change |J' - J|² is chance, Σ w² e² with the weight w and the
    residual e of every neighbour (the sandwich estimator, with residuals divided by 1 - leverage). At a single point
    the rest is mostly chance too, so the result is a mean over `POINTS`: of change over chance, minus 1, so that a few
    points of strong curvature do not dominate.

    J' is fitted over the narrower fit's frame. A fit over its own frame has a different slope: if a second step goes
    back by a share r of the first, all steps add up to 1 / (1 + r) of the first.
    """
    n, width, k = frames.shape
    wide = min(WIDER * narrow, n - 1)
    if wide <= narrow:
        return 0.0
    rows = np.linspace(0, n - 1, min(n, POINTS)).astype(int)
    near = nearest_of(points, rows, wide)
    size = max(1, CHUNK // (wide * max(width, k * (k + 3) // 2 + 1)))
    starts = range(0, len(rows), size)
    parts = [_compared(points, frames, rows[at : at + size], near[at : at + size], narrow) for at in starts]
    found = _Comparison(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    known = (found.chance > 0) & (errors[rows] > 0)
    apart = float((found.wide - found.narrow).sum())
    if not known.any() or apart <= 0:
        return 0.0
    change, chance = found.change[known] / found.chance[known], found.chance[known] / errors[rows[known]] ** 2
    back = float(-(found.repeated[known] / found.chance[known]).mean() / change.mean())
    real = max(float(change.mean()) - 1, 0.0) * float(chance.mean())
    return real**0.5 / (1 + max(back, 0.0)) * float(found.narrow.sum()) / apart


def _compared(points: np.ndarray, frames: np.ndarray, rows: np.ndarray, near: np.ndarray, narrow: int) -> _Comparison:
    """Compare fits to the first `narrow` and to all neighbours (r, m) of some points, nearest first."""
    frames, k = frames[rows], frames.shape[2]
    offsets = points[np.concatenate([rows[:, None], near], axis=1)] - points[rows, None]  # the point itself counts too
    inside, outside = _parts(offsets, frames)
    terms = _terms(inside)
    whole, part = _inverse(terms), _inverse(terms[:, : narrow + 1])
    weights = whole[:, :k].copy()
    weights[:, :, : narrow + 1] -= part[:, :k]
    change = (weights @ outside).transpose(0, 2, 1)
    left = outside - terms @ (whole @ outside)
    free = 1 - np.minimum((terms * whole.transpose(0, 2, 1)).sum(axis=2), LEVERAGE)
    chance = (weights**2).sum(axis=1) * (left**2).sum(axis=2) / free

    moved = np.linalg.qr(frames + change)[0]
    inside_moved, outside_moved = _parts(offsets, moved)
    again = (_inverse(_terms(inside_moved))[:, :k] @ outside_moved).transpose(0, 2, 1)
    again = again @ (moved.transpose(0, 2, 1) @ frames)  # as a map of the same directions
    squares = (inside**2).sum(axis=2)
    return _Comparison(
        (change**2).sum(axis=(1, 2)),
        chance.sum(axis=1),
        (change * again).sum(axis=(1, 2)),
        _spread(squares[:, : narrow + 1]),
        _spread(squares),
    )


def _parts(offsets: np.ndarray, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return offsets in the coordinates of their frames, and what is outside these."""
    inside = offsets @ frames
    return inside, offsets - inside @ frames.transpose(0, 2, 1)


def _terms(u: np.ndarray) -> np.ndarray:
    """Return u (r, m, k), a constant and the products u_a u_b, all of the size of u: (r, m, p)."""
    one, other = np.tril_indices(u.shape[2])
    largest = np.maximum(np.abs(u).max(axis=(1, 2), keepdims=True), np.finfo(float).tiny)
    constant = np.broadcast_to(largest, (*u.shape[:2], 1))
    return np.concatenate([u, constant, u[:, :, one] * u[:, :, other] / largest], axis=2)


def _inverse(terms: np.ndarray) -> np.ndarray:
    """Return (A^T A)^-1 A^T (r, p, m), which maps the fitted values to coefficients."""
    turned = terms.transpose(0, 2, 1)
    gram = turned @ terms
    ridge = RIDGE * np.trace(gram, axis1=1, axis2=2) / gram.shape[1] + np.finfo(float).tiny
    return np.linalg.solve(gram + ridge[:, None, None] * np.eye(gram.shape[1]), turned)


def _spread(squares: np.ndarray) -> np.ndarray:
    """Return Σ|u|⁴ / Σ|u|² (r,)."""
    return (squares**2).sum(axis=1) / np.maximum(squares.sum(axis=1), np.finfo(float).tiny)
