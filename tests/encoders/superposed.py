"""Sparse features in superposition: more of them than codes have columns, through a random dictionary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Superposed(NamedTuple):
    codes: np.ndarray
    features: np.ndarray
    dictionary: np.ndarray


def superposed(rows: int, features: int, width: int, active: int, *, exact: bool = True, seed: int = 0) -> Superposed:
    """Each row has `active` features (on average, unless `exact`), from 0.5 to 1.5, and a little noise."""
    rng = np.random.default_rng(seed)
    dictionary = rng.normal(size=(features, width))
    dictionary /= np.linalg.norm(dictionary, axis=1, keepdims=True)
    draws = rng.random((rows, features))
    on = draws < (np.sort(draws, axis=1)[:, [active]] if exact else active / features)
    truth = on * rng.uniform(0.5, 1.5, size=on.shape)
    return Superposed(truth @ dictionary + 0.01 * rng.normal(size=(rows, width)), truth, dictionary)


def mean_max_cosine(dictionary: np.ndarray, directions: np.ndarray) -> float:
    """Return how near the nearest direction is to each true one, on average."""
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return float((dictionary @ unit.T).max(axis=1).mean())
