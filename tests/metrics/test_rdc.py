"""MCC with the randomised dependence coefficient against a direct computation from the paper."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.linalg import qr
from scipy.stats import rankdata

from unweave.errors import UsageError
from unweave.metrics import evaluate, mcc, mcc_rdc
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.rdc import canonical


def rdc(x, y, weights):
    """The coefficient of two variables, step by step as in the paper, with R's rule for the rank of a matrix."""
    bases = []
    for values, (w, b) in zip((x, y), weights, strict=True):
        copula = rankdata(values) / len(values)
        features = np.sin(np.outer(copula, w) + b)
        found: Any = qr(features - features.mean(axis=0), mode="economic", pivoting=True)
        size = np.abs(np.diag(found[1]))
        bases.append(found[0][:, size > 1e-7 * size[0]])
    return np.linalg.norm(bases[0].T @ bases[1], ord=2)


def referee(codes, factors, seed=0):
    weights = generator(seed, DRAW).normal(size=(2, 2, 20)) / 6**0.5
    pairs = [[rdc(code, factor, weights) for factor in factors.T] for code in codes.T]
    orders = itertools.permutations(range(codes.shape[1]), factors.shape[1])
    return max(np.mean([pairs[j][k] for k, j in enumerate(order)]) for order in orders)


def cases():
    rng = np.random.default_rng(0)
    numbers, classes = rng.normal(size=(300, 3)), rng.integers([3, 8, 40], size=(300, 3))
    yield "linear and noisy", numbers + rng.normal(size=(300, 3)), numbers
    yield "squares", numbers**2, numbers
    yield "mixed", numbers @ rng.normal(size=(3, 4)), numbers
    yield "classes", classes + rng.normal(size=(300, 3)), classes
    yield "noise", rng.normal(size=(300, 4)), numbers


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(("codes", "factors"), [pytest.param(*rest, id=name) for name, *rest in cases()])
def test_it_is_the_coefficient_of_the_paper(codes, factors, seed):
    """Features end where rounding begins: by a QR here, by singular values there, which is worth less than 1e-4."""
    assert mcc_rdc(codes, factors, seed=seed) == pytest.approx(referee(codes, factors, seed), abs=1e-4)


def test_canonical_correlations_are_those_of_orthonormal_bases():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(50, 2, 3)), rng.normal(size=(50, 4, 2))
    found = canonical(left, right)
    for i, j in itertools.product(range(2), range(4)):
        q, p = (np.linalg.qr(each - each.mean(axis=0))[0] for each in (left[:, i], right[:, j]))
        assert found[i, j] == pytest.approx(np.linalg.norm(q.T @ p, ord=2), abs=1e-12)


@pytest.mark.parametrize("kind", ["linear", "rank"])
def test_it_sees_what_correlations_do_not(kind):
    """A parabola, a cosine, and a whole period of a sine, less what correlates with it."""
    x = np.random.default_rng(0).uniform(-1, 1, size=(4000, 1))
    for curve in (x**2, np.cos(np.pi * x)):
        assert mcc(curve, x, kind=kind) < 0.05
        assert mcc_rdc(curve, x) > 0.99
    sine = np.sin(np.pi * x)
    assert mcc(sine, x, kind=kind) < 0.8
    assert mcc_rdc(sine, x) > 0.94


def test_a_normal_pair_has_its_correlation():
    """Rényi's seventh property: nothing beats the line where both are normal together."""
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 20_000, 1))
    assert mcc_rdc(0.6 * x + 0.8 * noise, x) == pytest.approx(0.6, abs=0.02)


def test_noise_scores_its_floor_and_not_0():
    rng = np.random.default_rng(0)
    few, many = (mcc_rdc(rng.normal(size=(n, 4)), rng.normal(size=(n, 4))) for n in (200, 20_000))
    assert 0.2 < few < 0.5
    assert 0.02 < many < 0.05
    codes, factors = rng.normal(size=(2, 400, 4))
    row = evaluate(codes, factors, "mcc-rdc", intervals=False).row(0, named=True)
    assert row["floor"] == pytest.approx(row["value"], abs=0.04)
    assert row["adjusted"] == pytest.approx(0, abs=0.05)
    assert row["ceiling"] == pytest.approx(1, abs=1e-6)


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert mcc_rdc(*worlds["perfect"](2000, rng)) == pytest.approx(1.0, abs=1e-9)
    assert mcc_rdc(*worlds["duplicated"](2000, rng)) == pytest.approx(1.0, abs=1e-9)
    assert mcc_rdc(*worlds["useless"](10_000, rng)) < 0.05
    assert mcc_rdc(np.ones((10, 3)), np.arange(10)[:, None] % 2) == 0.0


def test_increasing_functions_change_nothing_and_a_sign_next_to_nothing():
    _, codes, factors = next(cases())
    score = mcc_rdc(codes, factors)
    assert mcc_rdc(np.exp(codes), factors**3) == score
    assert mcc_rdc(-codes, factors) == pytest.approx(score, abs=1e-4)
    assert mcc_rdc(codes, factors, seed=1) == pytest.approx(score, abs=1e-3)


def test_a_factor_without_a_code_counts_0_and_a_constant_one_is_left_out():
    x = np.random.default_rng(0).normal(size=(2000, 2))
    assert mcc_rdc(x[:, :1], x) == pytest.approx(0.5, abs=1e-6)
    assert mcc_rdc(x, np.hstack([x, np.ones((2000, 1))])) == mcc_rdc(x, x)


def test_all_rows_as_a_subset_give_the_score_again():
    _, codes, factors = next(cases())
    sampled = mcc_rdc.sample(codes, factors)
    assert sampled.rescore(np.ones((1, 300), bool)) == pytest.approx([sampled.score], abs=1e-12)
    assert sampled.per_factor[""].mean() == pytest.approx(sampled.score)
    half = np.arange(300) % 2 == 0
    assert sampled.rescore(half[None])[0] == pytest.approx(mcc_rdc(codes[half], factors[half]), abs=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": 0}, "features must be a whole number from 1 up"),
        ({"scale": 0.0}, "scale must be a number above 0"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(UsageError, match=message):
        mcc_rdc([[1.0], [2.0]], [[0], [1]], **options)
