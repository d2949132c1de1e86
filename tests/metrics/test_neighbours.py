"""The estimate from neighbours against loops over the formula, and against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from unweave.metrics.neighbours import continuous_information, neighbour_information


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


def correlated(rho, n=5000, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    pair = np.stack([x, rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n)], axis=1)
    return (pair - pair.mean(axis=0)) / pair.std(axis=0)


def kraskov(x, y, neighbours):
    """By loops over rows and distances, of both variables and of each."""
    n, terms = len(x), []
    for i in range(n):
        dx, dy = np.delete(np.abs(x - x[i]), i), np.delete(np.abs(y - y[i]), i)
        reach = np.sort(np.maximum(dx, dy))[neighbours - 1]
        terms.append(digamma((dx < reach).sum() + 1) + digamma((dy < reach).sum() + 1))
    return max(0.0, digamma(neighbours) + digamma(n) - np.mean(terms))


@pytest.mark.parametrize("neighbours", [1, 3, 10])
def test_the_estimate_for_two_continuous_variables_is_the_formula(neighbours):
    pair, others = correlated(0.8, n=120), correlated(0.1, n=120, seed=1)
    ours = continuous_information(pair, others, neighbours, np.random.default_rng(0))
    expected = [[kraskov(code, factor, neighbours) for factor in others.T] for code in pair.T]
    np.testing.assert_allclose(ours, expected, atol=1e-9)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.9, 0.99])
def test_two_gaussians_share_what_their_correlation_says(rho):
    """I = -1/2 log(1 - rho^2)."""
    pair = correlated(rho)
    shared = continuous_information(pair[:, :1], pair[:, 1:], 10, np.random.default_rng(0)).item()
    assert shared == pytest.approx(-0.5 * np.log(1 - rho**2), abs=0.04)


@pytest.mark.parametrize("neighbours", [3, 10])
def test_the_estimate_for_two_continuous_variables_is_scikit_learns(neighbours):
    rng = np.random.default_rng(0)
    codes = np.hstack([correlated(0.7, n=1500), rng.uniform(-1.7, 1.7, size=(1500, 1))])
    factors = np.stack([codes[:, 0] ** 2, codes[:, 1] + codes[:, 2]], axis=1)
    codes, factors = ((z - z.mean(axis=0)) / z.std(axis=0) for z in (codes, factors))
    ours = continuous_information(codes, factors, neighbours, np.random.default_rng(0))
    for k, factor in enumerate(factors.T):
        theirs = mutual_info_regression(codes, factor, n_neighbors=neighbours, random_state=0)
        np.testing.assert_allclose(ours[:, k], theirs, atol=1e-9)


def test_continuous_values_that_repeat_and_few_rows_are_finite():
    steps = np.repeat(np.arange(5.0), 20)[:, None]
    assert np.isfinite(continuous_information(steps, steps[::-1], 10, np.random.default_rng(0))).all()
    assert np.isfinite(continuous_information(np.arange(3.0)[:, None], np.ones((3, 1)), 10, np.random.default_rng(0)))
