"""Exact scores against the metrics of samples, brute force, and closed forms."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from unweave import metrics
from unweave.errors import UsageError
from unweave.gaussian import (
    SCENARIOS,
    World,
    blahut_arimoto,
    im_score,
    matched_information,
    mutual_information,
    score,
)
from unweave.gaussian.scores import _assignments
from unweave.metrics.dci import completeness, disentanglement

GRID = np.meshgrid([0.98, 1.0, 1.02], [-0.02, 0.02], indexing="ij")


def cells(name, seeds=3):
    world = SCENARIOS[name].world(noise=0.05)
    gamma, lam = (np.repeat(axis.ravel(), seeds) for axis in GRID)
    found = blahut_arimoto(world, gamma, lam, seeds=np.arange(len(gamma)), steps=50)
    return world, *world.seen_by(found.encoder)


@pytest.mark.parametrize("name", SCENARIOS)
def test_im_of_many_cells_is_that_of_each(name):
    world, x, xv = cells(name)
    together = score(world, x, xv)
    for cell in range(len(x)):
        alone = im_score(x[cell], xv[cell], world.sigma_v)
        assert together.im[cell] == pytest.approx(alone.value, abs=1e-9)
        assert together.im_groups[cell] == alone.groups


@pytest.mark.parametrize("name", ["3-in-2", "5-in-1"])
def test_matched_information_is_that_of_the_best_permutation(name):
    world, x, xv = cells(name)
    found = score(world, x, xv)
    m, s = xv.shape[1:]
    for cell in range(len(x)):
        joint = np.block([[x[cell], xv[cell]], [xv[cell].T, world.sigma_v]])
        known = [[mutual_information(joint, [i], [m + j]) for j in range(s)] for i in range(m)]
        sums = {factors: sum(known[i][j] for i, j in enumerate(factors)) for factors in permutations(range(s), m)}
        alone = matched_information(x[cell], xv[cell], world.sigma_v)
        assert alone.value == pytest.approx(max(sums.values()), abs=1e-9)
        assert alone.factors == max(sums, key=sums.__getitem__)
        assert found.matched[cell] == pytest.approx(alone.value, abs=1e-9)


def test_matched_information_has_no_groups():
    """One code for two factors that go together: I_m takes them as a group, a matching leaves one of them out."""
    sigma_v = np.array([[1.0, 0.9], [0.9, 1.0]])
    both = np.array([[1.0, 1.0]]) @ sigma_v
    sigma_x = [[both.sum() + 0.1]]
    assert im_score(sigma_x, both, sigma_v).value > matched_information(sigma_x, both, sigma_v).value + 0.5
    assert matched_information(np.eye(3), np.zeros((3, 2)), sigma_v) == (0.0, (0, 1, None))


def test_many_assignments_are_searched():
    rng = np.random.default_rng(0)
    world = World(np.eye(7), n=7, m=4)
    b = rng.normal(size=(2, 4, 7))
    x, xv = b @ world.sigma_y @ b.swapaxes(1, 2) + np.eye(4), b @ world.sigma_yv
    assert 4**7 > 5000
    assert score(world, x, xv).im_groups[1] == im_score(x[1], xv[1], world.sigma_v).groups


def test_scores_are_those_of_a_million_samples():
    world, x, xv = cells("5-in-2", seeds=1)
    exact = score(world, x[:1], xv[:1])
    joint = np.block([[x[0], xv[0]], [xv[0].T, world.sigma_v]])
    sample = np.random.default_rng(0).normal(size=(10**6, len(joint))) @ np.linalg.cholesky(joint).T
    r = np.asarray(np.corrcoef(sample.T))
    codes, cross = r[: world.m, : world.m], r[: world.m, world.m :]
    second, first = np.sort(np.square(cross), axis=0)[-2:]
    assert exact.sap[0] == pytest.approx((first - second).mean(), abs=0.005)
    assert exact.total_correlation[0] == pytest.approx(metrics.total_correlation(sample[:, : world.m]), abs=0.01)
    weights = np.linalg.solve(codes, cross)
    assert exact.dci_disentanglement[0] == pytest.approx(disentanglement(np.abs(weights)), abs=0.01)
    assert exact.dci_completeness[0] == pytest.approx(completeness(np.abs(weights)), abs=0.01)
    missed = 1 - (weights * cross).sum(axis=0)  # share of each factor's variance that no regression on codes explains
    assert exact.dci_informativeness[0] == pytest.approx((1 - np.sqrt(missed)).mean(), abs=0.005)
    gap = -0.5 * np.log(1 - first) + 0.5 * np.log(1 - second)
    assert exact.mig[0] == pytest.approx((gap / (-0.5 * np.log(missed))).mean(), abs=0.01)
    found = im_score(codes, cross, r[world.m :, world.m :])
    assert exact.im[0] == pytest.approx(found.value, abs=0.02)


def test_information_is_that_of_histograms():
    rng = np.random.default_rng(0)
    covariance = np.array([[1.0, 0.7], [0.7, 2.0]])
    sample = rng.multivariate_normal([0, 0], covariance, size=10**6)
    counts = np.histogram2d(*sample.T, bins=60)[0] / len(sample)
    product = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0)
    there = counts > 0
    estimate = (counts[there] * np.log(counts[there] / product[there])).sum()
    assert mutual_information(covariance, [0], [1]) == pytest.approx(estimate, abs=0.01)


def test_information_obeys_the_chain_rule():
    root = np.random.default_rng(1).normal(size=(5, 5))
    covariance = root @ root.T
    whole = mutual_information(covariance, [0, 1], [2, 3, 4])
    conditional = (  # I(01; 34 | 2) from four entropies
        mutual_information(covariance, [0, 1, 2], [3, 4]) - mutual_information(covariance, [2], [3, 4])
    )
    assert whole == pytest.approx(mutual_information(covariance, [0, 1], [2]) + conditional, abs=1e-9)
    assert mutual_information(covariance, [], [1]) == 0.0


@pytest.mark.parametrize(
    ("covariance", "sets", "line"),
    [
        (np.ones((2, 2)), ([0], [1]), "infinite"),
        (np.eye(2), ([0], [0]), "different variables"),
        (np.eye(2), ([0], [2]), "from 0 to 1"),
        (np.diag([1.0, 0.0]), ([0], [1]), "variance above 0"),
    ],
)
def test_a_mistake_gets_one_line(covariance, sets, line):
    with pytest.raises(UsageError, match=line):
        mutual_information(covariance, *sets)


def test_success_is_finding_the_groups_under_any_code():
    world = SCENARIOS["3-in-2"].world()
    mixing = np.array([[[0.0, 0, 3, 0], [2, 2, 0, 0], [0, 0, 0, 0.1]], [[2.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0]]])
    x = mixing @ world.sigma_y @ mixing.swapaxes(1, 2) + np.eye(3)
    found = score(world, x, mixing @ world.sigma_yv)
    im, sap = found.succeeded(world.groups)
    assert im[0]
    assert found.im_groups[0] == ({2}, {0, 1}, set())
    assert sap.tolist() == [True, False]  # a code for each factor is no code for the pair
    assert found.sap_groups[1] == ({0}, {1}, {2})


def test_perfect_codes_have_perfect_scores():
    world = SCENARIOS["3-in-3"].world(noise=1e-6)
    found = score(world, np.eye(3)[None] * 1.0001, np.eye(3)[None])
    for value in (found.sap, found.mig, found.dci_disentanglement, found.dci_completeness):
        assert value[0] == pytest.approx(1, abs=1e-3)
    assert found.total_correlation[0] == 0.0
    assert found.im[0] == pytest.approx(1.5 * np.log(1.0001 / 0.0001), abs=1e-3)


def test_all_assignments_are_there():
    sets, groups = _assignments(3, 3)
    assert len(sets) == len(set(groups)) == 27
    assert groups[0] == ({0, 1, 2}, set(), set())
