"""Tangent spaces: the directions in which a point's neighbours lie, corrected for the manifold's curvature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unweave.geometry.bias import bias

CHUNK = 2**22
"""Numbers of neighbours' offsets held at a time."""
ROUGH = 6
"""Neighbours per dimension for the principal components."""
FIT = 3.0
"""Neighbours per coefficient of the second-order fit …"""
LEAST_FIT = 1.5
"""… and the fewest with which it is made."""
LEAST = 12
"""The fewest neighbours: fewer may lie on a line or in a plane by chance."""
FIT_DIMENSIONS = 16
"""Above this many dimensions the fit, of k² / 2 coefficients, is only made if the user sets the neighbours."""


class Tangents(NamedTuple):
    """Tangent spaces of some points, and how far off they may be."""

    frames: np.ndarray
    """(r, D, k), orthonormal."""
    tilts: np.ndarray
    """(r,): the standard error as an angle in radians, for a fit of second order about the angle to the true space."""


def usual_neighbours(dim: int, n: int | None = None) -> int:
    """Return how many neighbours a tangent space is fitted to, at most n - 1 if n is given."""
    fit = int(FIT * coefficients(dim)) if dim <= FIT_DIMENSIONS else 0
    wanted = max(fit, ROUGH * dim, LEAST)
    return wanted if n is None else min(wanted, n - 1)


def coefficients(dim: int) -> int:
    """Return how many linear and quadratic terms there are: k + k (k + 1) / 2."""
    return dim * (dim + 3) // 2


def tangent_spaces(points: np.ndarray, near: np.ndarray, dim: int) -> Tangents:
    """Return the tangent spaces of the first r points from their neighbours (r, m), nearest first.

    They are the principal directions of the nearest `ROUGH` · dim neighbours, refined by a second-order fit to all m if
    these suffice.
    """
    rough = principal_spaces(points, near[:, : ROUGH * dim], dim)
    least = int(LEAST_FIT * coefficients(dim))
    if near.shape[1] < least:
        return rough
    from unweave.geometry.second_order import refined  # numba takes a second to import

    return refined(points, near, rough, least)


def with_bias(points: np.ndarray, near: np.ndarray, tangents: Tangents) -> np.ndarray:
    """Return the tilts (n,) of all points' tangent spaces, with the bias of second-order fits added.

    Only the mean of the bias over all points is known. It is distributed like the standard error, because both grow
    with third-order curvature. Where no fits are made, the tilts stay unchanged.
    """
    least = int(LEAST_FIT * coefficients(tangents.frames.shape[2]))
    others = int(np.median((near != np.arange(len(near))[:, None]).sum(axis=1)))
    if others < least:
        return tangents.tilts
    errors = np.tan(tangents.tilts)
    return np.arctan(errors * np.hypot(1, bias(points, tangents.frames, errors, others)))


def principal_spaces(points: np.ndarray, near: np.ndarray, dim: int) -> Tangents:
    """Return the spaces of the first principal directions of x_j - x_i, at the first r points.

    `near` (r, m) holds the neighbours j of every i; i itself may pad a row, because it adds nothing. Where neighbours
    span fewer directions, arbitrary ones complete the basis.
    """
    frames, tilts = np.empty((len(near), points.shape[1], dim)), np.empty(len(near))
    for rows in _chunks(points, near):
        offsets = points[near[rows]] - points[rows, None]
        flat = offsets.transpose(0, 2, 1)
        if near.shape[1] >= points.shape[1]:
            squares, axes = np.linalg.eigh(flat @ offsets)
            frames[rows] = axes[:, :, : -dim - 1 : -1]
        else:  # the other product has the same nonzero eigenvalues, and is smaller
            squares, inside = np.linalg.eigh(offsets @ flat)
            frames[rows] = np.linalg.qr(flat @ inside[:, :, : -dim - 1 : -1])[0]
        tilts[rows] = _standard_error(squares, dim, near.shape[1])
    return Tangents(frames, tilts)


def _standard_error(squares: np.ndarray, dim: int, count: int) -> np.ndarray:
    """Return the standard error of principal directions as an angle, from the ascending sums of squares along all."""
    least = np.finfo(float).eps * squares[:, -1:] + np.finfo(float).tiny ** 0.5
    left = squares[:, :-dim].clip(0).sum(axis=1) / max(count - dim, 1)
    return np.arctan(np.sqrt(left * (1 / np.maximum(squares[:, -dim:], least)).sum(axis=1)))


def _chunks(points: np.ndarray, near: np.ndarray) -> list[slice]:
    size = max(1, CHUNK // (near.shape[1] * points.shape[1]))
    return [slice(start, min(start + size, len(near))) for start in range(0, len(near), size)]
