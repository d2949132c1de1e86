"""DCI against a referee that calls scikit-learn and scipy as disentanglement_lib does, and in known worlds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LassoCV, LogisticRegression
from sklearn.preprocessing import StandardScaler

from unweave.errors import UsageError
from unweave.metrics.boosting import BoostedTrees
from unweave.metrics.dci import DCI, completeness, dci, disentanglement, importance_matrix
from unweave.metrics.inputs import FIT, generator

LEARNERS = ["gbt", "random-forest", "lasso", "logistic"]


def referee_disentanglement(matrix):
    per_code = 1.0 - entropy(matrix.T + 1e-11, base=matrix.shape[1])
    return float(per_code @ (matrix.sum(axis=1) / matrix.sum()))


def referee_completeness(matrix):
    per_factor = 1.0 - entropy(matrix + 1e-11, base=matrix.shape[0])
    return float(per_factor @ (matrix.sum(axis=0) / matrix.sum()))


def small_world(n=300, seed=0):
    """Two factors of two and three values; a code each, a mixture and noise."""
    rng = np.random.default_rng(seed)
    factors = rng.integers([2, 3], size=(n, 2))
    codes = rng.normal(size=(n, 4))
    codes[:, :2] = factors + 0.4 * codes[:, :2]
    codes[:, 2] += factors.sum(axis=1)
    return codes, factors


def halves(codes, factors):
    border = 2 * len(codes) // 3
    return codes[:border], factors[:border], (codes[border:], factors[border:])


@pytest.mark.parametrize("shape", [(10, 5), (4, 2), (3, 7)])
def test_the_formulas(shape):
    matrix = np.random.default_rng(0).dirichlet(np.full(shape[0], 0.3), size=shape[1]).T
    matrix[0] = 0.0
    matrix[1, 1:] = 0.0
    assert disentanglement(matrix) == pytest.approx(referee_disentanglement(matrix), abs=1e-6)
    assert completeness(matrix) == pytest.approx(referee_completeness(matrix), abs=1e-6)


def test_matrices_of_known_scores():
    assert disentanglement(np.eye(4)) == completeness(np.eye(4)) == 1.0
    assert disentanglement(np.ones((4, 3))) == pytest.approx(0.0, abs=1e-15)
    assert completeness(np.ones((4, 3))) == pytest.approx(0.0, abs=1e-15)
    assert disentanglement(np.zeros((4, 3))) == completeness(np.zeros((4, 3))) == 0.0
    twice = np.vstack([np.eye(2), np.eye(2)])  # each factor in two codes
    assert disentanglement(twice) == 1.0
    assert completeness(twice) == pytest.approx(0.5)
    assert disentanglement(np.ones((3, 1))) == 1.0  # one factor: no code can serve another
    assert completeness(np.ones((1, 3))) == 1.0  # one code: no factor can use another
    dead = np.vstack([np.eye(3), np.zeros((2, 3))])  # a dead code does not end the sum
    assert disentanglement(dead) == completeness(dead) == 1.0


def test_boosted_trees_are_close_to_scikit_learns():
    codes, factors, test = halves(*small_world())
    models = [GradientBoostingClassifier(random_state=0).fit(codes, factor) for factor in factors.T]
    matrix = np.stack([model.feature_importances_ for model in models], axis=1)
    right = [model.score(test[0], truth) for model, truth in zip(models, test[1].T, strict=True)]
    ours = dci(codes, factors, test=test)
    assert ours.disentanglement == pytest.approx(referee_disentanglement(matrix), abs=0.02)
    assert ours.completeness == pytest.approx(referee_completeness(matrix), abs=0.02)
    assert ours.informativeness == pytest.approx(np.mean(right), abs=0.03)
    np.testing.assert_allclose(importance_matrix(codes, factors), matrix, atol=0.02)


def referee_models(learner, codes, factors, test_codes):
    """Importances and predictions of each factor, every step by scikit-learn."""
    draw = int(generator(5, FIT).integers(2**31))
    scaler = StandardScaler().fit(codes)
    z, test_z = scaler.transform(codes), scaler.transform(test_codes)
    for factor in factors.T:
        if learner == "gbt":
            model = BoostedTrees().fit(codes, factor)
            yield model.feature_importances_, model.predict(test_codes)
        elif learner == "random-forest":
            model = RandomForestClassifier(criterion="entropy", max_depth=10, random_state=draw).fit(codes, factor)
            yield model.feature_importances_, model.predict(test_codes)
        elif learner == "lasso":
            model = LassoCV(cv=5).fit(z, StandardScaler().fit_transform(factor[:, None])[:, 0])
            yield np.abs(model.coef_), factor.mean() + factor.std() * model.predict(test_z)
        else:
            models = [
                LogisticRegression(l1_ratio=1.0, solver="liblinear", random_state=draw).fit(z, factor == value)
                for value in np.unique(factor)
            ]
            weights = np.abs(np.concatenate([model.coef_ for model in models])).sum(axis=0)
            yield weights, np.argmax([model.decision_function(test_z) for model in models], axis=0)


@pytest.mark.parametrize("learner", LEARNERS)
def test_it_is_the_formula_of_its_learner(learner):
    codes, factors, test = halves(*small_world(seed=1))
    importances, predicted = zip(*referee_models(learner, codes, factors, test[0]), strict=True)
    matrix = np.stack(importances, axis=1)
    if learner == "lasso":
        errors = [np.sqrt(np.mean((f - v) ** 2)) / v.std() for f, v in zip(predicted, test[1].T, strict=True)]
        informativeness = 1 - np.mean(errors)
    else:
        informativeness = np.mean(np.transpose(predicted) == test[1])
    expected = referee_disentanglement(matrix), referee_completeness(matrix), informativeness
    assert dci(codes, factors, test=test, learner=learner, seed=5) == pytest.approx(expected, abs=1e-6)
    np.testing.assert_allclose(importance_matrix(codes, factors, learner=learner, seed=5), matrix, atol=1e-6)


@pytest.mark.parametrize("learner", ["gbt", "lasso", "logistic"])
def test_perfect_and_useless_codes(learner, worlds):
    perfect = dci(*worlds["perfect"](900, np.random.default_rng(0)), learner=learner)
    useless = dci(*worlds["useless"](900, np.random.default_rng(0)), learner=learner)
    assert min(perfect[:2]) > 0.85
    assert max(useless[:2]) < 0.4
    assert perfect.informativeness > useless.informativeness + 0.15


@pytest.mark.parametrize("learner", LEARNERS)
def test_constant_codes_are_used_for_nothing(learner):
    factors = np.arange(60)[:, None] % 3
    score = dci(np.ones((60, 2)), factors, learner=learner)
    assert score[:2] == (0.0, 0.0)
    assert 0.0 <= score.informativeness < 0.5
    assert importance_matrix(np.ones((60, 2)), factors, learner=learner).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("learner", LEARNERS)
def test_few_and_odd_rows(learner):
    """Two rows, more codes than rows, values that only the test rows have, and a factor constant where fitted."""
    rng = np.random.default_rng(0)
    for n, held_out in ((2, 3), (6, 30)):
        factors = np.stack([np.arange(n) % 2, np.full(n, 4)], axis=1)
        test = rng.normal(size=(held_out, 9)), rng.integers(5, size=(held_out, 2))
        score = dci(rng.normal(size=(n, 9)), factors, test=test, learner=learner)
        assert all(0.0 <= part <= 1.0 for part in score)


def test_a_factor_constant_where_it_is_fitted_is_a_column_of_zeros():
    codes, factors, test = halves(*small_world())
    both = np.stack([factors[:, 0], np.full(len(factors), 1)], axis=1)
    matrix = importance_matrix(codes, both)
    assert matrix[:, 1].tolist() == [0.0] * 4
    score = dci(codes, both, test=test)
    assert score.disentanglement == 1.0
    right = np.mean(test[1][:, 1] == 1)
    accuracy = np.mean(BoostedTrees().fit(codes, factors[:, 0]).predict(test[0]) == test[1][:, 0])
    assert score.informativeness == pytest.approx((accuracy + right) / 2)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_seed_fixes_it(learner):
    codes, factors = small_world(n=120)
    first = dci(codes, factors, learner=learner, seed=3)
    assert isinstance(first, DCI)
    assert first == dci(codes, factors, learner=learner, seed=3)


def test_a_subset_is_fitted_and_tested_again():
    codes, factors, test = halves(*small_world())
    kept = np.random.default_rng(0).random(300) < 0.5
    border = len(codes)
    alone = dci(codes[kept[:border]], factors[kept[:border]], test=(test[0][kept[border:]], test[1][kept[border:]]))
    sampled = dci.sample(codes, factors, test=test)
    assert sampled.replicates == 6
    np.testing.assert_allclose(sampled.rescore(kept[None]), [alone], atol=1e-12)


def test_unknown_learners_are_refused():
    with pytest.raises(UsageError, match="did you mean 'gbt'"):
        dci([[0.0], [1.0]], [[0], [1]], learner="gb")  # type: ignore[arg-type]
