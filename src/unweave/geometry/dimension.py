"""The dimension of a data manifold: the smallest at which a curved surface fits a point's neighbours."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from unweave.errors import UsageError
from unweave.geometry.inputs import DoubtfulFactors, checked, distinct
from unweave.geometry.neighbours import nearest_of
from unweave.geometry.tangents import FIT_DIMENSIONS, LEAST_FIT, coefficients, tangent_spaces, usual_neighbours

POINTS = 200
"""The most points at which surfaces are fitted, to neighbours among all points."""
CLEAR_RATIO = 3.0
"""A larger ratio is a clear fall. The share of a flat manifold falls by K / (K - 1), 3 / 2, 2 up to its dimension K."""


class Dimension(NamedTuple):
    """An estimate of a manifold's dimension, and the evidence for it."""

    dim: int
    unexplained: np.ndarray
    """The unexplained share of the neighbours' mean square distance for dimension 0, 1, … up to `dim`."""
    ratio: float
    """The ratio by which it falls at the last dimension; 1 if no fall was clear and `dim` is the largest tried."""


def estimate_dim(points: Any) -> Dimension:
    """Estimate the dimension of a data manifold: the smallest at which neighbours suddenly lie on a surface.

    At up to 200 points the surface x = c + J u + Q(u, u) of each dimension 1, 2, … is fitted to the neighbours, as for
    tangent spaces. Up to the manifold's dimension every further direction explains about the same share of what is
    left; after that only third-order curvature and noise are left. The estimate is the first dimension at which the
    unexplained share falls by more than `CLEAR_RATIO`. Dimensions are tried up to the number of coordinates, up to 16,
    and as long as there are enough points.

    Parameters
    ----------
    points
        Points (n, D), at least 3.

    Returns
    -------
    Dimension
        The dimension, with the evidence for it.

    Examples
    --------
    >>> estimate_dim(sample("S^2 x S^2", n=1000).points).dim
    4
    """
    x = np.asarray(points, float)
    if x.ndim != 2 or len(x) < 3 or not np.isfinite(x).all():
        raise UsageError("the dimension is estimated from an array (n, D) of 3 finite points or more")
    x = x[distinct(x)[0]]
    rows = np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int)
    shares = [1.0]
    for dim in range(1, min(x.shape[1], FIT_DIMENSIONS) + 1):
        count = usual_neighbours(dim, len(x))
        if count <= LEAST_FIT * coefficients(dim) and dim > 1:
            break
        shares.append(_unexplained(x, rows, nearest_of(x, rows, count), dim))
        fall = shares[-2] / max(shares[-1], 1e-12)
        if fall > CLEAR_RATIO:
            return Dimension(dim, np.array(shares), fall)
    return Dimension(len(shares) - 1, np.array(shares), 1.0)


def several_dims(points: Any) -> Dimension:
    """Return the estimate for points that may have factors; raise if they lie on a curve, warn if it is not clear."""
    x = checked(points)
    if len(x) <= usual_neighbours(2):
        raise UsageError(
            f"{len(x)} points are too few to estimate the dimension of their manifold: a surface takes more than "
            f"{usual_neighbours(2)}"
        )
    estimate = estimate_dim(x)
    if estimate.dim < 2:
        raise UsageError("the points seem to lie on a curve, which has no factors: pass the dimension if it is larger")
    if estimate.ratio == 1:
        warnings.warn(
            f"the dimension is not clear: {estimate.dim} is the largest that was tried; pass it if you know it",
            DoubtfulFactors,
            stacklevel=3,
        )
    return estimate


def _unexplained(x: np.ndarray, rows: np.ndarray, near: np.ndarray, dim: int) -> float:
    """Return the mean unexplained share of neighbours' squared offsets, corrected for the fit's degrees of freedom."""
    from unweave.geometry.second_order import unexplained  # numba takes a second to import

    first = np.concatenate([x[rows], x])  # the chosen points come first
    frames = tangent_spaces(first, near + len(rows), dim).frames
    free = near.shape[1] - coefficients(dim) - 1
    return float(unexplained(first, near + len(rows), frames).mean() * near.shape[1] / max(free, 1))
