"""The worlds every metric is shown: perfect, useless and duplicated codes, and codes in between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

World = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
SIZES = np.array([4, 8, 10])


def draw_factors(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    factors = rng.integers(SIZES, size=(n, len(SIZES)))
    return factors, 2.0 * factors / (SIZES - 1) - 1.0


def perfect(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    factors, codes = draw_factors(n, rng)
    return codes, factors


def useless(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    factors, codes = draw_factors(n, rng)
    return rng.uniform(-1, 1, size=codes.shape), factors


def duplicated(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    factors, codes = draw_factors(n, rng)
    return np.hstack([codes, codes]), factors


def noisy(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Each factor in one code with bounded noise, and as many codes of noise alone."""
    factors, codes = draw_factors(n, rng)
    noise = rng.uniform(-1, 1, size=(n, 2 * len(SIZES)))
    noise[:, : len(SIZES)] = codes + 0.5 * noise[:, : len(SIZES)]
    return noise, factors


@pytest.fixture(scope="session")
def worlds() -> dict[str, World]:
    return {"perfect": perfect, "useless": useless, "duplicated": duplicated, "noisy": noisy}
