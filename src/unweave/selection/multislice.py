"""The multislice kernel of a trace: which samples the decoder treats similarly, at each moment and across moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from unweave.selection.dynamics import Dynamics

ROUNDING = 1e-6
"""A bandwidth is at least this share of the activations' length: smaller distances are rounding errors."""

NOTHING = 1e-20
"""Smaller affinities are 0."""


@dataclass(frozen=True)
class Multislice:
    r"""The kernel K' over points (moment, sample), by its blocks: n of samples by samples, m of moments by moments.

        K'((tau, i), (nu, j)) = within[tau, i, j] if tau = nu;  across[i, tau, nu] if i = j;  0 otherwise

    The dense matrix would have (n m)^2 entries; the blocks have n m^2 + m n^2.
    """

    within: np.ndarray
    """(n, m, m), symmetric, with 1 on the diagonals."""
    across: np.ndarray
    """(m, n, n), symmetric, with 0 on the diagonals, so that a point's affinity to itself is counted once."""

    @property
    def shape(self) -> tuple[int, int]:
        """Moments and samples."""
        return self.within.shape[0], self.within.shape[1]

    @property
    def degrees(self) -> np.ndarray:
        """The sums (n, m) of its rows."""
        return self.within.sum(axis=2) + self.across.sum(axis=2).T

    def apply(self, x: np.ndarray) -> np.ndarray:
        """Return K' x for columns x (n, m, b)."""
        y = self.within @ x
        y += (self.across @ x.transpose(1, 0, 2)).transpose(1, 0, 2)
        return y


def multislice(trace: np.ndarray, options: Dynamics) -> Multislice:
    r"""Return the multislice kernel [Gigante2019]_ of a trace (moments, samples, units), as [Holtz2022]_ use it.

        within:  exp(-(|T(tau, i) - T(tau, j)| / sigma_(tau, i))^alpha), symmetrised to (K + K') / 2
        across:  exp(-|T(tau, i) - T(nu, i)|^2 / epsilon^2)

    sigma is the distance of (tau, i) to its k-th nearest sample at that moment; epsilon, one for the whole trace, the
    mean over samples of the median over moments of the distance to the k-th nearest moment.
    """
    points = normalised(trace, options.normalise)
    return Multislice(_within(points, options), _across(points, options))


def normalised(trace: np.ndarray, how: str) -> np.ndarray:
    """Return activations (moments, samples, units), float32, as `Dynamics.normalise` says."""
    points = np.asarray(trace, dtype=np.float32)
    if how == "moment":
        # Subtract the first sample first, so that equal activations become exactly 0.
        points = points - points[:, :1]
        points -= points.mean(axis=1, keepdims=True)
        return points / _positive(np.sqrt(np.mean(np.einsum("tmu,tmu->tm", points, points), axis=1)))[:, None, None]
    if how == "length":
        return points / _positive(np.sqrt(np.einsum("tmu,tmu->tm", points, points)))[:, :, None]
    if how == "units":
        points = points - points.mean(axis=2, keepdims=True)
        return points / _positive(points.std(axis=2))[:, :, None]
    return points


def squared_distances(points: np.ndarray) -> np.ndarray:
    """Return the squared distances (b, k, k) within each set of points (b, k, units)."""
    offsets = points - points[:, :1]  # same distances, with smaller rounding errors
    offsets -= offsets.mean(axis=1, keepdims=True)
    squares = offsets @ offsets.transpose(0, 2, 1)
    lengths = np.diagonal(squares, axis1=1, axis2=2).copy()
    squares *= -2
    squares += lengths[:, :, None]
    squares += lengths[:, None, :]
    np.maximum(squares, 0, out=squares)
    each = np.arange(squares.shape[1])
    squares[:, each, each] = 0
    return squares


def _within(points: np.ndarray, options: Dynamics) -> np.ndarray:
    moments, samples, _ = points.shape
    kernel = np.empty((moments, samples, samples), np.float32)
    nearest = min(options.neighbours, samples - 1)
    for tau in range(moments):
        squares = squared_distances(points[tau : tau + 1])[0]
        sigma2 = np.partition(squares, nearest, axis=1)[:, nearest]  # the 0-th is the point itself
        if options.bandwidth == "moment":
            sigma2 = np.full_like(sigma2, np.median(sigma2))
        squares /= _floored(sigma2, points[tau])[:, None]
        decay = _power(squares, options.alpha / 2)
        np.negative(decay, out=decay)
        _exp(decay)
        np.add(decay, decay.T, out=kernel[tau])
        kernel[tau] *= 0.5
    return kernel


def _across(points: np.ndarray, options: Dynamics) -> np.ndarray:
    squares = squared_distances(points.transpose(1, 0, 2))
    moments = squares.shape[1]
    nearest = min(options.moment_neighbours or round(moments / 2), moments - 1)
    ranked = np.partition(squares, nearest, axis=2)[:, :, nearest]
    epsilon = options.epsilon * float(np.median(np.sqrt(ranked), axis=1).mean())
    scale = _floored(np.array([epsilon**2], np.float32), points)
    squares /= -scale
    _exp(squares)
    each = np.arange(moments)
    squares[:, each, each] = 0
    return squares


def _exp(values: np.ndarray) -> None:
    """Replace values by their exponentials, or by 0 below 1e-20, since denormal numbers make products slow."""
    np.exp(values, out=values)
    values[values < NOTHING] = 0


def _power(values: np.ndarray, exponent: float) -> np.ndarray:
    """Return values ** exponent, for halves of small whole numbers by products and roots, since powers are slow."""
    if 2 * exponent != int(2 * exponent) or exponent > 8:
        return np.power(values, np.float32(exponent))
    result = np.sqrt(values) if exponent % 1 else values.copy()
    for _ in range(int(exponent) - (0 if exponent % 1 else 1)):
        result *= values
    return result


def _floored(squared_bandwidths: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return squared bandwidths, at least the square of rounding errors; 1 if all activations are 0."""
    length2 = float(np.einsum("...u,...u->...", points, points).mean())
    return (
        np.maximum(squared_bandwidths, np.float32(length2 * ROUNDING**2))
        if length2 > 0
        else _positive(squared_bandwidths)
    )


def _positive(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, np.float32(1))
