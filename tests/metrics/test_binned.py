"""The metrics of binned codes against slow referees written from the formulas, and what all of them must do."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import entropy as entropy_to_base
from sklearn.metrics import mutual_info_score

from unweave.errors import UsageError
from unweave.metrics.dcimig import dcimig
from unweave.metrics.jemmig import jemmig
from unweave.metrics.med import med
from unweave.metrics.mig import mig
from unweave.metrics.mig_sup import mig_sup
from unweave.metrics.modularity import modularity
from unweave.metrics.resampling import Sampled

GRID = np.array(list(itertools.product(range(4), range(5), range(6))))


def entropy(values):
    return -sum(c / len(values) * math.log(c / len(values)) for c in Counter(values).values())


def binned(codes, bins):
    return [np.digitize(code, np.histogram(code, bins)[1][:-1]) for code in np.transpose(codes)]


def varying(factors):
    return [factor for factor in np.transpose(factors) if len(set(factor)) > 1]


def matrix(codes, factors, bins):
    """The mutual information of each code, (d,), with each factor, (k,), and the entropies of the factors."""
    factors = varying(factors)
    shared = np.array([[mutual_info_score(factor, code) for factor in factors] for code in binned(codes, bins)])
    return shared, np.array([mutual_info_score(factor, factor) for factor in factors])


def mig_referee(codes, factors, bins):
    """By loops, with H(v) - H(v|z) for the mutual information."""
    gaps = []
    for factor in np.transpose(factors).tolist():
        known = [0.0]  # the second best of a single code
        for code in np.transpose(codes).tolist():
            edges = np.histogram(code, bins)[1]
            cut = [sum(edge <= value for edge in edges[:-1]) for value in code]
            left = 0.0
            for b in set(cut):
                inside = [v for v, c in zip(factor, cut, strict=True) if c == b]
                left += len(inside) / len(factor) * entropy(inside)
            known.append(entropy(factor) - left)
        first, second = sorted(known)[-2:][::-1]
        if entropy(factor) > 0:
            gaps.append((first - second) / entropy(factor))
    return sum(gaps) / len(gaps)


def mig_sup_referee(codes, factors, bins):
    """By loops, as in the authors' code: shares of entropy, sorted for each code that varies."""
    shared, entropies = matrix(codes, factors, bins)
    gaps = []
    for code, row in zip(np.transpose(codes), shared / entropies, strict=True):
        if len(set(code)) > 1:
            first, second = sorted([*row, 0.0], reverse=True)[:2]
            gaps.append(first - second)
    return sum(gaps) / len(gaps)


def jemmig_referee(codes, factors, bins):
    """By loops, with the joint entropy counted from pairs of values."""
    shared, entropies = matrix(codes, factors, bins)
    scores = []
    for k, factor in enumerate(varying(factors)):
        first, second = sorted([*shared[:, k], 0.0], reverse=True)[:2]
        best = [code for j, code in enumerate(binned(codes, bins)) if shared[j, k] > first - 1e-12]
        joint = min(entropy(list(zip(code, factor, strict=True))) for code in best)
        scores.append(1 - (joint - first + second) / (entropies[k] + math.log(bins)))
    return sum(scores) / len(scores)


def dcimig_referee(codes, factors, bins):
    """By loops: for each factor the best gap of the codes that know most about it."""
    shared, entropies = matrix(codes, factors, bins)
    credit = [0.0] * len(entropies)
    for row in shared:
        first, second = sorted([*row, 0.0], reverse=True)[:2]
        credit[list(row).index(first)] = max(credit[list(row).index(first)], first - second)
    return sum(credit) / sum(entropies)


def modularity_referee(codes, factors, bins):
    """By loops over the squares; a code that knows nothing counts 0."""
    shared, entropies = matrix(codes, factors, bins)
    scores = []
    for row in shared:
        best = max(row)
        others = sum(value**2 for value in row) - best**2
        if best < 1e-12:
            scores.append(0.0)
        elif len(entropies) == 1:
            scores.append(1.0)
        else:
            scores.append(1 - others / (best**2 * (len(entropies) - 1)))
    return sum(scores) / len(scores)


