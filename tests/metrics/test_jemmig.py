"""JEMMIG against a slow referee written from the formula, in known worlds, and where it is fooled."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from unweave.errors import UsageError
from unweave.metrics.jemmig import jemmig, sample_jemmig

GRID = np.array(list(itertools.product(range(4), range(5), range(6))))


def matrix(codes, factors, bins):
    """The mutual information of each code, (d,), with each factor, (k,), and the entropies of the factors."""
    binned = [np.digitize(code, np.histogram(code, bins)[1][:-1]) for code in np.transpose(codes)]
    factors = [factor for factor in np.transpose(factors) if len(set(factor)) > 1]
    shared = np.array([[mutual_info_score(factor, code) for factor in factors] for code in binned])
    return shared, np.array([mutual_info_score(factor, factor) for factor in factors])


def joint_entropy(a, b):
    _, counts = np.unique(np.stack([a, b]), axis=1, return_counts=True)
    return -sum(c / len(a) * math.log(c / len(a)) for c in counts)


def referee(codes, factors, bins):
    """By loops, with the joint entropy counted from pairs of values."""
    binned = [np.digitize(code, np.histogram(code, bins)[1][:-1]) for code in np.transpose(codes)]
    shared, entropy = matrix(codes, factors, bins)
    factors = [factor for factor in np.transpose(factors) if len(set(factor)) > 1]
    scores = []
    for k, factor in enumerate(factors):
        first, second = sorted([*shared[:, k], 0.0], reverse=True)[:2]
        best = [j for j in range(len(binned)) if shared[j, k] > first - 1e-12]
        joint = min(joint_entropy(binned[j], factor) for j in best)
        scores.append(1 - (joint - first + second) / (entropy[k] + math.log(bins)))
    return sum(scores) / len(scores)


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
    assert jemmig(codes, factors, bins=bins) == pytest.approx(referee(codes, factors, bins), abs=1e-12)


def test_a_subset_scores_as_its_rows_do(worlds):
    """Rows 0 and 1 hold the range, so that the subset's own edges are those of the whole."""
    codes, factors = worlds["noisy"](300, np.random.default_rng(3))
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)
    subset = np.random.default_rng(4).random(300) < 0.5
    subset[:2] = True
    again = sample_jemmig(codes, factors).rescore(subset[None])
    np.testing.assert_allclose(again, [referee(codes[subset], factors[subset], 20)], atol=1e-12)


@pytest.mark.parametrize("bins", [1, 0, 2.5])
def test_bins_are_checked(bins):
    with pytest.raises(UsageError, match="bins must be a whole number"):
        jemmig(np.arange(10.0)[:, None], np.arange(10)[:, None], bins=bins)


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert jemmig(GRID / 3.0, GRID) == pytest.approx(1.0, abs=1e-12)
    assert jemmig(*worlds["perfect"](10_000, rng)) > 0.99
    assert jemmig(*worlds["useless"](10_000, rng)) < 0.02


def test_a_constant_code_says_nothing_beyond_the_factor():
    expected = np.mean([math.log(20) / (math.log(size) + math.log(20)) for size in (4, 5, 6)])
    assert jemmig(np.ones((len(GRID), 2)), GRID) == pytest.approx(expected, abs=1e-12)


def test_it_asks_that_a_code_says_nothing_else():
    """A code that holds a factor of four values and five values of no account: MIG sees no fault in it."""
    code = GRID[:, :1] + GRID[:, 1:2] / 10
    missing = math.log(5) / (math.log(4) + math.log(20))
    assert jemmig(code, GRID[:, :1], bins=20) > 1 - missing - 1e-12
    assert jemmig(code, GRID[:, :1], bins=20) < jemmig(GRID[:, :1], GRID[:, :1], bins=20) == 1.0


def test_of_codes_that_know_most_the_one_of_least_entropy_counts():
    """The order of the two does not matter."""
    wide = GRID[:, :1] + GRID[:, 1:2] / 10
    narrow = GRID[:, :1].astype(float)
    both = [jemmig(np.hstack(pair), GRID[:, :1]) for pair in ([wide, narrow], [narrow, wide])]
    assert both[0] == both[1] == pytest.approx(1 - math.log(4) / (math.log(4) + math.log(20)), abs=1e-12)
