"""MIG against a slow referee written from the formula, in known worlds, and where it is fooled."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics import mig
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.mig import sample_mig
from unweave.metrics.resampling import interval


def entropy(values):
    return -sum(c / len(values) * math.log(c / len(values)) for c in Counter(values).values())


def referee(codes, factors, bins=20):
    """MIG by loops, with H(v) - H(v|z) for the mutual information."""
    gaps = []
    for factor in np.transpose(factors).tolist():
        known = [0.0]  # the second best of a single code
        for code in np.transpose(codes).tolist():
            edges = np.histogram(code, bins)[1]
            binned = [sum(edge <= value for edge in edges[:-1]) for value in code]
            left = 0.0
            for b in set(binned):
                inside = [v for v, c in zip(factor, binned, strict=True) if c == b]
                left += len(inside) / len(factor) * entropy(inside)
            known.append(entropy(factor) - left)
        first, second = sorted(known)[-2:][::-1]
        if entropy(factor) > 0:
            gaps.append((first - second) / entropy(factor))
    return sum(gaps) / len(gaps)


def cases():
    rng = np.random.default_rng(0)
    factors = rng.integers([3, 6, 40], size=(150, 3))
    related = factors / [2, 5, 39] + 0.2 * rng.normal(size=(150, 3))
    yield "related", related, factors
    yield "on the edges of bins", factors / 39.0, factors
    yield "one code", related[:, :1], factors
    yield "a constant code", np.hstack([related, np.full((150, 1), 0.1)]), factors
    yield "a factor with one value", related, np.hstack([factors, np.full((150, 1), 7)])
    yield "values far apart and negative", related, factors * 10**15 - 10**16
    yield "more codes than samples", rng.normal(size=(12, 30)), factors[:12]
    yield "two samples", np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0], [1]])


@pytest.mark.parametrize("bins", [2, 20])
@pytest.mark.parametrize(("codes", "factors"), [pytest.param(*rest, id=name) for name, *rest in cases()])
def test_it_is_the_formula(codes, factors, bins):
    assert mig(codes, factors, bins=bins) == pytest.approx(referee(codes, factors, bins), abs=1e-12)


def test_three_worlds(worlds):
    rng = np.random.default_rng(0)
    assert mig(*worlds["perfect"](10_000, rng)) > 0.99
    assert mig(*worlds["useless"](10_000, rng)) < 0.01
    assert mig(*worlds["duplicated"](10_000, rng)) == 0.0


def test_constant_codes_know_nothing():
    assert mig(np.ones((10, 3)), np.arange(10)[:, None] % 2) == 0.0


def test_factors_without_a_second_value_are_refused():
    with pytest.raises(UsageError, match="single value"):
        mig(np.arange(10.0)[:, None], np.zeros((10, 2), dtype=int))


@pytest.mark.parametrize("bins", [1, 0, 2.5])
def test_bins_are_checked(bins):
    with pytest.raises(UsageError, match="bins must be a whole number"):
        mig(np.arange(10.0)[:, None], np.arange(10)[:, None], bins=bins)


def test_factors_are_not_binned():
    """Forty values in forty bins are told apart, which factors cut in twenty would hide."""
    factor = np.arange(400)[:, None] % 40
    assert mig(factor.astype(float), factor, bins=40) == 1.0
    assert mig(factor.astype(float), factor, bins=20) == pytest.approx(math.log(20) / math.log(40))


def test_a_subset_scores_as_its_rows_do(worlds):
    """Rows 0 and 1 hold the range, so that the subset's own edges are those of the whole."""
    codes, factors = worlds["noisy"](300, np.random.default_rng(3))
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)
    subset = np.random.default_rng(4).random(300) < 0.5
    subset[:2] = True
    again = sample_mig(codes, factors).rescore(subset[None])
    np.testing.assert_allclose(again, [referee(codes[subset], factors[subset])], atol=1e-12)


def test_a_factor_that_is_constant_in_a_subset_has_no_gap_there():
    factor = np.array([0] * 20 + [1] * 20)[:, None]
    assert sample_mig(factor.astype(float), factor).rescore(np.arange(40)[None] < 20).tolist() == [0.0]


def test_the_interval_holds_the_large_sample_score(worlds):
    """At n = 500 MIG is biased by four times its own deviation; the interval makes up for it."""
    truth = mig(*worlds["noisy"](200_000, np.random.default_rng(10**6)))
    held, values = 0, []
    for seed in range(100):
        sampled = sample_mig(*worlds["noisy"](500, np.random.default_rng(seed)))
        bounds = interval(sampled, (0.0, 1.0), 100, generator(seed, INTERVAL))
        assert bounds is not None
        ((low, high),) = bounds
        held += low <= truth <= high
        values.append(sampled.score)
    assert np.mean(values) < truth - 2 * np.std(values)
    assert 85 <= held <= 100


def test_a_circle_fools_it():
    """An angle held by two codes, sine and cosine, is as good as a duplicate."""
    angle = np.arange(4000)[:, None] % 40
    circle = np.hstack([np.cos(angle * np.pi / 20), np.sin(angle * np.pi / 20)])
    assert mig(circle, angle) < 0.01


def test_one_outlier_fools_it(worlds):
    codes, factors = worlds["perfect"](1000, np.random.default_rng(0))
    before = mig(codes, factors)
    codes[0] = 1000.0
    assert before > 0.9
    assert mig(codes, factors) < 0.01
