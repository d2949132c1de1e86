"""Soft ranks: against exact ranks, a projection by definition, and finite differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from scipy.optimize import minimize
from scipy.stats import pearsonr, rankdata, spearmanr

from unweave.errors import UsageError
from unweave.perception import soft_rank, soft_spearman

VECTORS = some.lists(some.floats(-50, 50), min_size=1, max_size=24).map(np.array)
STRENGTHS = some.sampled_from([0.01, 0.3, 1.0, 10.0, 1000.0])


def ranks(values: np.ndarray, strength: float) -> np.ndarray:
    return soft_rank(torch.from_numpy(np.asarray(values, dtype=np.float64)), strength).numpy()


def by_the_formula(values: np.ndarray, strength: float) -> np.ndarray:
    """The isotonic regression as its min-max formula, v_i = max_{j <= i} min_{k >= i} mean(y_j, …, y_k)."""
    order = np.argsort(values, kind="stable")
    scaled = values[order] / strength
    y = scaled - np.arange(1, len(values) + 1)
    fitted = [
        max(min(y[j : k + 1].mean() for k in range(i, len(y))) for j in range(i + 1)) for i in range(len(y))
    ]  # fmt: skip
    found = np.empty(len(values))
    found[order] = scaled - fitted
    return found


def by_a_solver(point: np.ndarray) -> np.ndarray:
    """The nearest point of the permutahedron, which is where k entries add up to 1 + … + k at least."""
    size = len(point)
    total = {"type": "eq", "fun": lambda r: r.sum() - size * (size + 1) / 2}
    limits = [
        {"type": "ineq", "fun": lambda r, chosen=list(chosen): r[chosen].sum() - len(chosen) * (len(chosen) + 1) / 2}
        for count in range(1, size)
        for chosen in combinations(range(size), count)
    ]
    start = np.full(size, (size + 1) / 2)
    return minimize(lambda r: ((r - point) ** 2).sum(), start, constraints=[total, *limits], tol=1e-12).x


@given(VECTORS, STRENGTHS)
def test_ranks_are_the_isotonic_regression_by_its_formula(values, strength):
    np.testing.assert_allclose(ranks(values, strength), by_the_formula(values, strength), atol=1e-8)


@pytest.mark.parametrize("strength", [0.1, 0.5, 1.0, 3.0])
def test_ranks_are_the_nearest_point_of_the_permutahedron(strength):
    values = np.random.default_rng(0).normal(size=5)
    np.testing.assert_allclose(ranks(values, strength), by_a_solver(values / strength), atol=1e-5)


@given(some.lists(some.integers(-5, 5), min_size=1, max_size=30).map(np.array))
def test_without_regularisation_they_are_the_exact_ranks_and_ties_share_the_mean(values):
    for strength in (1 / len(values), 1e-3, 1e-12):
        np.testing.assert_allclose(ranks(values, strength), rankdata(values), atol=1e-9)


def test_the_ranks_of_many_values_are_exact_to_the_last_digit():
    values = np.random.default_rng(1).permutation(4096) * 1e3
    np.testing.assert_array_equal(ranks(values, 1e-9), rankdata(values))


def test_with_much_regularisation_they_are_the_values_but_for_a_constant():
    values = np.random.default_rng(2).normal(size=50)
    np.testing.assert_allclose(ranks(values, 1e3), values / 1e3 - values.mean() / 1e3 + 25.5, atol=1e-12)


@given(VECTORS, STRENGTHS, some.randoms())
def test_another_order_of_the_values_is_the_same_order_of_the_ranks(values, strength, random):
    order = np.array(random.sample(range(len(values)), len(values)))
    np.testing.assert_allclose(ranks(values[order], strength), ranks(values, strength)[order], atol=1e-9)


@given(VECTORS, STRENGTHS)
def test_ranks_keep_the_order_of_values_and_their_own_sum(values, strength):
    found = ranks(values, strength)
    assert found.sum() == pytest.approx(len(values) * (len(values) + 1) / 2)
    assert (np.diff(found[np.argsort(values)]) >= -1e-9).all()


@pytest.mark.parametrize("strength", [0.05, 0.3, 1.0, 20.0])
def test_gradients_are_those_of_finite_differences(strength):
    values = torch.randn(25, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).requires_grad_()
    target = torch.randn(25, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    assert torch.autograd.gradcheck(lambda x: soft_rank(x, strength), (values,))
    assert torch.autograd.gradcheck(lambda x: soft_spearman(x, target, strength), (values,))


def test_the_correlation_goes_from_spearmans_to_pearsons():
    rng = np.random.default_rng(5)
    x = rng.normal(size=200)
    y = np.round(np.exp(x) + rng.normal(size=200))
    first, second = torch.from_numpy(x), torch.from_numpy(y)
    assert soft_spearman(first, second, 1e-9).item() == pytest.approx(spearmanr(x, y)[0])
    assert soft_spearman(first, second, 1e6).item() == pytest.approx(pearsonr(x, y)[0])
    assert soft_spearman(first, -second, 1e-9).item() == pytest.approx(spearmanr(x, -y)[0])


def test_gradients_go_to_the_first_alone_and_are_those_of_its_type():
    x, y = torch.rand(30, requires_grad=True), torch.rand(30, requires_grad=True)
    soft_spearman(x, y, 0.1).backward()
    assert x.grad is not None
    assert x.grad.dtype == torch.float32
    assert x.grad.abs().sum() > 0
    assert y.grad is None


def test_constant_values_have_no_correlation_and_no_gradient_that_is_not_a_number():
    x = torch.ones(10, requires_grad=True)
    correlation = soft_spearman(x, torch.arange(10.0))
    correlation.backward()
    assert correlation.item() == 0
    assert x.grad is not None
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("strength", [0.0, -1.0, float("nan"), float("inf")])
def test_a_strength_is_positive(strength):
    with pytest.raises(UsageError, match="strength of soft ranks must be positive"):
        soft_rank(torch.rand(3), strength)


def test_without_a_number_there_are_no_ranks():
    x = torch.tensor([1.0, float("nan"), 2.0], requires_grad=True)
    assert soft_rank(x).isnan().all()
    assert soft_spearman(x, torch.arange(3.0)).isnan()


def test_equal_values_share_their_rank_however_large_they_are():
    values = np.repeat([0.1, 1 / 3, 7e11], 3) * 1e15
    np.testing.assert_array_equal(ranks(values, 1e-9), rankdata(values))


def test_ranks_are_those_of_a_vector():
    with pytest.raises(UsageError, match=r"not an array of shape \(2, 3\)"):
        soft_rank(torch.rand(2, 3))
    with pytest.raises(UsageError, match=r"not an array of shape \(0,\)"):
        soft_rank(torch.rand(0))
