"""How far estimated tangent spaces of factors are from the true ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from unweave.errors import UsageError

Bases = Sequence[Sequence[np.ndarray]]
"""For every point the bases (D, k_j) of its factors."""


def subspace_error(components: Bases, frames: Sequence[np.ndarray]) -> np.ndarray:
    """Return the error in radians at every point: the mean over factors of the angle to the true tangent space.

    The angle between two spaces is the largest principal angle. Factors are matched so that the mean is least. A match
    of different dimensions counts as π/2, and so does a point with a wrong number of factors.

    Parameters
    ----------
    components
        For every point the bases (D, k_j) of its estimated factors.
    frames
        For every true factor its bases (n, D, k_j).

    Returns
    -------
    numpy.ndarray
        The error of each point, (n,).

    Examples
    --------
    >>> drawn = sample("S^2 x S^2", n=1000)
    >>> found = geomancer(drawn.points, dim=4)
    >>> bool(subspace_error(found.components, drawn.frames).mean() < 0.05)
    True
    """
    if any(len(frame) != len(components) for frame in frames):
        raise UsageError(
            f"{len(components)} points have components, but frames are of {[len(each) for each in frames]}"
        )
    errors = np.full(len(components), np.pi / 2)
    for shape, rows in _by_shape(components).items():
        if len(shape) == len(frames):
            found = [np.stack([components[i][j] for i in rows]) for j in range(len(shape))]
            errors[rows] = _matched(_angles(found, [frame[rows] for frame in frames]))
    return errors


def _by_shape(components: Bases) -> dict[tuple[int, ...], np.ndarray]:
    """Return the points with each list of dimensions."""
    rows: dict[tuple[int, ...], list[int]] = {}
    for i, bases in enumerate(components):
        rows.setdefault(tuple(basis.shape[1] for basis in bases), []).append(i)
    return {shape: np.array(points) for shape, points in rows.items()}


def _angles(found: list[np.ndarray], true: list[np.ndarray]) -> np.ndarray:
    """Return the largest principal angle between all spaces of the same point: (n, m, m)."""
    angles = np.full((len(found[0]), len(found), len(true)), np.pi / 2)
    for j, one in enumerate(found):
        for place, other in enumerate(true):
            if one.shape[2] == other.shape[2]:
                angles[:, j, place] = largest_angle(one, other)
    return angles


def largest_angle(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the largest principal angle (n,) between spaces of orthonormal bases (n, D, k).

    It uses the more accurate one of the arcsine of the part of one space outside the other and the arccosine of what
    both share.
    """
    inside = one.transpose(0, 2, 1) @ other
    cosine = np.linalg.svd(inside, compute_uv=False)[:, -1].clip(0, 1)
    sine = np.linalg.svd(other - one @ inside, compute_uv=False)[:, 0].clip(0, 1)
    return np.where(sine < cosine, np.arcsin(sine), np.arccos(cosine))


def _matched(angles: np.ndarray) -> np.ndarray:
    """Return the least mean angle over one-to-one matches of factors, (n,), from angles (n, m, m)."""
    from scipy.optimize import linear_sum_assignment

    if angles.shape[1] <= 2:
        straight = np.trace(angles, axis1=1, axis2=2)
        crossed = np.trace(angles[:, ::-1], axis1=1, axis2=2)
        return np.minimum(straight, crossed) / angles.shape[1]
    return np.array([each[linear_sum_assignment(each)].mean() for each in angles])


def unaligned_error(
    points: np.ndarray, components: Bases, latents: np.ndarray, frames: Sequence[np.ndarray], neighbours: int = 10
) -> np.ndarray:
    """Return the error of components of `points` against the true factors of `latents`, in different coordinates.

    Both see the steps to the `neighbours` nearest latents of a point in the coordinates of their tangent spaces.
    Canonical correlation finds the rotations that best align these steps, and the angles are taken after them. Points
    with fewer directions than the truth count as π/2.

    Parameters
    ----------
    points
        Points (n, D).
    components
        For every point the bases (D, k_j) of its estimated factors.
    latents
        The true states of the same points (n, d).
    frames
        For every true factor its bases (n, d, k_j).
    neighbours
        Number of nearest latents to align by.

    Returns
    -------
    numpy.ndarray
        The error of each point in radians, (n,).

    Examples
    --------
    >>> drawn = sample("S^2 x S^2", n=1000)
    >>> found = geomancer(drawn.points, dim=4)
    >>> bool(unaligned_error(drawn.points, found.components, drawn.points, drawn.frames).mean() < 0.05)
    True
    """
    from unweave.geometry.neighbours import nearest

    near = nearest(np.asarray(latents, float), neighbours)
    errors = np.full(len(components), np.pi / 2)
    for i, bases in enumerate(components):
        truth = np.concatenate([frame[i] for frame in frames], axis=1)
        guess = np.concatenate(list(bases), axis=1)
        if len(bases) != len(frames) or guess.shape[1] != truth.shape[1]:
            continue
        left, right = _most_alike((latents[near[i]] - latents[i]) @ truth, (points[near[i]] - points[i]) @ guess)
        turned = [left.T @ truth.T @ frame[i] for frame in frames]
        moved = [right.T @ guess.T @ basis for basis in bases]
        errors[i] = subspace_error([moved], [each[None] for each in turned])[0]
    return errors


def _most_alike(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotations of canonical correlation between steps (m, k) in two coordinate systems."""

    def whitener(steps: np.ndarray) -> np.ndarray:
        _, sizes, axes = np.linalg.svd(steps, full_matrices=False)
        return (axes.T / np.maximum(sizes, 1e-9 * sizes.max() + np.finfo(float).tiny)) @ axes

    left, _, right = np.linalg.svd(whitener(one) @ (one.T @ other) @ whitener(other))
    return left, right.T


def chance_error(dims: Sequence[int], *, draws: int = 1000, seed: int = 0) -> float:
    """Return the mean error of random orthogonal spaces of these dimensions within a known tangent space.

    Parameters
    ----------
    dims
        The dimensions of the factors.
    draws
        Random splits to average over.
    seed
        Seed of the draws.

    Returns
    -------
    float
        The error in radians.

    Examples
    --------
    >>> round(chance_error([2, 2]), 2)                 # two factors of dimension 2
    1.0
    """
    rng = np.random.default_rng(seed)
    k, starts = sum(dims), np.cumsum([0, *dims])
    turns = np.linalg.qr(rng.standard_normal((draws, k, k)))[0]
    spans = list(pairwise(starts))
    guessed = [[turn[:, low:high] for low, high in spans] for turn in turns]
    frames = [np.tile(np.eye(k)[:, low:high], (draws, 1, 1)) for low, high in spans]
    return float(subspace_error(guessed, frames).mean())
