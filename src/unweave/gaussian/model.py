"""A linear-Gaussian world, its encoder and decoder, and their loss."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.gaussian.matrices import matrix, require_definite

UNRELATED = 1e-12
"""Factors with at most this correlation count as independent."""
Groups = frozenset[frozenset[int]]
"""Sets of factors, by index, in no order: a partition."""


class Encoder(NamedTuple):
    """X = B Y + W, one or, with leading axes, many."""

    weights: np.ndarray
    """B, (..., m, n)."""
    noise: np.ndarray
    """The covariance of W, (..., m, m)."""


class Decoder(NamedTuple):
    """Y = A X + Z, one or, with leading axes, many."""

    weights: np.ndarray
    """A, (..., n, m)."""
    noise: np.ndarray
    """The covariance of Z, (..., n, n)."""


@dataclass(frozen=True, eq=False)
class World:
    """Observations Y = G V + noise [Vu2024]_, eq. 1: V of covariance `sigma_v`, the noise white.

    The paper writes capital gamma for the mixing G. By default its columns are the first s unit vectors of n
    dimensions, as in the paper: every factor has its own observed variable, and n - s observed variables are only
    noise.
    """

    sigma_v: np.ndarray
    """Covariance of the s factors."""
    n: int
    """Observed variables."""
    m: int
    """Number of latents of an encoder."""
    noise: float = 0.01
    """Variance of the noise of each observed variable."""
    mixing: np.ndarray | None = None
    """G, (n, s); unit vectors if left out."""

    def __post_init__(self) -> None:
        sigma_v = matrix(self.sigma_v, "sigma_v")
        s = len(sigma_v)
        check_factors(sigma_v)
        if not 1 <= self.m <= self.n:
            raise UsageError(f"the number of latents m must be from 1 to n = {self.n} observed variables, not {self.m}")
        if not (np.isfinite(self.noise) and self.noise > 0):
            raise UsageError(f"the noise of the observed variables must have a variance above 0, not {self.noise}")
        if self.mixing is None and s > self.n:
            raise UsageError(
                f"{s} factors need {s} observed variables or a mixing (n, s) of your own, got n = {self.n}"
            )
        mixing = np.eye(self.n, s) if self.mixing is None else matrix(self.mixing, "mixing")
        if mixing.shape != (self.n, s):
            raise UsageError(f"mixing must have shape (n, s) = ({self.n}, {s}), got {mixing.shape}")
        object.__setattr__(self, "sigma_v", sigma_v)
        object.__setattr__(self, "mixing", mixing)

    @property
    def sigma_y(self) -> np.ndarray:
        """Covariance of the observations, (n, n)."""
        return self.sigma_yv @ np.asarray(self.mixing).T + self.noise * np.eye(self.n)

    @property
    def sigma_yv(self) -> np.ndarray:
        """Covariance of observations and factors, (n, s)."""
        return np.asarray(self.mixing) @ self.sigma_v

    @property
    def groups(self) -> Groups:
        """The independent groups of factors."""
        return independent_groups(self.sigma_v)

    def seen_by(self, encoder: Encoder) -> tuple[np.ndarray, np.ndarray]:
        """Return the covariance of codes, (..., m, m), and that of codes and factors, (..., m, s)."""
        b = encoder.weights
        return b @ self.sigma_y @ b.swapaxes(-1, -2) + encoder.noise, b @ self.sigma_yv


def loss(
    encoder: Encoder, decoder: Decoder, sigma_y: ArrayLike, *, gamma: ArrayLike = 1.0, lam: ArrayLike = 0.0
) -> np.ndarray:
    """Return the loss of the gamma-lambda-VAE [Vu2024]_, eq. 3, exactly, in nats.

        L = E KL(q(x|y) || N(0, I)) - gamma E log p(y|x) + lambda E |Y - A X|^2

    With gamma = 1, lambda = 0 it is the negative evidence lower bound. A smaller gamma corresponds to a larger beta of
    a beta-VAE.

    Parameters
    ----------
    encoder, decoder
        One model, or many with leading axes (cells).
    sigma_y
        Covariance of the observations (n, n), `World.sigma_y`.
    gamma, lam
        Weights, one for all cells or one for each.

    Returns
    -------
    numpy.ndarray
        The loss of each cell.

    Examples
    --------
    >>> world = SCENARIOS["3-in-2"].world()
    >>> found = blahut_arimoto(world, gamma=1.0, lam=0.0)
    >>> loss(found.encoder, found.decoder, world.sigma_y).round(2)
    array([2.32])
    """
    (b, w), z, y = encoder, decoder.noise, np.asarray(sigma_y, dtype=np.float64)
    m, n = b.shape[-2:]
    codes = b @ y @ b.swapaxes(-1, -2) + w
    divergence = 0.5 * (np.trace(codes, axis1=-2, axis2=-1) - np.linalg.slogdet(w)[1] - m)
    error = error_covariance(encoder, decoder, y)
    misfit = np.trace(np.linalg.solve(z, error), axis1=-2, axis2=-1)
    surprise = 0.5 * (misfit + n * np.log(2 * np.pi) + np.linalg.slogdet(z)[1])
    return divergence + np.asarray(gamma) * surprise + np.asarray(lam) * np.trace(error, axis1=-2, axis2=-1)


def error_covariance(encoder: Encoder, decoder: Decoder, sigma_y: np.ndarray) -> np.ndarray:
    """Return the covariance of Y - A X, (..., n, n)."""
    (b, w), a = encoder, decoder.weights
    missed = np.eye(b.shape[-1]) - a @ b
    return missed @ sigma_y @ missed.swapaxes(-1, -2) + a @ w @ a.swapaxes(-1, -2)


def independent_groups(sigma_v: ArrayLike) -> Groups:
    """Return the finest split of Gaussian factors into independent groups.

    Parameters
    ----------
    sigma_v
        Covariance of the factors (s, s).

    Returns
    -------
    frozenset
        The groups, as sets of factor indices.

    Examples
    --------
    >>> sorted(map(sorted, independent_groups([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])))
    [[0, 1], [2]]
    """
    covariance = matrix(sigma_v, "sigma_v")
    spread = np.sqrt(np.diag(covariance))
    related = np.abs(covariance) > UNRELATED * spread[:, None] * spread
    groups = [frozenset({i}) for i in range(len(covariance))]
    for i, j in zip(*np.nonzero(np.triu(related, 1)), strict=True):
        one, other = (next(group for group in groups if k in group) for k in (i, j))
        if one != other:
            groups = [group for group in groups if group not in (one, other)] + [one | other]
    return frozenset(groups)


def as_partition(groups: Iterable[frozenset[int]]) -> Groups:
    """Return the non-empty groups, without order."""
    return frozenset(group for group in groups if group)


def check_factors(sigma_v: np.ndarray) -> None:
    """Raise a `UsageError` if this is not a covariance, or if factors are constant or determine each other."""
    if sigma_v.shape[0] != sigma_v.shape[1] or not np.allclose(sigma_v, sigma_v.T):
        raise UsageError(f"sigma_v must be symmetric, (s, s), got a matrix of shape {sigma_v.shape}")
    variances = np.diag(sigma_v)
    if (variances <= 0).any():
        factor = int(np.argmin(variances))
        raise UsageError(f"factor {factor} has variance {variances[factor]:g}; leave it out")
    spread = np.sqrt(variances)
    singular = "leave out factors that the others determine, or give them noise"
    require_definite(sigma_v / spread[:, None] / spread, "sigma_v", singular)
