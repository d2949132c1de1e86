"""The estimate from neighbours against loops over the formula, and against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif

from unweave.metrics.neighbours import neighbour_information


def draw(n, sizes):
    rng = np.random.default_rng(n)
    factors = rng.integers(sizes, size=(n, len(sizes)))
    codes = np.hstack([factors / sizes + 0.1 * rng.normal(size=factors.shape), rng.normal(size=(n, 2))])
    return (codes - codes.mean(axis=0)) / codes.std(axis=0), factors


def direct(code, factor, neighbours):
    """By loops over rows and distances."""
    kept = [i for i in range(len(code)) if (factor == factor[i]).sum() > 1]
    terms = []
    for i in kept:
        away = {j: abs(code[i] - code[j]) for j in kept if j != i}
        own = sorted(away[j] for j in away if factor[j] == factor[i])
        c = min(neighbours, len(own))
        nearer = sum(distance < own[c - 1] for distance in away.values())
        terms.append(digamma(c) - digamma(len(own) + 1) - digamma(nearer + 1))
    return max(0.0, digamma(len(kept)) + np.mean(terms)) if kept else 0.0


@pytest.mark.parametrize("neighbours", [1, 3, 10])
@pytest.mark.parametrize("n", [12, 60])
def test_it_is_the_formula(n, neighbours):
    """So few rows leave values that occur once, or less often than neighbours are asked for."""
    codes, factors = draw(n, [2, 7, 30])
    ours = neighbour_information(codes, factors, neighbours, np.random.default_rng(0))
    expected = [[direct(code, factor, neighbours) for factor in factors.T] for code in codes.T]
    np.testing.assert_allclose(ours, expected, atol=1e-12)


@pytest.mark.parametrize("neighbours", [1, 3, 10])
def test_it_is_scikit_learns(neighbours):
    """With many rows for each value: with few, scikit-learn rounds distances, and counts the last neighbour or not."""
    codes, factors = draw(2000, [2, 7, 30])
    ours = neighbour_information(codes, factors, neighbours, np.random.default_rng(0))
    for k, factor in enumerate(factors.T):
        theirs = mutual_info_classif(codes, factor, n_neighbors=neighbours, random_state=0)
        np.testing.assert_allclose(ours[:, k], theirs, atol=1e-9)


def test_equal_values_are_parted_by_the_seed():
    """A code of four values that is the factor: all its entropy, whatever the noise, to sampling error."""
    factor = np.random.default_rng(0).integers(4, size=(1000, 1))
    codes = (factor - factor.mean()) / factor.std()
    first, again, other = (neighbour_information(codes, factor, 10, np.random.default_rng(s)) for s in (0, 0, 1))
    assert first == again == pytest.approx(np.log(4), abs=0.01)
    assert other == pytest.approx(first, abs=0.01)


def test_values_that_occur_once_tell_nothing():
    assert neighbour_information(np.arange(5.0)[:, None], np.arange(5)[:, None], 3, np.random.default_rng(0)) == 0.0


def test_equal_values_that_no_noise_can_part():
    """At 1e12 the noise is lost in rounding; the estimate is finite all the same."""
    codes, factors = np.repeat([[1e12], [2e12]], 20, axis=0), np.repeat([[0], [1]], 20, axis=0)
    assert np.isfinite(neighbour_information(codes, factors, 3, np.random.default_rng(0)))
