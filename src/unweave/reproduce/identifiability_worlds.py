"""Worlds with known latents: their distributions, their changes over time, and how they are mixed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import laplace

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
LAYERS = 2
"""Number of layers of the mixing: each is a matrix and a bent line; a matrix follows at the end."""
STRAIGHT = 0.3
"""The smallest slope of the bent line; the largest is 1."""
CONDITION = 1.5
"""Ratio of the largest to the smallest singular value of a mixing matrix."""
MODES = 0.95
"""The means of the two normal parts of the bimodal density."""


@dataclass(frozen=True)
class Density:
    """A density on the line with mean 0 and variance 1."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], Floats]
    log: Callable[[Floats], Floats]
    cumulative: Callable[[Floats], Floats]


def _two_modes(z: Floats, sign: int) -> Floats:
    return (z - sign * MODES) / math.sqrt(1 - MODES**2)


def _draw_bimodal(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.choice([-MODES, MODES], shape) + math.sqrt(1 - MODES**2) * rng.normal(size=shape)


END, SCALE = math.sqrt(3), math.sqrt(0.5)
DENSITIES = {
    "Gaussian": Density(lambda rng, shape: rng.normal(size=shape), lambda z: -0.5 * z**2, ndtr),
    "uniform": Density(
        lambda rng, shape: rng.uniform(-END, END, shape),
        lambda z: np.where(np.abs(z) <= END, 0.0, -np.inf),
        lambda z: np.clip((z + END) / (2 * END), 0, 1),
    ),
    "Laplace": Density(
        lambda rng, shape: rng.laplace(scale=SCALE, size=shape),
        lambda z: -np.abs(z) / SCALE,
        lambda z: laplace.cdf(z, scale=SCALE),
    ),
    "bimodal": Density(
        _draw_bimodal,
        lambda z: np.logaddexp(-0.5 * _two_modes(z, 1) ** 2, -0.5 * _two_modes(z, -1) ** 2),
        lambda z: (ndtr(_two_modes(z, 1)) + ndtr(_two_modes(z, -1))) / 2,
    ),
}


def chain(density: Density, rows: int, latents: int, memory: float, rng: np.random.Generator) -> Floats:
    """Return a stationary series (rows, latents) of independent latents with this density.

    For each latent separately, a step proposes z' = memory z + sqrt(1 - memory^2) e with e standard normal, and accepts
    it with probability min(1, p(z') n(z) / (p(z) n(z'))), n the normal density. The series keeps the density p and is
    reversible. If p is the normal density, every step is accepted: the Gaussian autoregression.
    """
    steps = math.sqrt(1 - memory**2) * rng.normal(size=(rows, latents))
    chance = np.log(rng.uniform(size=(rows, latents)))
    series = np.empty((rows, latents))
    series[0] = density.draw(rng, (latents,))
    for t in range(1, rows):
        old, new = series[t - 1], memory * series[t - 1] + steps[t]
        gain = density.log(new) - density.log(old) + (new**2 - old**2) / 2
        series[t] = np.where(chance[t] <= gain, new, old)
    return series


def autoregression(rows: int, memories: Floats, innovations: str, rng: np.random.Generator) -> Floats:
    """Return series (rows, latents), z_t = memory z_{t-1} + e_t with Laplace or Gaussian e_t, of variance about 1."""
    shape = rows, len(memories)
    drawn = rng.normal(size=shape) if innovations == "Gaussian" else rng.laplace(scale=SCALE, size=shape)
    drawn *= np.sqrt(1 - memories**2)
    series = np.empty(shape)
    series[0] = drawn[0] / np.sqrt(1 - memories**2)
    for t in range(1, rows):
        series[t] = memories * series[t - 1] + drawn[t]
    return series


def segments(rows: int, latents: int, count: int, rng: np.random.Generator) -> tuple[Floats, Integers]:
    """Return Gaussian latents (rows, latents) whose variances differ between segments, and the segment of each row."""
    deviations = rng.uniform(0.2, 2.0, size=(count, latents))
    deviations /= np.sqrt((deviations**2).mean(axis=0))
    segment = rng.integers(count, size=rows)
    return rng.normal(size=(rows, latents)) * deviations[segment], segment


def mixing(latents: int, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    """Return a random smooth, invertible function from latents (n, d) to observations of the same dimension.

    Each layer is a matrix followed by the increasing function STRAIGHT v + (1 - STRAIGHT) tanh(2 v) / 2 of each number.
    """
    matrices = [_matrix(latents, rng) for _ in range(LAYERS + 1)]

    def mix(z: Floats) -> Floats:
        x = z @ matrices[0]
        for matrix in matrices[1:]:
            x = (STRAIGHT * x + (1 - STRAIGHT) * np.tanh(2 * x) / 2) @ matrix
        return x

    return mix


def linear_mixing(latents: int, rng: np.random.Generator) -> Callable[[Floats], Floats]:
    """Return a random invertible linear function from latents (n, d) to observations of the same dimension."""
    matrix = _matrix(latents, rng)
    return lambda z: z @ matrix


def _matrix(size: int, rng: np.random.Generator) -> Floats:
    """Return a random matrix whose singular values lie evenly between 1 and CONDITION, divided by their mean."""
    left, right = (np.linalg.qr(rng.normal(size=(size, size)))[0] for _ in range(2))
    values = np.linspace(1, CONDITION, size)
    return left @ np.diag(values / values.mean()) @ right