def med_referee(codes, factors, bins, top=None):
    """As the authors have it: importances that sum to 1 for each factor, then a list of codes for each factor."""
    shared, entropies = matrix(codes, factors, bins)
    if len(entropies) == 1:
        return 1.0
    importance = shared / shared.sum(axis=0)
    # As disentanglement_lib has it: one minus an entropy to base K, after a tiny number is added.
    per_code = 1 - entropy_to_base(importance.T + 1e-11, base=importance.shape[1])
    if top is not None:
        lists = {k: [] for k in range(len(entropies))}
        for j in sorted(range(len(shared)), key=lambda j: -per_code[j]):
            home = lists[int(np.argmax(importance[j]))]
            if len(home) < top:
                home.append(j)
        picked = list(itertools.chain(*lists.values()))
        importance, per_code = importance[picked], per_code[picked]
    return float(per_code @ importance.sum(axis=1) / importance.sum())


class Binned(NamedTuple):
    score: Callable[..., float]
    sample: Callable[..., Sampled]
    referee: Callable[..., float]
    tolerance: float


BINNED = {
    "mig": Binned(mig, mig.sample, mig_referee, 1e-12),
    "mig-sup": Binned(mig_sup, mig_sup.sample, mig_sup_referee, 1e-12),
    "jemmig": Binned(jemmig, jemmig.sample, jemmig_referee, 1e-12),
    "dcimig": Binned(dcimig, dcimig.sample, dcimig_referee, 1e-12),
    "modularity": Binned(modularity, modularity.sample, modularity_referee, 1e-10),
    "med": Binned(med, med.sample, med_referee, 1e-8),
}


def cases():
    rng = np.random.default_rng(0)
    factors = rng.integers([3, 6, 40], size=(150, 3))
    related = factors / [2, 5, 39] + 0.2 * rng.normal(size=(150, 3))
    yield "related", related, factors
    yield "mixed", related @ rng.normal(size=(3, 5)), factors
    yield "on the edges of bins", factors / 39.0, factors
    yield "one code", related[:, :1], factors
    yield "one factor", related, factors[:, :1]
    yield "a constant code", np.hstack([related, np.full((150, 1), 0.1)]), factors
    yield "a factor with one value", related, np.hstack([factors, np.full((150, 1), 7)])
    yield "values far apart and negative", related, factors * 10**14 - 10**15
    yield "more codes than samples", rng.normal(size=(12, 30)), factors[:12]
    yield "two samples", np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0], [1]])


every_metric = pytest.mark.parametrize("metric", [pytest.param(metric, id=name) for name, metric in BINNED.items()])
every_case = pytest.mark.parametrize(("codes", "factors"), [pytest.param(*rest, id=name) for name, *rest in cases()])


@every_metric
@pytest.mark.parametrize("bins", [2, 20])
@every_case
def test_it_is_the_formula(metric, codes, factors, bins):
    expected = metric.referee(codes, factors, bins)
    assert metric.score(codes, factors, bins=bins) == pytest.approx(expected, abs=metric.tolerance)


@every_metric
def test_a_subset_scores_as_its_rows_do(metric, worlds):
    """Rows 0 and 1 hold the range, so that the subset's own edges are those of the whole."""
    codes, factors = worlds["noisy"](300, np.random.default_rng(3))
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)
    subset = np.random.default_rng(4).random(300) < 0.5
    subset[:2] = True
    again = metric.sample(codes, factors).rescore(subset[None])
    np.testing.assert_allclose(again, [metric.referee(codes[subset], factors[subset], 20)], atol=metric.tolerance)


@pytest.mark.parametrize("name", ["mig", "mig-sup", "dcimig"])
def test_a_factor_that_is_constant_in_a_subset_counts_nothing_there(name):
    factor = np.array([0] * 20 + [1] * 20)[:, None]
    assert BINNED[name].sample(factor.astype(float), factor).rescore(np.arange(40)[None] < 20).tolist() == [0.0]


@pytest.mark.parametrize("name", ["mig-sup", "modularity", "med"])
def test_duplicates_are_no_harm(name, worlds):
    codes, factors = worlds["perfect"](1000, np.random.default_rng(0))
    score = BINNED[name].score
    assert score(np.hstack([codes, codes]), factors) == pytest.approx(score(codes, factors), abs=1e-12)


@every_metric
def test_codes_that_are_the_factors_score_1(metric):
    assert metric.score(GRID / 3.0, GRID) == pytest.approx(1.0, abs=1e-12)


@every_metric
@pytest.mark.parametrize("bins", [1, 0, 2.5])
def test_bins_are_checked(metric, bins):
    with pytest.raises(UsageError, match="bins must be a whole number"):
        metric.score(np.arange(10.0)[:, None], np.arange(10)[:, None], bins=bins)
