"""Explicitness against scikit-learn called plainly: its scaler, its classifier and its area under the ROC curve."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler, label_binarize

from unweave.errors import UsageError
from unweave.metrics.explicitness import explicitness


def referee(train, held_out, penalty=1.0):
    scaler = StandardScaler().fit(train[0])
    areas = []
    for factor, truth in zip(train[1].T, held_out[1].T, strict=True):
        model = LogisticRegression(C=penalty, tol=1e-10, max_iter=10_000).fit(scaler.transform(train[0]), factor)
        chances = model.predict_proba(scaler.transform(held_out[0]))
        if len(model.classes_) == 2:
            areas.append(roc_auc_score(truth, chances[:, 1]))
            continue
        marks = label_binarize(truth, classes=model.classes_)
        seen = marks.any(axis=0)
        areas.append(roc_auc_score(marks[:, seen], chances[:, seen], average="macro"))
    return np.mean(areas)


def halves(codes, factors, border):
    return (codes[:border], factors[:border]), (codes[border:], factors[border:])


@pytest.mark.parametrize("name", ["useless", "duplicated", "noisy"])
def test_it_is_scikit_learns(worlds, name):
    train, held_out = halves(*worlds[name](900, np.random.default_rng(0)), border=600)
    assert explicitness(*train, test=held_out) == pytest.approx(referee(train, held_out), abs=1e-9)


def test_codes_of_any_scale_and_two_values(worlds):
    codes, factors = worlds["noisy"](600, np.random.default_rng(1))
    train, held_out = halves(codes * [1e-6, 1, 1e6, 1, 1, 1] + 5.0, factors % 2, border=400)
    assert explicitness(*train, test=held_out) == pytest.approx(referee(train, held_out), abs=1e-6)


def test_ties_count_half():
    """Codes of two values give probabilities of two values: almost all pairs are ties."""
    rng = np.random.default_rng(0)
    factor = rng.integers(4, size=(300, 1))
    train, held_out = halves((factor > 1) * 1.0, factor, border=200)
    assert explicitness(*train, test=held_out) == pytest.approx(referee(train, held_out), abs=1e-9)


def test_a_value_that_is_not_tested_is_left_out(worlds):
    codes, factors = worlds["noisy"](900, np.random.default_rng(2))
    train, held_out = halves(codes, factors[:, 2:], border=600)
    few = held_out[1][:, 0] < 7
    held_out = held_out[0][few], held_out[1][few]
    assert explicitness(*train, test=held_out) == pytest.approx(referee(train, held_out), abs=1e-9)


def test_a_value_that_is_not_fitted_counts_as_chance():
    factor = np.arange(60)[:, None] % 3
    train, held_out = halves(factor * 1.0, factor, border=30)
    two = train[1][:, 0] < 2
    found = explicitness(train[0][two], train[1][two], test=held_out)
    assert found == pytest.approx((1.0 + 0.5 + 0.5) / 3)  # the line puts 2 beyond 1: half of the others above 1's rows


def test_three_worlds(worlds):
    rng = np.random.default_rng(0)
    assert explicitness(*worlds["perfect"](1500, rng)) == pytest.approx(1.0, abs=1e-3)
    assert explicitness(*worlds["useless"](1500, rng)) == pytest.approx(0.5, abs=0.03)
    assert explicitness(np.full((60, 2), 0.1), np.arange(60)[:, None] % 3) == 0.5


def test_one_value_to_fit_or_to_test_is_chance():
    mixed, single = np.arange(40)[:, None] % 2, np.zeros((40, 1), dtype=int)
    assert explicitness(mixed * 1.0, single, test=(mixed * 1.0, mixed)) == 0.5
    assert explicitness(mixed * 1.0, mixed, test=(mixed * 1.0, single)) == 0.5
    with pytest.raises(UsageError, match="single value"):
        explicitness(mixed * 1.0, single)


def test_more_codes_than_rows_and_codes_that_hardly_move_where_they_are_fitted():
    rng = np.random.default_rng(0)
    assert 0.0 <= explicitness(rng.normal(size=(12, 30)), np.arange(12)[:, None] % 2) <= 1.0
    codes = np.where(np.arange(60)[:, None] < 30, 1e-90 * rng.normal(size=(60, 1)), 1e90)
    train, held_out = halves(codes, np.arange(60)[:, None] % 2, border=30)
    assert 0.0 <= explicitness(*train, test=held_out) <= 1.0


def test_a_subset_is_fitted_and_tested_again_with_the_same_total_penalty(worlds):
    train, held_out = halves(*worlds["noisy"](600, np.random.default_rng(0)), border=400)
    kept = np.arange(600) % 2 == 0
    again = explicitness.sample(*train, test=held_out).rescore(kept[None])
    expected = referee([part[::2] for part in train], [part[::2] for part in held_out], penalty=2.0)
    np.testing.assert_allclose(again, [expected], atol=1e-9)


def test_it_is_generous_to_values_that_look_alike():
    """A code that folds 0 onto 4 and 1 onto 3 ties each with one of four others: (4 * 7/8 + 1) / 5."""
    factor = np.arange(5000)[:, None] % 5
    assert explicitness((factor - 2.0) ** 2, factor) == pytest.approx(0.9, abs=0.01)


def test_a_pair_of_codes_that_decide_together_fools_it():
    codes = np.random.default_rng(0).choice([-1.0, 1.0], size=(3000, 2))
    assert explicitness(codes, (codes[:, :1] * codes[:, 1:] > 0).astype(int)) == pytest.approx(0.5, abs=0.05)
