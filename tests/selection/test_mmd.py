from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.selection import mmd2
from unweave.selection.mmd import median_distance, mmd2_pairs

from . import dense


def clouds(shift: float = 0.5, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(seed).normal(size=(2, n, 3))
    return x, y + shift


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 4.0])
def test_it_is_the_sum_of_its_terms(bandwidth):
    x, y = clouds()
    assert mmd2(x, y, bandwidth=bandwidth) == pytest.approx(dense.mmd2(x, y, bandwidth), abs=1e-12)


def test_the_bandwidth_is_the_median_distance_of_all_points():
    x, y = clouds()
    median = dense.median_distance(np.concatenate([x, y]))
    assert median_distance([x, y]) == pytest.approx(median)
    assert mmd2(x, y) == pytest.approx(dense.mmd2(x, y, median), abs=1e-12)


def test_it_is_unbiased():
    same = [mmd2(*clouds(0.0, 15, seed), bandwidth=1.0) for seed in range(400)]
    error = np.std(same) / 20
    assert abs(np.mean(same)) < 3 * error
    apart = [mmd2(*clouds(1.0, 15, seed), bandwidth=1.0) for seed in range(50)]
    # k of N(0, 2 I) shifted by s: (1 / (1 + 2))^(d / 2) exp(-|s|^2 / 2 (1 + 2))
    expected = 2 * 3**-1.5 * (1 - np.exp(-3 / 6))
    assert np.mean(apart) == pytest.approx(expected, abs=float(4 * np.std(apart) / 7))


def test_features_are_unbiased_and_their_error_shrinks_with_their_number():
    x, y = clouds(0.5, 200)
    exact = mmd2(x, y, bandwidth=1.5)
    few = [mmd2(x, y, bandwidth=1.5, features=64, seed=seed) for seed in range(60)]
    many = [mmd2(x, y, bandwidth=1.5, features=1_024, seed=seed) for seed in range(60)]
    for found in (few, many):
        assert abs(np.mean(found) - exact) < 3 * np.std(found) / np.sqrt(60)
    assert np.std(many) < 0.4 * np.std(few)
    assert np.std(many) < 0.1 * exact


def test_features_are_chosen_for_large_clouds_only():
    x, y = clouds(0.5, 3_000)
    assert mmd2_pairs([x, y], seed=0)[0, 1] == mmd2_pairs([x, y], features=0)[0, 1]
    x, y = clouds(0.5, 4_001)
    assert mmd2_pairs([x, y], seed=0)[0, 1] == mmd2_pairs([x, y], features=1_024)[0, 1]


@pytest.mark.parametrize("features", [0, 32])
def test_the_same_points_have_no_discrepancy(features):
    x, _ = clouds()
    assert mmd2(x, x, features=features) == 0.0
    assert mmd2(np.ones((5, 2)), np.ones((5, 2)), features=features) == 0.0


def test_pairs_are_symmetric_without_a_diagonal():
    x, y = clouds()
    pairs = mmd2_pairs([x, y, x + 1], bandwidth=1.0)
    np.testing.assert_array_equal(pairs, pairs.T)
    assert np.isnan(np.diagonal(pairs)).all()
    assert pairs[0, 1] == pytest.approx(mmd2(x, y, bandwidth=1.0))


def test_half_of_the_points_the_same_is_no_division_by_zero():
    x = np.concatenate([np.zeros((30, 2)), np.ones((10, 2))])
    assert mmd2(x, -x) > 0


@pytest.mark.parametrize(
    ("x", "y", "bandwidth", "words"),
    [
        (np.zeros((3, 2)), np.zeros((4, 2)), None, "the same shape"),
        (np.zeros(3), np.zeros(3), None, "the same shape"),
        (np.zeros((1, 2)), np.zeros((1, 2)), None, "two points"),
        (np.zeros((3, 2)), np.zeros((3, 2)), 0.0, "above 0"),
    ],
)
def test_mistakes(x, y, bandwidth, words):
    with pytest.raises(UsageError, match=words):
        mmd2(x, y, bandwidth=bandwidth)
