"""Downstream accuracy against loops over scikit-learn, and its logistic regression against LogisticRegressionCV."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from unweave.errors import UsageError
from unweave.metrics.boosting import BoostedTrees
from unweave.metrics.downstream import Downstream, downstream
from unweave.metrics.inputs import DRAW, INTERVAL, generator
from unweave.metrics.logistic import predict_logistic
from unweave.metrics.resampling import interval

SIZES = (8, 30, 60, 200)


@pytest.fixture
def small(monkeypatch):
    """Let the four sizes be small, as the other tests of this file want them."""
    monkeypatch.setattr(sys.modules["unweave.metrics.downstream"], "SIZES", SIZES)


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


def referee(codes, factors, test, fit, rng=None):
    """Loops over sizes and factors; the rows of each size follow those of the one before."""
    order, start, accuracies = list((rng or generator(0, DRAW)).permutation(len(codes))), 0, []
    for size in SIZES:
        size = min(size, len(codes))
        rows = [order[(start + i) % len(codes)] for i in range(size)]
        start += size
        right = []
        for k in range(factors.shape[1]):
            predicted = fit(codes[rows], factors[rows, k], test[0])
            right.append(sum(predicted == test[1][:, k]) / len(predicted))
        accuracies.append(sum(right) / len(right))
    return [*accuracies, accuracies[1] / accuracies[3]]


def naive_bayes(codes, factor, test_codes):
    return GaussianNB().fit(codes, factor).predict(test_codes)


@pytest.mark.usefixtures("small")
def test_any_classifier_is_fitted_and_tested_as_the_loops_do():
    (codes, factors), test = draw(200, 0), draw(150, 1)
    ours = downstream(codes, factors, test=test, learner=GaussianNB())
    assert isinstance(ours, Downstream)
    assert ours == pytest.approx(referee(codes, factors, test, naive_bayes), abs=1e-12)


@pytest.mark.usefixtures("small")
def test_boosted_trees():
    (codes, factors), test = draw(200, 0), draw(150, 1)
    expected = referee(codes, factors, test, lambda z, v, t: BoostedTrees().fit(z, v).predict(t))
    assert downstream(codes, factors, test=test, learner="gbt") == pytest.approx(expected, abs=1e-12)


@pytest.mark.usefixtures("small")
def test_logistic_regression_is_close_to_scikit_learns():
    (codes, factors), test = draw(200, 0, sizes=(2, 4)), draw(400, 1, sizes=(2, 4))
    expected = referee(codes, factors, test, scikit_learn)
    assert downstream(codes, factors, test=test) == pytest.approx(expected, abs=0.02)


def test_a_size_beyond_the_rows_is_not_invented():
    codes, factors = draw(150, 4)
    sampled = downstream.sample(codes, factors, test=draw(50, 5), learner="gbt")
    few, some, *others = sampled.score
    assert 0.0 < few <= some < 1.0
    assert np.isnan(others).all()
    assert list(sampled.per_factor) == ["accuracy-10", "accuracy-100"]
    ends = interval(sampled, (0.0, np.inf), None, generator(0, INTERVAL))
    assert ends is not None
    assert np.isfinite(np.array(ends)).all(axis=1).tolist() == [True, True, False, False, False]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("learner", ["logistic", "gbt"])
def test_worlds(learner, worlds):
    scores = {
        name: downstream(*worlds[name](450, np.random.default_rng(0)), learner=learner)
        for name in ("perfect", "useless")
    }
    assert scores["perfect"].accuracy_10000 > scores["useless"].accuracy_10000 + 0.3
    assert scores["useless"].accuracy_10000 < 0.3
    constant = downstream(np.ones((300, 2)), np.arange(300)[:, None] % 3, learner=learner)
    assert constant.accuracy_10000 < 0.5


@pytest.mark.usefixtures("small")
def test_values_that_were_not_fitted_are_wrong():
    codes, factors = draw(200, 6, sizes=(2,))
    test = codes, factors + 7
    assert downstream(codes, factors, test=test, learner="gbt") == (0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.usefixtures("small")
def test_a_subset_is_learnt_in_an_order_of_its_own():
    """The first rows of one order for all halves would be much the same rows, and vary too little."""
    (codes, factors), test = draw(200, 0), draw(150, 1)
    sampled = downstream.sample(codes, factors, test=test, learner=GaussianNB())
    halves = np.random.default_rng(0).permuted(np.tile(np.arange(350) < 175, (2, 1)), axis=1)
    rng = generator(0, DRAW)
    rng.permutation(200)  # that of all rows
    expected = []
    for kept in halves:
        train, held_out = kept[:200], kept[200:]
        rest = test[0][held_out], test[1][held_out]
        expected.append(referee(codes[train], factors[train], rest, naive_bayes, rng))
    np.testing.assert_allclose(sampled.rescore(halves), expected, atol=1e-12)


@pytest.mark.usefixtures("small")
def test_the_values_of_factors_have_the_scores_for_their_mean():
    sampled = downstream.sample(*draw(400, 0), learner=GaussianNB())
    means = [values.mean() for values in sampled.per_factor.values()]
    assert list(sampled.per_factor) == [f"accuracy-{size}" for size in SIZES]
    np.testing.assert_allclose(means, sampled.score[:4])


def test_a_penalty_stands_in_for_the_choice():
    """One for all sizes, or one for each, None being the choice."""
    (codes, factors), test = draw(1200, 0, sizes=(4,)), draw(500, 1, sizes=(4,))
    free, mixed, strict = (
        downstream(codes, factors, test=test, penalty=c) for c in (None, (None, None, 1e-4, 1e-4), 1e-4)
    )
    array: Any = np.full(4, 1e-4, dtype=np.float32)
    assert downstream(codes, factors, test=test, penalty=array).accuracy_1000 == strict.accuracy_1000
    assert mixed[:2] == free[:2]
    assert mixed.accuracy_1000 == strict.accuracy_1000
    assert strict.accuracy_100 < free.accuracy_100
    assert strict.accuracy_1000 < free.accuracy_1000
    order = generator(0, DRAW).permutation(1200)
    rows = order[(110 + np.arange(1000)) % 1200]
    predicted, _ = predict_logistic(codes[rows], factors[rows, 0], test[0], 1e-4)
    assert strict.accuracy_1000 == pytest.approx(np.mean(predicted == test[1][:, 0]))


def test_a_size_beyond_the_rows_can_take_all_of_them():
    (codes, factors), test = draw(300, 0, sizes=(4,)), draw(500, 1, sizes=(4,))
    cut, whole = (downstream(codes, factors, test=test, penalty=1.0, all_rows=given) for given in (False, True))
    assert np.isnan([cut.accuracy_1000, cut.accuracy_10000, cut.efficiency]).all()
    assert whole[:2] == cut[:2]
    predicted, _ = predict_logistic(codes, factors[:, 0], test[0], 1.0)
    assert whole.accuracy_1000 == whole.accuracy_10000 == pytest.approx(np.mean(predicted == test[1][:, 0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": 0}, "penalty must be a number above 0, got 0"),
        ({"penalty": "1e-4"}, "penalty must be a number above 0, got '1e-4'"),
        ({"penalty": (1.0, 2.0)}, "one for each of 4 sizes, got 2"),
        ({"learner": "logisitc"}, "did you mean 'logistic'"),
        ({"learner": 3}, "an object with fit and predict"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(UsageError, match=message):
        downstream(*draw(30, 0), **options)
