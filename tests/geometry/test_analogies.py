"""Analogies and coordinates against the products that the points were drawn from, with the true factors."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.geometry import Factorisation, analogy, local_coordinates, sample
from unweave.geometry.neighbours import nearest

N = 3000


@pytest.fixture(scope="module")
def drawn():
    return sample("S^2 x S^2", N, seed=0)


@pytest.fixture(scope="module")
def truth(drawn):
    axes = np.concatenate(drawn.frames, axis=2)
    labels = np.tile([0, 0, 1, 1], (N, 1))
    return Factorisation(axes, labels, np.zeros(2), 2, (2, 2), np.zeros(N), np.ones(N), np.zeros(N, bool))


def test_an_analogy_moves_one_factor_and_leaves_the_other(drawn, truth):
    """Where a and c agree on the first sphere, d has b's place on it, and c's on the second."""
    rng, x = np.random.default_rng(0), drawn.points
    off, chance = [], []
    for _ in range(8):
        a, b = rng.integers(N, size=2)
        c = np.argsort(np.linalg.norm(x[:, :3] - x[a, :3], axis=1))[rng.integers(1, 10)]
        d = analogy(x, truth, int(a), int(b), int(c), factor=0)
        wanted = np.concatenate([x[b, :3], x[c, 3:]])
        off.append(np.linalg.norm(x[d] - wanted))
        chance.append(np.linalg.norm(x[rng.integers(N)] - wanted))
    assert np.median(off) < 0.6 < 1.3 < np.median(chance)  # neighbours are 0.45 apart


def test_an_analogy_of_nothing_is_the_point_itself(drawn, truth):
    assert analogy(drawn.points, truth, 5, 5, 9, factor=1) == 9


def test_coordinates_along_a_factor_are_those_of_its_own_steps(drawn, truth):
    near = nearest(drawn.points, 4)
    along = local_coordinates(drawn.points, truth, 1, near)
    assert along.shape == (N, 4, 2)
    steps = drawn.points[near[7], 3:] - drawn.points[7, 3:]
    inside = steps - np.outer(steps @ drawn.points[7, 3:], drawn.points[7, 3:])
    np.testing.assert_allclose(np.linalg.norm(along[7], axis=1), np.linalg.norm(inside, axis=1))


def test_points_and_factors_that_are_none(drawn, truth):
    with pytest.raises(UsageError, match="b = 3000 is not one of the 3000 points"):
        analogy(drawn.points, truth, 0, N, 1, factor=0)
    with pytest.raises(UsageError, match="there is no factor 2"):
        analogy(drawn.points, truth, 0, 1, 2, factor=2)
    apart = np.concatenate([drawn.points[:1500], drawn.points[1500:] + 100])
    with pytest.raises(UsageError, match="no path leads from point 0 to point 2000"):
        analogy(apart, truth, 0, 2000, 1, factor=0)
