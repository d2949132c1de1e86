"""Branch and bound against the list of all partitions, and bounds of I_m against the exact score."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.gaussian import im_bounds, im_score
from unweave.gaussian.im import _listed, _lowest_labels, _searched, correlations
from unweave.gaussian.information import tables


def random_covariances(m, s, rng, shared=None):
    loadings = rng.normal(size=(m + s, shared or m + s))
    joint = loadings @ loadings.T + (0.3 * np.eye(m + s) if shared else 0)
    return joint[:m, :m], joint[:m, m:], joint[m:, m:]


def of_independent(weights):
    return weights @ weights.T + np.eye(len(weights)), weights, np.eye(weights.shape[1])


def draws(count, seed, most_codes=6, most_factors=8):
    rng = np.random.default_rng(seed)
    for draw in range(count):
        m, s = rng.integers(1, most_codes + 1), rng.integers(1, most_factors + 1)
        if draw % 4 == 3:
            yield of_independent(rng.normal(size=(m, s)) * (rng.random(size=(m, s)) < 0.4))
        else:
            yield random_covariances(m, s, rng, shared=(None, 2, 1)[draw % 4])


def test_branch_and_bound_finds_what_a_list_of_all_partitions_holds():
    for covariances in draws(150, seed=0):
        known, entropy = tables(*correlations(*covariances))
        (listed, cost), (searched, penalty) = _listed(known, entropy), _searched(known, entropy)
        assert listed == searched
        assert penalty == pytest.approx(cost, abs=1e-12)
        assert _lowest_labels(known[:, listed]) == _lowest_labels(known[:, searched])


@pytest.mark.parametrize(("s", "m"), [(10, 8), (12, 12)])
def test_many_factors_take_a_moment(s, m):
    rng = np.random.default_rng(s + m)
    cases = [random_covariances(m, s, rng, shared) for shared in (None, 2)]
    cases += [of_independent(rng.normal(size=(m, s))), of_independent(np.zeros((m, s)))]
    cases += [of_independent(3 * np.eye(m, s) + 0.1 * rng.normal(size=(m, s)))]
    for covariances in cases:
        start = process_time()
        score = im_score(*covariances)
        assert process_time() - start < 5
        assert sorted(k for group in score.groups for k in group) == list(range(s))
        bounds = im_bounds(*covariances)
        assert bounds.value - 1e-9 <= score.value <= bounds.upper + 1e-9


def test_the_exact_score_lies_between_the_bounds():
    found = 0
    for covariances in draws(100, seed=1, most_factors=5):
        exact, bounds = im_score(*covariances), im_bounds(*covariances)
        assert bounds.value - 1e-9 <= exact.value <= bounds.upper + 1e-9
        found += bounds.value > exact.value - 1e-9
    assert found >= 95


def test_the_bounds_meet_where_each_code_has_factors_of_its_own():
    weights = np.zeros((5, 20))
    weights[np.arange(20) % 5, np.arange(20)] = 2.0
    bounds = im_bounds(*of_independent(weights))
    assert bounds.value == pytest.approx(bounds.upper, abs=1e-9) == pytest.approx(2.5 * np.log(17))
    assert bounds.groups == tuple(frozenset(range(i, 20, 5)) for i in range(5))


def test_groups_have_the_value_that_is_given():
    x, xv, v = random_covariances(6, 15, np.random.default_rng(3), shared=3)
    bounds = im_bounds(x, xv, v)
    joint = np.block([[x, xv], [xv.T, v]])

    def information(first, second):
        det = [np.linalg.slogdet(joint[np.ix_(names, names)])[1] for names in (first, second, first + second)]
        return 0.5 * (det[0] + det[1] - det[2])

    groups = [[6 + k for k in sorted(group)] for group in bounds.groups]
    value = sum(information([i], group) for i, group in enumerate(groups) if group)
    value -= sum(information(a, b) for i, a in enumerate(groups) for b in groups[:i] if a and b)
    assert bounds.value == pytest.approx(value, abs=1e-9)


def test_more_than_twelve_factors_are_for_bounds():
    with pytest.raises(UsageError, match="at most 12 factors, got 13; im_bounds takes any number"):
        im_score(np.eye(2), np.zeros((2, 13)), np.eye(13))
    assert im_bounds(np.eye(2), np.zeros((2, 13)), np.eye(13)).upper == 0.0
