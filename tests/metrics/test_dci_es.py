"""DCI-ES against a referee that solves each probe on its own, on known curves, and where it is fooled."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from unweave.errors import UsageError
from unweave.metrics.dci_es import DCIES, Curves, _explicitness, dci_es, loss_capacity_curves
from unweave.metrics.inputs import FIT, generator
from unweave.metrics.probes import TREES, forest_predictions


def features(codes, directions):
    waves = [f(codes @ direction) for direction in directions for f in (np.cos, np.sin)]
    return np.column_stack([codes, *waves])


def loss_of(codes, factor, test_codes, truth, targets):
    """The loss of one ridge regression on one factor."""
    values = np.unique(factor)
    goal = (factor[:, None] == values).astype(float) if targets == "classes" else factor[:, None].astype(float)
    answer = Ridge(alpha=1e-5 * len(factor), solver="cholesky").fit(codes, goal).predict(test_codes)
    answer = answer.reshape(len(truth), -1)
    if targets == "classes":
        return np.mean(values[answer.argmax(axis=1)] != truth)
    return np.sum((answer[:, 0] - truth) ** 2) / np.sum((truth - truth.mean()) ** 2)


def referee(train, held_out, targets, seed=0):
    scaler = StandardScaler().fit(train[0])
    codes, test_codes = scaler.transform(train[0]), scaler.transform(held_out[0])
    directions = 0.5 * generator(seed, FIT).normal(size=(504, train[0].shape[1]))
    explicit = []
    for factor, truth in zip(train[1].T, held_out[1].T, strict=True):
        values, counts = np.unique(factor, return_counts=True)
        baseline = np.mean(truth != values[counts.argmax()]) if targets == "classes" else 1.0
        xs, ys, least = [], [], baseline
        for doublings in range(7):
            m = 16 * (2**doublings - 1)
            wide, test_wide = (features(z, directions[: m // 2]) for z in (codes, test_codes))
            least = min(least, loss_of(wide, factor, test_wide, truth, targets))
            xs.append(doublings * np.log(2))
            ys.append(least)
        area = sum((xs[i + 1] - xs[i]) * ((ys[i] + ys[i + 1]) / 2 - ys[-1]) for i in range(6))
        explicit.append(1 - 2 * area / (baseline * (xs[-1] - xs[0])))
    return np.mean(explicit)


def halves(codes, factors, border):
    return (codes[:border], factors[:border]), (codes[border:], factors[border:])


@pytest.mark.parametrize("targets", ["classes", "numbers"])
@pytest.mark.parametrize("name", ["useless", "noisy", "duplicated"])
def test_it_is_the_formula(worlds, name, targets):
    train, held_out = halves(*worlds[name](450, np.random.default_rng(0)), border=300)
    found = dci_es(*train, test=held_out, targets=targets)
    assert found.explicitness == pytest.approx(referee(train, held_out, targets), abs=1e-6)
    assert found.size == 3 / train[0].shape[1]


def test_a_subset_is_fitted_and_tested_again(worlds):
    train, held_out = halves(*worlds["noisy"](450, np.random.default_rng(0)), border=300)
    again = dci_es.sample(*train, test=held_out).rescore(np.arange(450)[None] % 2 == 0)
    expected = referee([part[::2] for part in train], [part[::2] for part in held_out], "classes")
    np.testing.assert_allclose(again, np.array([[expected, 0.5]]), atol=1e-6)


@pytest.mark.parametrize(
    ("losses", "expected"),
    [([1, 0.75, 0.5, 0.25, 0], 0.0), ([0, 0, 0, 0, 0], 1.0), ([0.4] * 5, 1.0), ([1, 1, 1, 1, 0], -0.75)],
)
def test_known_curves(losses, expected):
    curves = Curves(np.arange(5), np.array([losses]), np.array([1.0]))
    assert _explicitness(curves, np.arange(5.0)) == pytest.approx(expected)


def test_a_forest_that_is_not_cut_is_scikit_learns(worlds):
    train, held_out = halves(*worlds["noisy"](450, np.random.default_rng(0)), border=300)
    depths, predicted = forest_predictions(train, held_out, True, np.random.default_rng(7))
    scaler = StandardScaler().fit(train[0])
    model = RandomForestClassifier(TREES, max_depth=32, random_state=int(np.random.default_rng(7).integers(2**31)))
    model.fit(scaler.transform(train[0]), train[1][:, 0])
    np.testing.assert_array_equal(predicted[0][-1], model.predict(scaler.transform(held_out[0])))
    assert depths[-1] == 32


@pytest.mark.parametrize("targets", ["classes", "numbers"])
def test_a_shallow_forest_answers_with_few_leaves(worlds, targets):
    train, held_out = halves(*worlds["perfect"](900, np.random.default_rng(0)), border=600)
    losses = loss_capacity_curves(*train, test=held_out, probe="forest", targets=targets).losses
    assert (losses[:, 0] > losses[:, -1] + 0.05).all()
    assert (losses[:, -1] < 0.05).all()
    assert dci_es(*train, test=held_out, probe="forest", axis="log").explicitness < 0.9


def test_linear_codes_are_explicit_as_numbers_and_curved_ones_less(worlds):
    codes, factors = worlds["perfect"](1500, np.random.default_rng(0))
    assert dci_es(codes, factors, targets="numbers").explicitness == pytest.approx(1.0, abs=1e-6)
    circles = np.hstack([np.cos(3 * codes), np.sin(3 * codes)])
    assert dci_es(circles, factors, targets="numbers").explicitness < 0.7


@pytest.mark.parametrize("probe", ["rff", "forest"])
@pytest.mark.parametrize("targets", ["classes", "numbers"])
def test_codes_that_tell_nothing_are_explicit(probe, targets):
    """The curve is flat: E alone says nothing about how much is known."""
    factors = np.arange(90)[:, None] % [2, 5]
    assert dci_es(np.full((90, 3), 0.1), factors, probe=probe, targets=targets) == DCIES(1.0, 2 / 3)


@pytest.mark.parametrize("probe", ["rff", "forest"])
@pytest.mark.parametrize("targets", ["classes", "numbers"])
def test_few_rows_of_many_codes_and_values_seen_once(probe, targets):
    rng = np.random.default_rng(0)
    found = dci_es(1e90 * rng.normal(size=(12, 30)), np.arange(12)[:, None], probe=probe, targets=targets)
    assert -1.0 <= found.explicitness <= 1.0
    mixed, single = np.arange(40)[:, None] % 2, np.zeros((40, 1), dtype=int)
    assert dci_es(mixed * 1.0, mixed, test=(mixed * 1.0, single), probe=probe, targets=targets).explicitness == 1.0
    assert dci_es(mixed * 1.0, single, test=(mixed * 1.0, mixed), probe=probe, targets=targets).explicitness == 1.0


@pytest.mark.parametrize("wrong", [{"probe": "mlp"}, {"targets": "ranks"}, {"axis": "log2"}])
def test_unknown_options_are_named(wrong):
    with pytest.raises(UsageError, match="is called"):
        dci_es([[0.0], [1.0]], [[0], [1]], **wrong)
