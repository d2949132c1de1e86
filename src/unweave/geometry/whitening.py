"""Whitening: coordinates in which the factors have one scale and are orthogonal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unweave.geometry.inputs import checked

RANK = 1e-9
"""Directions below this share of the largest standard deviation are rounding errors and left out."""


class Whitened(NamedTuple):
    """Points of covariance one, and the map that made them."""

    points: np.ndarray
    """(n, r)."""
    matrix: np.ndarray
    """(D, r): the points are (x - mean) times it, and a tangent vector v of x becomes v times it."""

    def frames(self, frame: np.ndarray) -> np.ndarray:
        """Return orthonormal bases (n, r, k) of the images of the spaces that frames (n, D, k) span."""
        return np.linalg.qr(self.matrix.T @ frame)[0]


def whiten(points: Any) -> Whitened:
    """Map points (n, D) linearly so that their covariance is the identity.

    If the factors y_j are drawn independently, points x = M [y_1; …; y_m] under any linear map M become O [C_1^(-1/2)
    y_1; …; C_m^(-1/2) y_m], where C_j is the covariance of y_j and O is orthogonal. This is a product again, in its own
    metric, whatever the scales of the factors were and however their coordinates were mixed. In exchange, noise grows
    along directions in which the points hardly vary.

    Parameters
    ----------
    points
        Points (n, D).

    Returns
    -------
    Whitened
        The new points, and the map that made them.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).normal(size=(1000, 2)) * [1, 10]
    >>> np.cov(whiten(points).points.T).diagonal().round(2)
    array([1., 1.])
    """
    checked(points)
    x = np.asarray(points, float)
    x = x - x.mean(axis=0)
    _, sizes, axes = np.linalg.svd(x, full_matrices=False)
    kept = sizes > RANK * sizes.max(initial=np.finfo(float).tiny)
    matrix = axes[kept].T / sizes[kept] * len(x) ** 0.5
    return Whitened(x @ matrix, matrix)
