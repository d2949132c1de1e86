"""Why disentanglement cannot be learned from data alone: maps that keep a distribution but mix all coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.errors import UsageError, unknown

ROUNDING = 1e-12
"""Matrix entries of at most this size count as 0: they mix nothing."""

Points = NDArray[np.float64]


Marginal: TypeAlias = Any
"""A continuous distribution of one coordinate, as `scipy.stats` freezes them: `scipy.stats.gamma(2)`."""
ASKED = ("logpdf", "logcdf", "logsf", "ppf", "isf", "support")
"""The methods that a marginal must have."""


class Entangler:
    r"""A bijection f that keeps a factorised distribution and mixes all coordinates [Locatello2019]_.

        f = g^-1 o h^-1 o A o h o g,    df_i / dz_j = A_ij t_j'(z_j) / t_i'(f_i(z)) != 0,    t_i = h o g_i

    with g_i the cumulative distribution function of coordinate i, h the quantile of the standard normal and A(alpha) an
    orthogonal matrix without zeros (`householder`). If z has the density prod_i p_i(z_i), so has f(z): samples of f(z)
    and z cannot be distinguished, though every coordinate of one depends on every coordinate of the other. A is
    symmetric, so f is its own inverse.

    `marginals` are the p_i: frozen distributions of `scipy.stats` with a density, or the names "uniform" (0 to 1) and
    "normal" (standard). Points are arrays (..., d) inside the support.

    Tails are computed from the logarithm of the nearer tail's probability. A value that would round to the end of a
    bounded support becomes the last number before it. Points that A moves beyond 37 standard deviations, where
    probabilities are 0 in floating point, raise a `UsageError`.

    >>> mix = Entangler(["uniform", "uniform"], alpha=0.25)
    >>> mix([0.5, 0.9]).round(3).tolist()
    [0.134, 0.261]
    >>> mix(mix([0.5, 0.9])).round(12).tolist()
    [0.5, 0.9]
    """

    def __init__(self, marginals: Sequence[Marginal], alpha: float) -> None:
        self.marginals = tuple(_marginal(given) for given in marginals)
        self.alpha = float(alpha)
        self.matrix = householder(len(self.marginals), self.alpha)

    def __call__(self, z: ArrayLike) -> Points:
        """Return f(z)."""
        return self._from_normal(self._to_normal(self._checked(z)) @ self.matrix.T)

    def inverse(self, z: ArrayLike) -> Points:
        """Return the points that f maps to z: f(z), because f is its own inverse."""
        return self(z)

    def jacobian(self, z: ArrayLike) -> NDArray[np.float64]:
        """Return df_i / dz_j at each point, (..., i, j)."""
        points = self._checked(z)
        normal = self._to_normal(points)
        mixed = normal @ self.matrix.T
        before = self._log_slopes(points, normal)
        after = self._log_slopes(self._from_normal(mixed), mixed)
        return self.matrix * np.exp(before[..., None, :] - after[..., :, None])

    def log_density(self, z: ArrayLike) -> NDArray[np.float64]:
        """Return the sum of log p_i(z_i), the log-density that z and f(z) share."""
        return self._columnwise("logpdf", self._checked(z)).sum(axis=-1)

    def _checked(self, z: ArrayLike) -> Points:
        points = np.asarray(z, dtype=np.float64)
        if points.ndim == 0 or points.shape[-1] != len(self.marginals):
            raise UsageError(f"points must have shape (..., {len(self.marginals)}), not {points.shape}")
        low, high = np.transpose([marginal.support() for marginal in self.marginals])
        if not ((points > low) & (points < high)).all():
            raise UsageError("points must lie inside the support of the marginals, not on its ends or outside")
        return points

    def _to_normal(self, points: Points) -> Points:
        """Return h(g(z)), from the probability below or above, whichever is smaller."""
        from scipy.special import ndtri_exp

        below, above = self._columnwise("logcdf", points), self._columnwise("logsf", points)
        return np.where(below < above, ndtri_exp(below), -ndtri_exp(above))

    def _from_normal(self, normal: Points) -> Points:
        """Return the z with h(g(z)) = `normal`, inside the open support."""
        from scipy.special import ndtr

        tail = ndtr(-np.abs(normal))
        if not (tail > 0).all():
            raise UsageError("a point lies so far out that its probability is 0 in floating point")
        points = np.where(normal < 0, self._columnwise("ppf", tail), self._columnwise("isf", tail))
        low, high = np.transpose([marginal.support() for marginal in self.marginals])
        return np.clip(points, np.nextafter(low, np.inf), np.nextafter(high, -np.inf))

    def _log_slopes(self, points: Points, normal: Points) -> Points:
        """Return log t_i'(z_i), that is log p_i(z_i) - log phi(t_i(z_i))."""
        return self._columnwise("logpdf", points) + normal**2 / 2 + np.log(2 * np.pi) / 2

    def _columnwise(self, function: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = [getattr(marginal, function)(values[..., i]) for i, marginal in enumerate(self.marginals)]
        return np.stack(columns, axis=-1)


def householder(dimensions: int, alpha: float) -> NDArray[np.float64]:
    """Return the orthogonal, symmetric matrix A(alpha) without zero entries [Locatello2019]_.

        A = I - 2 v v^T,    v_1 = sqrt(alpha),  v_i = sqrt((1 - alpha) / (d - 1)) for i > 1

    Parameters
    ----------
    dimensions
        The size d of the matrix, at least 2.
    alpha
        A number between 0 and 1. A value that gives an entry of 0 raises a `UsageError`: at 1/2 the first coordinate of
        f(z) no longer depends on that of z. With d = 2 this swaps the two and mixes none; with more it still mixes the
        others.

    Returns
    -------
    numpy.ndarray
        The matrix (d, d).

    Examples
    --------
    >>> householder(4, 0.25).tolist()[0]
    [0.5, -0.5, -0.5, -0.5]
    """
    if dimensions < 2:
        raise UsageError(f"one coordinate has nothing to mix with: pass at least 2 marginals, not {dimensions}")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be a number between 0 and 1, not {alpha}")
    v = np.full(dimensions, np.sqrt((1 - alpha) / (dimensions - 1)))
    v[0] = np.sqrt(alpha)
    matrix = np.eye(dimensions) - 2 * np.outer(v, v)
    if np.abs(matrix).min() <= ROUNDING:
        raise UsageError(
            f"alpha {alpha} gives a matrix with an entry of 0, which mixes nothing there; take one between 0 and 1/2"
        )
    return matrix


def _marginal(given: Marginal) -> Marginal:
    """Return a distribution, given as an object or by name."""
    from scipy import stats

    if isinstance(given, str):
        named = {"uniform": stats.uniform(), "normal": stats.norm()}
        if given not in named:
            raise unknown("marginal", given, named)
        return named[given]
    if isinstance(given, stats.rv_continuous) or not all(hasattr(given, name) for name in ASKED):  # not frozen, or none
        raise UsageError(
            "a marginal must be a frozen continuous distribution of scipy.stats, such as scipy.stats.gamma(2), "
            f"or 'uniform' or 'normal', not {given!r}"
        )
    return given
