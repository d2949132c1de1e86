"""Worlds of Gaussian factors, and encoders that are good or bad by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
World = Callable[[Array], Array]
"""A function from independent standard normal columns (n, k) to factors (n, k); k is at least 4."""
Encoder = Callable[[Array, np.random.Generator], Array]
"""A function from factors (n, k) to codes (n, d)."""

CORRELATION = 0.5
NOISE = 2.0
"""Standard deviation of the noise of `noisy`, relative to the factor: the factor is a fifth of a latent's variance."""
CURVES: tuple[Callable[[Array], Array], ...] = (lambda v: v**3, np.exp, lambda v: np.tanh(2 * v))
"""Increasing functions, taken in turn."""


def independent(normal: Array) -> Array:
    """Independent standard normal factors."""
    return normal


def correlated(normal: Array) -> Array:
    """Standard normal factors; every pair has correlation 0.5."""
    k = normal.shape[1]
    covariance = np.full((k, k), CORRELATION) + (1 - CORRELATION) * np.eye(k)
    return normal @ np.linalg.cholesky(covariance).T


def copied(normal: Array) -> Array:
    """Independent factors, except that the second equals the first."""
    factors = normal.copy()
    factors[:, 1] = factors[:, 0]
    return factors


def dependent(normal: Array) -> Array:
    """Independent factors, except that the third is the product of the first two, uncorrelated with either."""
    factors = normal.copy()
    factors[:, 2] = factors[:, 0] * factors[:, 1]
    return factors


WORLDS: Mapping[str, World] = {
    "independent": independent,
    "correlated": correlated,
    "copied": copied,
    "dependent": dependent,
}


def diagonal(factors: Array, rng: np.random.Generator) -> Array:
    """Each latent is one factor times a number of absolute value 0.5 to 2, in random order."""
    k = factors.shape[1]
    return factors[:, rng.permutation(k)] * _scales(k, rng)


def element_wise(factors: Array, rng: np.random.Generator) -> Array:
    """Each latent is an increasing function of one factor, in turn v³, exp v and tanh 2v."""
    columns = factors[:, rng.permutation(factors.shape[1])].T
    return np.stack([CURVES[j % len(CURVES)](column) for j, column in enumerate(columns)], axis=1)


def dense(factors: Array, rng: np.random.Generator) -> Array:
    """The most even of twenty random rotations: every latent is a mixture of all factors."""
    return factors @ _even(factors.shape[1], factors.shape[1], rng).T


def fewer(factors: Array, rng: np.random.Generator) -> Array:
    """Diagonal, but only for the second half of the factors; the others are lost."""
    return diagonal(factors[:, factors.shape[1] // 2 :], rng)


def more(factors: Array, rng: np.random.Generator) -> Array:
    """Diagonal, plus the same number of noise latents."""
    return np.hstack([diagonal(factors, rng), rng.normal(size=factors.shape)])


def duplicated(factors: Array, rng: np.random.Generator) -> Array:
    """Diagonal twice: every factor in two latents of different scales."""
    return np.hstack([diagonal(factors, rng), diagonal(factors, rng)])


def wide(factors: Array, rng: np.random.Generator) -> Array:
    """Dense, into twice as many latents as factors."""
    k = factors.shape[1]
    return factors @ _even(2 * k, k, rng).T


def circle(factors: Array, rng: np.random.Generator) -> Array:
    """The cosine and the sine of 2π Φ(v), Φ the normal distribution function: neither alone determines the factor."""
    from scipy.special import ndtr

    angles = 2 * np.pi * ndtr(factors[:, rng.permutation(factors.shape[1])])
    return np.hstack([np.cos(angles), np.sin(angles)])


def noise(factors: Array, rng: np.random.Generator) -> Array:
    """Standard normal codes, independent of the factors."""
    return rng.normal(size=factors.shape)


def noisy(factors: Array, rng: np.random.Generator) -> Array:
    """Each latent is one factor plus noise of twice its standard deviation."""
    return diagonal(factors + NOISE * rng.normal(size=factors.shape), rng)


ENCODERS: Mapping[str, Encoder] = {
    "diagonal": diagonal,
    "element-wise": element_wise,
    "dense": dense,
    "fewer": fewer,
    "more": more,
    "duplicated": duplicated,
    "wide": wide,
    "circle": circle,
    "noise": noise,
    "noisy": noisy,
}


def _scales(count: int, rng: np.random.Generator) -> Array:
    return rng.uniform(0.5, 2.0, size=count) * rng.choice([-1.0, 1.0], size=count)


def _even(codes: int, factors: int, rng: np.random.Generator) -> Array:
    """Return random weights (latents, factors) with orthonormal columns: the most even of twenty draws.

    A random rotation of four factors can leave one nearly unchanged by chance.
    """
    draws = [np.linalg.qr(rng.normal(size=(codes, factors)))[0] for _ in range(20)]
    return min(draws, key=lambda weights: float((np.abs(weights) / np.linalg.norm(weights, axis=1)[:, None]).max()))
