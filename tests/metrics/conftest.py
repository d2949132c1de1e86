"""The worlds every metric is shown: perfect, useless and duplicated codes, and codes in between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

World = Callable[[int, np.random.Generator], tuple[np.ndarray, np.ndarray]]
Encoder = Callable[[np.ndarray, np.random.Generator], np.ndarray]
SIZES = np.array([4, 8, 10])


def perfect(place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return place


def useless(place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, size=place.shape)


def duplicated(place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.hstack([place, place])


def noisy(place: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each factor in one code with bounded noise, and as many codes of noise alone."""
    n, k = place.shape
    noise = rng.uniform(-1, 1, size=(n, 2 * k))
    noise[:, :k] = place + 0.5 * noise[:, :k]
    return noise


ENCODERS: dict[str, Encoder] = {"perfect": perfect, "useless": useless, "duplicated": duplicated, "noisy": noisy}


def place_of(factors: np.ndarray) -> np.ndarray:
    """Return each factor's value as a number from -1 to 1."""
    return 2.0 * factors / (SIZES - 1) - 1.0


def world_of(encoder: Encoder) -> World:
    def world(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        factors = rng.integers(SIZES, size=(n, len(SIZES)))
        return encoder(place_of(factors), rng), factors

    return world


@pytest.fixture(scope="session")
def worlds() -> dict[str, World]:
    """Worlds from which rows are drawn: codes (n, d) and factors (n, k)."""
    return {name: world_of(encoder) for name, encoder in ENCODERS.items()}


@pytest.fixture(scope="session")
def grids() -> dict[str, np.ndarray]:
    """The codes of every cell of the grid of factors, in its order."""
    cells = np.stack(np.unravel_index(np.arange(SIZES.prod()), SIZES), axis=1)
    return {name: encoder(place_of(cells), np.random.default_rng(0)) for name, encoder in ENCODERS.items()}
