"""I_m of a sample against determinants of its covariances, and at its ends."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics.im import im
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.resampling import interval

EXACT = -0.5 * math.log1p(-1 / (1 + 1e-9) ** 2)  # what a code that a factor determines counts


def referee(codes, factors):
    """Every assignment, each information from determinants of np.cov."""
    d, k = codes.shape[1], factors.shape[1]
    s = np.cov(np.hstack([codes, factors]).T)

    def information(first, second):
        det = [np.linalg.det(s[np.ix_(names, names)]) for names in (first, second, first + second)]
        return 0.5 * math.log(det[0] * det[1] / det[2])

    values = []
    for owners in product(range(d), repeat=k):
        groups = {i: [d + j for j in range(k) if owners[j] == i] for i in set(owners)}
        known = sum(information([i], group) for i, group in groups.items())
        values.append(known - sum(information(groups[i], groups[j]) for i in groups for j in groups if i < j))
    return max(values)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_formula(seed):
    rng = np.random.default_rng(seed)
    factors = rng.integers([3, 6, 40], size=(150, 3))
    factors[:, 1] += factors[:, 0]
    codes = factors @ rng.normal(size=(3, 4)) + 5 * rng.normal(size=(150, 4))
    assert im(codes, factors) == pytest.approx(referee(codes, factors), abs=1e-7)
    subset = rng.random(150) < 0.5
    again = im.sample(codes, factors).rescore(subset[None])
    assert again[0] == pytest.approx(referee(codes[subset], factors[subset]), abs=1e-7)


def test_the_worlds(worlds):
    rng = np.random.default_rng(0)
    perfect, factors = worlds["perfect"](5000, rng)
    assert im(perfect, factors) == pytest.approx(3 * EXACT, abs=0.01)
    assert im(np.hstack([perfect, perfect]), factors) == pytest.approx(3 * EXACT, abs=0.01)
    assert im(*worlds["useless"](5000, rng)) < 0.01
    assert im(np.full((50, 3), 0.1), factors[:50]) == 0.0


def test_factors_that_determine_each_other_share_a_group():
    factor = np.arange(60)[:, None] % 4
    twice, code = np.hstack([factor, factor]), factor + 0.0
    assert im(np.hstack([code, code]), twice) == pytest.approx(EXACT, abs=0.5)


def test_exact_codes_have_a_finite_interval():
    factors = np.random.default_rng(0).integers(5, size=(100, 2))
    bounds = interval(im.sample(factors + 0.0, factors), (0.0, math.inf), 50, generator(0, INTERVAL))
    assert bounds is not None
    assert np.isfinite(np.array(bounds, float)).all()


def test_edges():
    rng = np.random.default_rng(0)
    factor = np.array([0] * 20 + [1] * 20)[:, None]
    assert im.sample(factor + 0.0, factor).rescore(np.arange(40)[None] < 20).tolist() == [0.0]
    assert im(rng.normal(size=(40, 1)), np.hstack([factor, factor * 0])) >= 0
    assert 0 <= im(rng.normal(size=(6, 20)), rng.integers(3, size=(6, 8))) < math.inf
    with pytest.raises(UsageError, match="at most 12 factors, got 13"):
        im(rng.normal(size=(40, 2)), rng.integers(3, size=(40, 13)))
    with pytest.raises(UsageError, match="single value"):
        im(rng.normal(size=(40, 2)), np.zeros((40, 2), dtype=int))
