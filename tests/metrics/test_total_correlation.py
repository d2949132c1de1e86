"""Total correlation and Wasserstein independence against the published formulas, closed forms and degenerate codes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import sqrtm

from unweave.errors import UsageError
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.resampling import interval
from unweave.metrics.total_correlation import total_correlation
from unweave.metrics.wasserstein import wasserstein_independence


def tc_referee(codes):
    """The divergence between N(0, S) and N(0, diag S), term by term."""
    s = np.atleast_2d(np.cov(codes.T))
    d = len(s)
    product = np.diag(np.diag(s))
    logs = math.log(np.linalg.det(product) / np.linalg.det(s))
    return 0.5 * (np.trace(np.linalg.inv(product) @ s) - d + logs)


def wasserstein_referee(codes):
    """As disentanglement_lib has it, with the root of a product that is not symmetric."""
    s = np.cov(codes.T)
    root = np.asarray(sqrtm(np.diag(np.diag(s)) @ s))
    return 2 * np.trace(s) - 2 * np.trace(root).real


def cases():
    rng = np.random.default_rng(0)
    yield rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4)) + 5
    yield rng.uniform(size=(30, 2)) * [0.1, 40]
    yield np.cumsum(rng.normal(size=(500, 10)), axis=1)


@pytest.mark.parametrize("codes", list(cases()))
def test_they_are_the_formulas(codes):
    assert total_correlation(codes) == pytest.approx(tc_referee(codes), abs=1e-9)
    distance, normalised = wasserstein_independence(codes)
    total = np.trace(np.cov(codes.T))
    assert distance == pytest.approx(wasserstein_referee(codes), abs=1e-10 * total)
    assert normalised == pytest.approx(distance / total, rel=1e-9)


def pair_of_correlation(r):
    cross = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    return cross @ np.array([[1.0, r], [0.0, math.sqrt(1 - r * r)]])


@pytest.mark.parametrize("r", [0.0, 0.3, -0.9])
def test_two_codes_of_known_correlation(r):
    codes = pair_of_correlation(r)
    assert total_correlation(codes) == pytest.approx(-0.5 * math.log(1 - r * r), abs=1e-12)
    # The root of [[1, r], [r, 1]] has the eigenvalues sqrt(1 + r) and sqrt(1 - r).
    share = 2 - (math.sqrt(1 + r) + math.sqrt(1 - r))
    assert wasserstein_independence(codes).normalised == pytest.approx(share, abs=1e-12)


def test_duplicated_codes_are_finite_and_have_an_interval():
    codes = np.random.default_rng(0).normal(size=(100, 2))
    four = np.hstack([codes, codes])
    once = total_correlation(codes)
    # An eigenvalue of 2 and one of 1e-12 for each pair.
    assert total_correlation(four) == pytest.approx(2 * once - math.log(2e-12) - once, abs=0.01)
    assert wasserstein_independence(np.repeat(codes[:, :1], 4, axis=1)).normalised == pytest.approx(1.0, abs=1e-6)
    for sampled in (total_correlation.sample(four), wasserstein_independence.sample(four)):
        bounds = interval(sampled, (0.0, math.inf), 50, generator(0, INTERVAL))
        assert bounds is not None
        assert np.isfinite(np.array(bounds, float)).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e90])
def test_no_scale_is_too_small_or_too_large(scale):
    codes = pair_of_correlation(0.5) * scale
    assert total_correlation(codes) == pytest.approx(-0.5 * math.log(0.75), abs=1e-9)
    assert wasserstein_independence(codes).normalised == pytest.approx(2 - math.sqrt(1.5) - math.sqrt(0.5), abs=1e-9)


def test_constant_codes_depend_on_nothing():
    codes = pair_of_correlation(0.5)
    with_constant = np.hstack([codes, np.full((4, 2), 0.1)])
    assert total_correlation(with_constant) == pytest.approx(total_correlation(codes), abs=1e-12)
    assert wasserstein_independence(with_constant) == pytest.approx(wasserstein_independence(codes), abs=1e-12)
    assert total_correlation(np.full((5, 3), 0.1)) == 0.0
    assert wasserstein_independence(np.full((5, 3), 0.1)) == (0.0, 0.0)


def test_one_code_and_more_codes_than_rows():
    rng = np.random.default_rng(0)
    one, wide = rng.normal(size=(50, 1)), rng.normal(size=(8, 20))
    assert total_correlation(one) == 0.0
    assert wasserstein_independence(one) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert 13 * 6.9 < total_correlation(wide) < math.inf
    assert 0 < wasserstein_independence(wide).normalised < 2


def test_a_subset_scores_as_its_rows_do():
    codes = next(cases())
    subset = np.random.default_rng(1).random(len(codes)) < 0.5
    assert total_correlation.sample(codes).rescore(subset[None])[0] == pytest.approx(
        tc_referee(codes[subset]), abs=1e-9
    )
    again = wasserstein_independence.sample(codes).rescore(subset[None])
    assert again[0, 0] == pytest.approx(wasserstein_referee(codes[subset]), rel=1e-9)


def test_uncorrelated_is_not_independent():
    turn = np.arange(400) * np.pi / 200
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    assert total_correlation(circle) < 1e-9
    assert wasserstein_independence(circle).normalised < 1e-9


def test_bad_codes_are_refused():
    for score in (total_correlation, wasserstein_independence):
        with pytest.raises(UsageError, match="codes hold NaN"):
            score([[1.0], [np.nan]])
        with pytest.raises(UsageError, match="at least two samples"):
            score([[1.0, 2.0]])
