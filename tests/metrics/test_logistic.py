"""Logistic regression against scikit-learn's, run until it has converged, and as disentanglement_lib calls it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import KFold

from unweave.metrics import logistic
from unweave.metrics.logistic import STRENGTHS, predict_logistic


def draw(kind, n, d, classes, seed=0):
    """Return codes (n + 1000, d) of a kind, and the class of each row."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=n + 1000)
    codes = rng.normal(size=(n + 1000, d))
    place = labels / classes
    if kind in ("good", "dead", "missing", "scales"):
        codes[:, 0] = 2 * place + 0.2 * codes[:, 0]
    if kind == "dead":
        codes[:, d // 2], codes[:, -1] = 7.25, 1e-3 * codes[:, -1]
    if kind == "scales":
        codes *= np.logspace(-2, 2, d)
    if kind == "separable":
        codes[:, 0] = labels
    if kind == "mixture":
        sources = np.column_stack([place, rng.uniform(size=(n + 1000, 3))])
        codes = sources @ rng.normal(size=(4, d)) + 0.05 * codes
    if kind == "missing":  # each fold of consecutive rows lacks a class, or two
        order = np.argsort(labels[:n], kind="stable")
        codes[:n], labels[:n] = codes[:n][order], labels[:n][order]
    return codes, labels


def converged(codes, labels, strength):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the last digits of a gradient are noise
        return LogisticRegression(C=strength, solver="newton-cholesky", tol=1e-8, max_iter=200).fit(codes, labels)


def held_out_accuracy(codes, labels, fit, held, strength):
    """Return that of a fit to classes that it has: of two among more, each has weights of its own in our penalty."""
    present = np.unique(labels[fit])
    if len(present) == 1:
        return np.mean(labels[held] == present[0])
    strength = 2 * strength if len(present) == 2 < len(np.unique(labels)) else strength
    return converged(codes[fit], labels[fit], strength).score(codes[held], labels[held])


def referee(codes, labels, test_codes):
    folds = list(KFold(5).split(codes))
    accuracy = [sum(held_out_accuracy(codes, labels, fit, held, c) for fit, held in folds) for c in STRENGTHS]
    best = STRENGTHS[int(np.argmax(accuracy))]
    return converged(codes, labels, best).predict(test_codes), best


@pytest.mark.parametrize(
    ("kind", "n", "d", "classes"),
    [
        ("good", 7, 3, 4),
        ("good", 10, 10, 6),
        ("good", 100, 1, 6),
        ("good", 100, 10, 2),
        ("good", 1000, 1, 2),
        ("good", 1000, 5, 4),
        ("mixture", 100, 10, 10),
        ("mixture", 700, 4, 6),
        ("mixture", 60, 64, 3),
        ("noise", 100, 10, 4),
        ("noise", 40, 64, 3),
        ("noise", 60, 3, 20),
        ("dead", 100, 10, 4),
        ("dead", 700, 10, 4),
        ("scales", 100, 10, 5),
        ("separable", 10, 10, 3),
        ("separable", 100, 10, 10),
        ("separable", 700, 4, 5),
        ("missing", 100, 10, 5),
        ("missing", 700, 4, 3),
    ],
)
def test_penalty_and_predictions_are_those_of_fits_that_converged(kind, n, d, classes):
    codes, labels = draw(kind, n, d, classes)
    ours, strength = predict_logistic(codes[:n], labels[:n], codes[n:])
    expected, best = referee(codes[:n], labels[:n], codes[n:])
    assert strength == best
    assert np.mean(ours == expected) >= 0.999


@pytest.mark.parametrize("seed", range(3))
def test_as_disentanglement_lib_calls_it(seed):
    codes, labels = draw("good", 300, 10, 4, seed)
    ours, strength = predict_logistic(codes[:300], labels[:300], codes[300:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegressionCV(Cs=10, cv=KFold(5)).fit(codes[:300], labels[:300])
    assert abs(np.log10(strength / model.C_[0])) < 1  # its stop is coarse, so it may be the next one
    assert np.mean(ours == labels[300:]) == pytest.approx(model.score(codes[300:], labels[300:]), abs=0.03)


@pytest.mark.parametrize("kind", ["good", "separable", "mixture"])
@pytest.mark.parametrize("strength", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize(("n", "classes"), [(10, 3), (100, 10), (100, 40), (700, 10)])
def test_a_given_penalty(kind, strength, n, classes):
    """From zero weights to a weak penalty on classes that can be separated, Newton's method once went astray."""
    codes, labels = draw(kind, n, 10, classes)
    ours, kept = predict_logistic(codes[:n], labels[:n], codes[n:], strength)
    assert kept == strength
    assert np.mean(ours == converged(codes[:n], labels[:n], strength).predict(codes[n:])) >= 0.995


@pytest.mark.parametrize("kind", ["good", "mixture"])
def test_without_hessians_it_comes_close(kind, monkeypatch):
    codes, labels = draw(kind, 700, 10, 10)
    expected, best = predict_logistic(codes[:700], labels[:700], codes[700:])
    monkeypatch.setattr(logistic, "MANY", 0)
    ours, strength = predict_logistic(codes[:700], labels[:700], codes[700:])
    assert abs(np.log10(strength / best)) < 1
    assert np.mean(ours == labels[700:]) == pytest.approx(np.mean(expected == labels[700:]), abs=0.02)


@pytest.mark.parametrize(("classes", "scale"), [(2, 1.0), (3, 0.01), (6, 100.0)])
def test_the_penalty_weighs_the_codes_as_given(classes, scale):
    codes, labels = draw("good", 300, 5, classes)
    ours, strength = predict_logistic(scale * codes[:300], labels[:300], scale * codes[300:])
    expected, best = referee(scale * codes[:300], labels[:300], scale * codes[300:])
    assert strength == best
    assert np.mean(ours == expected) >= 0.999


def test_the_hessian_is_the_change_of_the_gradient():
    rng = np.random.default_rng(0)
    rows = logistic._Rows(rng.normal(size=(1200, 3)), rng.choice([0, 1, 3], size=1200), 4)
    weights, ridge = rng.normal(size=(4, 3)), np.zeros(3)
    changes = [
        (rows.gradient(weights + step, ridge) - rows.gradient(weights - step, ridge)).ravel() / 2e-5
        for step in 1e-5 * np.eye(12).reshape(12, 4, 3)
    ]
    np.testing.assert_allclose(rows.hessian(weights), changes, atol=1e-8)


def test_few_rows_and_odd_codes():
    """Folds lack classes, codes are constant, repeated or huge: no warning, and an answer among the values fitted."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 7):
        answers, _ = predict_logistic(rng.normal(size=(n, 3)), np.arange(n) * 5, rng.normal(size=(20, 3)))
        assert set(answers) <= set(range(0, 5 * n, 5))
    code = rng.normal(size=(40, 1))
    odd = np.hstack([code, code, 1e90 * code, 1e-90 * code, 1e-170 * code, np.ones((40, 1))])
    factor = (code[:, 0] > 0).astype(int)
    assert np.mean(predict_logistic(odd, factor, odd)[0] == factor) > 0.9
    assert predict_logistic(np.ones((9, 2)), np.array([1, 2, 2] * 3), np.zeros((2, 2)))[0].tolist() == [2, 2]


@pytest.mark.parametrize("n", [400, 550])
@pytest.mark.parametrize("place", range(3))
def test_a_code_that_is_constant_where_it_is_fitted_costs_nothing(place, n):
    """It has no curvature: a direction of its own once ran away with the fit."""
    codes, labels = draw("good", n, 3, 3)
    dead = np.insert(codes, place, 7.25, axis=1)
    dead[n + 50 :, place] = 100.0  # in test rows it may be anything
    found, expected = (predict_logistic(some[:n], labels[:n], some[n:]) for some in (dead, codes))
    assert found[1] == expected[1]
    np.testing.assert_array_equal(found[0], expected[0])
