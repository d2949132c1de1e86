"""Factors that agree over the whole manifold: the same number, dimensions and labels at every point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unweave.geometry.components import group_axes


class Labels(NamedTuple):
    """The factor of every axis, with the factors' dimensions and the exceptions."""

    labels: np.ndarray
    """(n, k); the same label is the same factor at every point, where `dims` is not empty."""
    dims: tuple[int, ...]
    """The dimension of every factor, or nothing if the points do not agree on them."""
    odd: np.ndarray
    """(n,) bool: points whose axes alone do not form factors of these dimensions."""


def label_axes(diagonals: np.ndarray, count: int) -> Labels:
    """Return the factor of every axis from its eigenvalues (n, k, count - 1).

    Where the tensor fields are parallel, as they are on a product, a factor has the same eigenvalues everywhere. So the
    directions of the eigenvalues are pooled over all points whose axes form `count` factors, and every axis then goes
    to the nearest direction, as many as the factor has dimensions. If fewer than half of the points form `count`
    factors, each point keeps its own.
    """
    own = group_axes(diagonals)
    n, k = own.shape
    if count == 1:
        return Labels(np.zeros_like(own), (k,), np.zeros(n, bool))
    usual = own.max(axis=1) == count - 1
    if 2 * usual.sum() < n:
        return Labels(own, (), ~usual)
    unit = _unit(diagonals)
    centres = _directions(_unit(_means(diagonals[usual], own[usual], count)))
    near = np.argmax(unit @ centres.T, axis=2)
    dims = _usual_dims(near[usual], count)
    fits = (np.stack([(near == j).sum(axis=1) for j in range(count)], axis=1) == dims).all(axis=1)
    odd = ~(fits & usual & _same_partition(own, near))
    if min(dims) == 0:
        return Labels(own, (), ~usual)
    labels = near.copy()
    labels[~fits] = _fitted(unit[~fits], centres, dims)
    return Labels(labels, dims, odd)


def explained(diagonals: np.ndarray, squares: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the share (n,) of the matrices' squared norm `squares` that multiples of the factors' projections explain.

    On an exact product it is 1: parallel tensors are c_1 P_1 + … + c_m P_m. It is the confidence in a point's factors.
    """
    count = int(labels.max()) + 1
    sizes = np.stack([(labels == j).sum(axis=1) for j in range(count)], axis=1)
    part = (_means(diagonals, labels, count) ** 2).sum(axis=2) * sizes
    return np.where(squares > 0, part.sum(axis=1) / np.maximum(squares, np.finfo(float).tiny), 0.0).clip(0, 1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _means(diagonals: np.ndarray, labels: np.ndarray, count: int) -> np.ndarray:
    """Return the mean eigenvalues of every factor: (n, count, m)."""
    members = (labels[:, :, None] == np.arange(count)).astype(float)
    return members.transpose(0, 2, 1) @ diagonals / np.maximum(members.sum(axis=1), 1)[:, :, None]


def _directions(means: np.ndarray, steps: int = 20) -> np.ndarray:
    """Return the `count` directions around which the factors' unit vectors (n, count, m) cluster.

    The factors of each point are separate already, so only their order is unknown: points are matched with the
    directions, and the directions become the means. It starts from the point whose factors are furthest apart.
    """
    products = means @ means.transpose(0, 2, 1)
    centres = means[np.argmin(products.max(axis=2, initial=-1, where=~np.eye(means.shape[1], dtype=bool)).max(axis=1))]
    for _ in range(steps):
        near = np.argmax(means @ centres.T, axis=2)
        new = _unit(np.stack([means[near == j].sum(axis=0) for j in range(len(centres))]))
        if np.allclose(new, centres, atol=1e-6):
            break
        centres = new
    return centres


def _usual_dims(near: np.ndarray, count: int) -> tuple[int, ...]:
    """Return the dimensions that most points have."""
    sizes = np.stack([(near == j).sum(axis=1) for j in range(count)], axis=1)
    shapes, times = np.unique(sizes, axis=0, return_counts=True)
    return tuple(int(size) for size in shapes[np.argmax(times)])


def _same_partition(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return at which points two labellings group the axes in the same way."""
    return ((one[:, :, None] == one[:, None]) == (other[:, :, None] == other[:, None])).all(axis=(1, 2))


def _fitted(unit: np.ndarray, centres: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    """Return labels for axes (n, k, m), as many for each factor as its dimensions, with the largest sum of cosines."""
    from scipy.optimize import linear_sum_assignment

    places = np.repeat(np.arange(len(dims)), dims)
    cosines = unit @ centres[places].T
    return np.array([places[linear_sum_assignment(-each)[1]] for each in cosines]).reshape(len(unit), unit.shape[1])
