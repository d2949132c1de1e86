from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from unweave.errors import UsageError
from unweave.metrics import evaluate, k_sparse_probing


def one_hot_world(rows=900, sizes=(4, 6), noise=0.1, extra=40, seed=0):
    """One code for each value of each factor, among codes of noise."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(sizes, size=(rows, len(sizes)))
    hot = np.hstack([np.eye(size)[factors[:, k]] for k, size in enumerate(sizes)])
    codes = np.hstack([hot + noise * rng.normal(size=hot.shape), rng.normal(size=(rows, extra))])
    return codes[:, rng.permutation(codes.shape[1])] * rng.uniform(0.1, 10, codes.shape[1]), factors


def referee(train, test, k, factor):
    """Choose by the difference of means in standard deviations, and fit scikit-learn's regression to each value."""
    (z, v), (tz, tv) = train, test
    centre, spread = z.mean(0), z.std(0)
    z, tz = (z - centre) / spread, (tz - centre) / spread
    values = np.unique(v[:, factor])
    odds = []
    for value in values:
        own = v[:, factor] == value
        best = np.argsort(-np.abs(z[own].mean(0) - z[~own].mean(0)))[:k]
        model = LogisticRegression(C=100.0, tol=1e-8, max_iter=1000).fit(z[:, best], own)
        odds.append(model.decision_function(tz[:, best]))
    return np.mean(values[np.argmax(odds, axis=0)] == tv[:, factor])


@pytest.mark.parametrize("k", [1, 3])
def test_it_is_what_a_plain_computation_gives(k):
    codes, factors = one_hot_world(noise=0.6)
    train, test = (codes[:600], factors[:600]), (codes[600:], factors[600:])
    expected = np.mean([referee(train, test, k, factor) for factor in range(2)])
    assert k_sparse_probing(*train, test=test, k=k) == pytest.approx(expected, abs=0.004)  # a row of 300 at the border
    assert 0.3 < expected < 0.99


def test_one_code_for_each_value_suffices_for_values():
    codes, factors = one_hot_world()
    assert k_sparse_probing(codes, factors) > 0.99
    assert k_sparse_probing(codes, factors, choice="mutual-information") > 0.99
    assert k_sparse_probing(codes, factors, per="factor") < 0.6  # one code tells one value
    assert k_sparse_probing(codes, factors, per="factor", k=6) > 0.95


def test_one_number_for_each_factor_suffices_for_factors():
    rng = np.random.default_rng(0)
    factors = rng.integers((4, 6), size=(900, 2))
    codes = np.hstack([factors + 0.02 * rng.normal(size=factors.shape), rng.normal(size=(900, 30))])
    for choice in ("mean-difference", "mutual-information"):
        assert k_sparse_probing(codes, factors, per="factor", choice=choice) > 0.97
    folded = np.hstack([np.abs(codes[:, :2] - 1.5), codes[:, 2:]])  # two values have the same number
    assert k_sparse_probing(folded, factors, per="factor") < 0.75


def test_more_codes_help_where_information_is_spread():
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(900, 1))
    codes = np.eye(4)[factors[:, 0]].repeat(6, axis=1) + rng.normal(size=(900, 24))
    scores = [k_sparse_probing(codes, factors, k=k) for k in (1, 3, 6)]
    assert scores[0] + 0.1 < scores[1]
    assert scores[1] + 0.05 < scores[2]
    assert k_sparse_probing(codes, factors, k=100) >= scores[2] - 0.05  # all there are


def test_codes_are_chosen_on_train_rows_alone():
    """A code that copies the factor in the test rows and is noise in the train rows is of no use."""
    rng = np.random.default_rng(0)
    factors = rng.integers(2, size=(600, 1))
    codes = rng.normal(size=(600, 5))
    codes[300:, 0] = factors[300:, 0]
    assert k_sparse_probing(codes[:300], factors[:300], test=(codes[300:], factors[300:])) < 0.65


def test_values_that_no_train_row_has_are_predicted_wrongly():
    z = np.array([[0.0], [1.0]] * 20)
    v = np.array([[0], [1]] * 20)
    unseen = np.where(np.arange(40)[:, None] < 10, 2, v)
    assert k_sparse_probing(z, v, test=(z, unseen)) == pytest.approx(0.75)


def test_wrong_options_are_answered():
    codes, factors = one_hot_world(rows=60)
    with pytest.raises(UsageError, match="k must be a whole number from 1 up"):
        k_sparse_probing(codes, factors, k=0)
    with pytest.raises(UsageError, match="way of probing"):
        k_sparse_probing(codes, factors, per="values")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="choice of codes"):
        k_sparse_probing(codes, factors, choice="f1")  # pyright: ignore[reportArgumentType]


def test_the_group_for_many_codes_is_scored_by_name():
    codes, factors = one_hot_world(rows=900, extra=10)
    table = evaluate(codes, factors, metrics="k-sparse-probing", intervals=False)
    row = table.row(0, named=True)
    assert row["value"] > 0.99
    assert row["ceiling"] is None
    assert 0.1 < row["floor"] < 0.35
