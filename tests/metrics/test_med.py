"""MED against a slow referee written from the formula, in known worlds, and where it is fooled."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import entropy as entropy_of
from sklearn.metrics import mutual_info_score

from unweave.errors import UsageError
from unweave.metrics.med import med, sample_med

GRID = np.array(list(itertools.product(range(4), range(5), range(6))))


def matrix(codes, factors, bins):
    """The mutual information of each code, (d,), with each factor, (k,), and the entropies of the factors."""
    binned = [np.digitize(code, np.histogram(code, bins)[1][:-1]) for code in np.transpose(codes)]
    factors = [factor for factor in np.transpose(factors) if len(set(factor)) > 1]
    shared = np.array([[mutual_info_score(factor, code) for factor in factors] for code in binned])
    return shared, np.array([mutual_info_score(factor, factor) for factor in factors])


def disentanglement(importance):
    """For each code, as disentanglement_lib has it: one minus an entropy to base K, after a tiny number is added."""
    return 1 - entropy_of(importance.T + 1e-11, base=importance.shape[1])


def referee(codes, factors, bins, top=None):
    """As the authors have it: importances that sum to 1 for each factor, then a list of codes for each factor."""
    shared, entropy = matrix(codes, factors, bins)
    if len(entropy) == 1:
        return 1.0
    importance = shared / shared.sum(axis=0)
    per_code = disentanglement(importance)
    if top is not None:
        lists = {k: [] for k in range(len(entropy))}
        for j in sorted(range(len(shared)), key=lambda j: -per_code[j]):
            home = lists[int(np.argmax(importance[j]))]
            if len(home) < top:
                home.append(j)
        picked = list(itertools.chain(*lists.values()))
        importance, per_code = importance[picked], per_code[picked]
    return float(per_code @ importance.sum(axis=1) / importance.sum())


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
    assert med(codes, factors, bins=bins) == pytest.approx(referee(codes, factors, bins), abs=1e-8)


def test_a_subset_scores_as_its_rows_do(worlds):
    """Rows 0 and 1 hold the range, so that the subset's own edges are those of the whole."""
    codes, factors = worlds["noisy"](300, np.random.default_rng(3))
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)
    subset = np.random.default_rng(4).random(300) < 0.5
    subset[:2] = True
    again = sample_med(codes, factors).rescore(subset[None])
    np.testing.assert_allclose(again, [referee(codes[subset], factors[subset], 20)], atol=1e-8)


@pytest.mark.parametrize("bins", [1, 0, 2.5])
def test_bins_are_checked(bins):
    with pytest.raises(UsageError, match="bins must be a whole number"):
        med(np.arange(10.0)[:, None], np.arange(10)[:, None], bins=bins)


@pytest.mark.parametrize("top", [1, 2, 3, 100])
@pytest.mark.parametrize(("codes", "factors"), [pytest.param(*rest, id=name) for name, *rest in cases()])
def test_the_top_codes_are_the_authors(codes, factors, top):
    assert med(codes, factors, top=top) == pytest.approx(referee(codes, factors, 20, top), abs=1e-8)


def test_the_top_codes_of_a_subset_are_picked_anew(worlds):
    codes, factors = worlds["noisy"](300, np.random.default_rng(3))
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)
    subsets = np.random.default_rng(4).random((5, 300)) < 0.5
    subsets[:, :2] = True
    expected = [referee(codes[subset], factors[subset], 20, 1) for subset in subsets]
    np.testing.assert_allclose(sample_med(codes, factors, top=1).rescore(subsets), expected, atol=1e-8)


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert med(GRID / 3.0, GRID) == pytest.approx(1.0, abs=1e-12)
    assert med(*worlds["perfect"](10_000, rng)) > 0.97
    assert med(*worlds["useless"](10_000, rng)) < 0.02
    assert med(GRID[:, :1], GRID) == 1.0  # nobody knows of the other factors
    assert med(np.ones((len(GRID), 2)), GRID) == 0.0
    assert med(np.ones((len(GRID), 2)), GRID, top=1) == 0.0


def test_duplicates_are_no_harm(worlds):
    codes, factors = worlds["perfect"](1000, np.random.default_rng(0))
    assert med(np.hstack([codes, codes]), factors) == pytest.approx(med(codes, factors), abs=1e-12)


def test_many_codes_of_noise_drown_the_good_ones_unless_the_top_is_asked_for(worlds):
    codes, factors = worlds["perfect"](1000, np.random.default_rng(0))
    drowned = np.hstack([codes, np.random.default_rng(1).random((1000, 200))])
    assert med(drowned, factors) < 0.4
    assert med(drowned, factors, top=1) > 0.9


@pytest.mark.parametrize("top", [0, -1, 1.5])
def test_top_is_checked(top):
    with pytest.raises(UsageError, match="top must be a whole number"):
        med(GRID, GRID, top=top)
