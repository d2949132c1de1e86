"""The I_m score against every labelled assignment, in the published scenarios, and where it is undefined."""

from __future__ import annotations

from functools import cache
from itertools import product
from time import process_time

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.gaussian import im_score
from unweave.gaussian.partitions import set_partitions


def information(covariance, first, second):
    """I of two sets of jointly Gaussian variables, from three determinants."""
    if not first or not second:
        return 0.0
    det = [np.linalg.det(covariance[np.ix_(names, names)]) for names in (first, second, first + second)]
    return 0.5 * np.log(det[0] * det[1] / det[2])


def referee(sigma_x, sigma_xv, sigma_v):
    """Go through all m**s assignments; ties as documented: fewest groups, earliest groups, lowest codes."""
    m, s = sigma_xv.shape
    joint = np.block([[sigma_x, sigma_xv], [sigma_xv.T, sigma_v]])
    shared = cache(lambda first, second: information(joint, first, second))
    found = []
    for codes in product(range(m), repeat=s):
        groups = [tuple(m + k for k in range(s) if codes[k] == i) for i in range(m)]
        value = sum(shared((i,), group) for i, group in enumerate(groups))
        value -= sum(shared(groups[j], groups[i]) for i in range(m) for j in range(i))
        opened = list(dict.fromkeys(codes))
        found.append((value, len(opened), [opened.index(code) for code in codes], codes))
    best = max(value for value, *_ in found)
    codes = min(rest for value, *rest in found if value >= best - 1e-9)[-1]
    return best, tuple(frozenset(k for k in range(s) if codes[k] == i) for i in range(m))


def random_covariances(m, s, rng, shared=None):
    loadings = rng.normal(size=(m + s, shared or m + s))
    joint = loadings @ loadings.T + (0.3 * np.eye(m + s) if shared else 0)
    return joint[:m, :m], joint[:m, m:], joint[m:, m:]


def check(covariances):
    value, groups = referee(*covariances)
    score = im_score(*covariances)
    assert score.value == pytest.approx(value, abs=1e-9)
    assert score.groups == groups


@pytest.mark.parametrize("m", range(1, 5))
@pytest.mark.parametrize("s", range(1, 6))
def test_it_is_the_best_of_all_assignments(m, s):
    rng = np.random.default_rng(10 * m + s)
    for draw in range(10):
        check(random_covariances(m, s, rng, shared=(None, 2)[draw % 2]))


def with_noise(weights, sigma_v):
    """Codes x = weights v + noise of variance 1."""
    return weights @ sigma_v @ weights.T + np.eye(len(weights)), weights @ sigma_v, sigma_v


def test_ties_are_broken_as_documented():
    useless = with_noise(np.zeros((3, 3)), np.eye(3))
    assert im_score(*useless) == (0.0, (frozenset({0, 1, 2}), frozenset(), frozenset()))
    same_twice = with_noise(np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]]), np.eye(3))
    assert im_score(*same_twice).groups == (frozenset(), frozenset({0, 1}), frozenset(), frozenset({2}))
    for covariances in (useless, same_twice, with_noise(np.ones((3, 4)), np.eye(4))):
        check(covariances)


def test_the_published_scenarios():
    """Codes that follow the groups of dependent factors are given those groups."""
    independent = np.eye(3)
    assert im_score(*with_noise(3 * np.eye(3), independent)).groups == ({0}, {1}, {2})
    v = np.array([[1.0, 0, 0], [0.9, 0.4, 0], [0, 0, 1]])  # the second depends on the first
    pair = im_score(*with_noise(np.array([[2.0, 2, 0], [0, 0, 3], [0, 0, 0]]), v @ v.T))
    assert pair.groups == ({0, 1}, {2}, set())
    v = np.array([[1.0, 0, 0], [0.9, 0.4, 0], [0.9, 0, 0.4]])  # both depend on the first
    one = im_score(*with_noise(np.array([[2.0, 2, 2], [0, 0, 0], [0, 0, 0]]), v @ v.T))
    assert one.groups == ({0, 1, 2}, set(), set())


def test_independent_factors_each_in_a_code_have_the_capacities_of_their_channels():
    gains = np.array([0.5, 1.0, 4.0])
    score = im_score(*with_noise(np.diag(gains), np.eye(3)))
    assert score.value == pytest.approx(0.5 * np.log1p(gains**2).sum(), abs=1e-12)


def test_scales_do_not_matter():
    x, xv, v = random_covariances(3, 3, np.random.default_rng(0))
    a, b = np.diag([1e-30, 1.0, -1e30]), np.diag([1e20, -1e-20, 1.0])
    assert im_score(a @ x @ a, a @ xv @ b, b @ v @ b).value == pytest.approx(im_score(x, xv, v).value, abs=1e-9)


def test_ten_factors_and_eight_codes_take_a_moment():
    covariances = random_covariances(8, 10, np.random.default_rng(0))
    start = process_time()
    score = im_score(*covariances)
    assert process_time() - start < 5
    assert sorted(k for group in score.groups for k in group) == list(range(10))


def test_all_partitions_are_there():
    assert [len(set_partitions(s, s)) for s in range(1, 9)] == [1, 2, 5, 15, 52, 203, 877, 4140]
    assert len(set_partitions(6, 3)) == 1 + 31 + 90
    for row in set_partitions(5, 3):
        groups = row[row > 0]
        assert np.bitwise_or.reduce(groups) == groups.sum() == 31


X, XV, V = random_covariances(3, 3, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("covariances", "line"),
    [
        ((X, XV, np.ones((3, 3))), "sigma_v is singular"),
        ((X, XV, 2 * np.ones((3, 3)) - np.eye(3)), "sigma_v is not a covariance"),
        ((np.eye(1), [[1.0]], [[1.0]]), "the factors determine code 0 exactly"),
        ((np.eye(1), [[2.0]], [[1.0]]), "the factors determine code 0 exactly, or sigma_xv is too large"),
        ((np.zeros((1, 1)), [[1.0]], [[1.0]]), "variance 0, but sigma_xv says that it covaries"),
        ((X[:2], XV, V), r"shapes \(m, m\), \(m, s\) and \(s, s\)"),
        ((X, XV, np.triu(V) + 1), "must be covariances: symmetric"),
        ((-X, XV, V), "must be covariances"),
        ((X, XV * np.nan, V), "sigma_xv must be a matrix of finite numbers"),
        ((X, XV[0], V), "sigma_xv must be a matrix"),
        ((X, [["a"]], V), "sigma_xv cannot be read as a matrix"),
        ((np.eye(2), np.zeros((2, 13)), np.eye(13)), "at most 12 factors, got 13"),
    ],
)
def test_a_mistake_gets_one_line(covariances, line):
    with pytest.raises(UsageError, match=line) as caught:
        im_score(*covariances)
    assert "\n" not in str(caught.value)


def test_a_code_without_variance_knows_nothing():
    score = im_score([[0.0, 0.0], [0.0, 2.0]], [[0.0], [1.0]], [[1.0]])
    assert score.groups == (frozenset(), frozenset({0}))
