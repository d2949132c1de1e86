"""Downstream accuracy against loops over scikit-learn, and its logistic regression against LogisticRegressionCV."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from unweave.errors import UsageError
from unweave.metrics.boosting import BoostedTrees
from unweave.metrics.downstream import Downstream, downstream, sample_downstream
from unweave.metrics.inputs import DRAW, INTERVAL, generator
from unweave.metrics.resampling import interval

SIZES = (8, 30, 60, 200)


def draw(n, seed, sizes=(2, 4, 6)):
    rng = np.random.default_rng(seed)
    factors = rng.integers(sizes, size=(n, len(sizes)))
    codes = rng.normal(size=(n, 5))
    codes[:, : len(sizes)] = factors / np.array(sizes) * 2 + 0.5 * codes[:, : len(sizes)]
    return codes, factors


def scikit_learn(codes, factor, test_codes):
    """As disentanglement_lib calls it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegressionCV(Cs=10, cv=KFold(5)).fit(codes, factor).predict(test_codes)


def referee(codes, factors, test, sizes, fit):
    """Loops over sizes and factors; the rows of each size follow those of the one before."""
    order, start, accuracies = list(generator(0, DRAW).permutation(len(codes))), 0, []
    for size in sizes:
        size = min(size, len(codes))
        rows = [order[(start + i) % len(codes)] for i in range(size)]
        start += size
        right = []
        for k in range(factors.shape[1]):
            foretold = fit(codes[rows], factors[rows, k], test[0])
            right.append(sum(foretold == test[1][:, k]) / len(foretold))
        accuracies.append(sum(right) / len(right))
    return [*accuracies, accuracies[1] / accuracies[3]]


def test_any_classifier_is_fitted_and_judged_as_the_loops_do():
    (codes, factors), test = draw(200, 0), draw(150, 1)
    expected = referee(codes, factors, test, SIZES, lambda z, v, t: GaussianNB().fit(z, v).predict(t))
    ours = downstream(codes, factors, test=test, learner=GaussianNB(), sizes=SIZES)
    assert isinstance(ours, Downstream)
    assert ours == pytest.approx(expected, abs=1e-12)


def test_boosted_trees():
    (codes, factors), test = draw(200, 0), draw(150, 1)
    expected = referee(codes, factors, test, SIZES, lambda z, v, t: BoostedTrees().fit(z, v).predict(t))
    assert downstream(codes, factors, test=test, learner="gbt", sizes=SIZES) == pytest.approx(expected, abs=1e-12)


def test_logistic_regression_is_close_to_scikit_learns():
    (codes, factors), test = draw(200, 0, sizes=(2, 4)), draw(400, 1, sizes=(2, 4))
    expected = referee(codes, factors, test, SIZES, scikit_learn)
    assert downstream(codes, factors, test=test, sizes=SIZES) == pytest.approx(expected, abs=0.02)


def test_a_size_beyond_the_rows_is_all_of_them():
    codes, factors = draw(90, 4)
    capped = downstream(codes, factors, test=draw(50, 5), learner="gbt", sizes=(5, 10, 90, 90))
    assert downstream(codes, factors, test=draw(50, 5), learner="gbt", sizes=(5, 10, 10_000, 10_000)) == capped
    assert capped.accuracy_1000 == capped.accuracy_10000


@pytest.mark.parametrize("learner", ["logistic", "gbt"])
def test_worlds(learner, worlds):
    scores = {
        name: downstream(*worlds[name](450, np.random.default_rng(0)), learner=learner, sizes=(10, 20, 50, 200))
        for name in ("perfect", "useless")
    }
    assert scores["perfect"].accuracy_10000 > scores["useless"].accuracy_10000 + 0.3
    assert scores["useless"].accuracy_10000 < 0.3
    constant = downstream(np.ones((90, 2)), np.arange(90)[:, None] % 3, learner=learner)
    assert constant.accuracy_10000 < 0.5


def test_values_that_were_not_fitted_are_wrong():
    codes, factors = draw(60, 6, sizes=(2,))
    test = codes, factors + 7
    assert downstream(codes, factors, test=test, learner="gbt") == (0.0, 0.0, 0.0, 0.0, 0.0)


def test_the_interval_is_around_the_score():
    """Small sizes are learnt from other rows in each half, so the score itself is the best guess."""
    (codes, factors), test = draw(200, 0), draw(150, 1)
    sampled = sample_downstream(codes, factors, test=test, learner=GaussianNB(), sizes=SIZES)
    none = np.zeros((1, sampled.units), dtype=bool)  # too few rows: all are taken
    np.testing.assert_allclose(sampled.rescore(none), [sampled.score], atol=1e-12)
    bounds = interval(sampled, (0.0, np.inf), None, generator(0, INTERVAL))
    assert bounds is not None
    for (low, high), part in zip(bounds, np.array(sampled.score), strict=True):
        assert (low + high) / 2 == pytest.approx(part, abs=1e-6)
        assert 0.005 < high - low < 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learner": "logisitc"}, "did you mean 'logistic'"),
        ({"learner": 3}, "an object with fit and predict"),
        ({"sizes": (10, 100)}, "four rising"),
        ({"sizes": (100, 10, 1000, 10_000)}, "four rising"),
        ({"sizes": (0, 10, 20, 30)}, "whole number"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(UsageError, match=message):
        downstream(*draw(30, 0), **options)
