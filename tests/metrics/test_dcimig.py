"""DCIMIG against a slow referee written from the formula, in known worlds, and where it is fooled."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from unweave.errors import UsageError
from unweave.metrics.dcimig import dcimig, sample_dcimig

GRID = np.array(list(itertools.product(range(4), range(5), range(6))))


def matrix(codes, factors, bins):
    """The mutual information of each code, (d,), with each factor, (k,), and the entropies of the factors."""
    binned = [np.digitize(code, np.histogram(code, bins)[1][:-1]) for code in np.transpose(codes)]
    factors = [factor for factor in np.transpose(factors) if len(set(factor)) > 1]
    shared = np.array([[mutual_info_score(factor, code) for factor in factors] for code in binned])
    return shared, np.array([mutual_info_score(factor, factor) for factor in factors])


def referee(codes, factors, bins):
    """By loops: for each factor the best gap of the codes that know most about it."""
    shared, entropy = matrix(codes, factors, bins)
    credit = [0.0] * len(entropy)
    for row in shared:
        first, second = sorted([*row, 0.0], reverse=True)[:2]
        credit[list(row).index(first)] = max(credit[list(row).index(first)], first - second)
    return sum(credit) / sum(entropy)


def cases():
    rng = np.random.default_rng(0)
    factors = rng.integers([3, 6, 40], size=(150, 3))
    related = factors / [2, 5, 39] + 0.2 * rng.normal(size=(150, 3))
    yield "related", related, factors
    yield "mixed", related @ rng.normal(size=(3, 5)), factors
    yield "one code", related[:, :1], factors
    yield "one factor", related, factors[:, :1]
    yield "a constant code", np.hstack([related, np.full((150, 1), 0.1)]), factors
    yield "a factor with one value", related, np.hstack([factors, np.full((150, 1), 7)])
    yield "more codes than samples", rng.normal(size=(12, 30)), factors[:12]
    yield "two samples", np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0], [1]])


@pytest.mark.parametrize("bins", [2, 20])
@pytest.mark.parametrize(("codes", "factors"), [pytest.param(*rest, id=name) for name, *rest in cases()])
def test_it_is_the_formula(codes, factors, bins):
    assert dcimig(codes, factors, bins=bins) == pytest.approx(referee(codes, factors, bins), abs=1e-12)


def test_a_subset_scores_as_its_rows_do(worlds):
    """Rows 0 and 1 hold the range, so that the subset's own edges are those of the whole."""
    codes, factors = worlds["noisy"](300, np.random.default_rng(3))
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)
    subset = np.random.default_rng(4).random(300) < 0.5
    subset[:2] = True
    again = sample_dcimig(codes, factors).rescore(subset[None])
    np.testing.assert_allclose(again, [referee(codes[subset], factors[subset], 20)], atol=1e-12)


@pytest.mark.parametrize("bins", [1, 0, 2.5])
def test_bins_are_checked(bins):
    with pytest.raises(UsageError, match="bins must be a whole number"):
        dcimig(np.arange(10.0)[:, None], np.arange(10)[:, None], bins=bins)


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert dcimig(GRID / 3.0, GRID) == pytest.approx(1.0, abs=1e-12)
    assert dcimig(*worlds["perfect"](10_000, rng)) > 0.99
    assert dcimig(*worlds["useless"](10_000, rng)) < 0.01
    assert dcimig(np.ones((len(GRID), 2)), GRID) == 0.0


def test_duplicates_and_noise_are_no_harm(worlds):
    codes, factors = worlds["perfect"](1000, np.random.default_rng(0))
    more = np.hstack([codes, codes, np.random.default_rng(1).random((1000, 5))])
    assert dcimig(more, factors) == dcimig(codes, factors)


def test_two_factors_in_one_code_are_credited_once():
    """One code holds factors of four and five values wholly: it earns the difference of their entropies."""
    both = GRID[:, :1] + 4 * GRID[:, 1:2]
    expected = (math.log(5) - math.log(4)) / (math.log(5) + math.log(4))
    assert dcimig(both, GRID[:, :2], bins=20) == pytest.approx(expected, abs=1e-12)


def test_factors_that_are_all_constant_in_a_subset_score_0_there():
    factor = np.array([0] * 20 + [1] * 20)[:, None]
    assert sample_dcimig(factor.astype(float), factor).rescore(np.arange(40)[None] < 20).tolist() == [0.0]
