"""MIG in known worlds, and where it is fooled; test_binned.py has the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics import mig
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.resampling import interval


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


def test_factors_are_not_binned():
    """Forty values in forty bins are told apart, which factors cut in twenty would hide."""
    factor = np.arange(400)[:, None] % 40
    assert mig(factor.astype(float), factor, bins=40) == 1.0
    assert mig(factor.astype(float), factor, bins=20) == pytest.approx(math.log(20) / math.log(40))


def test_the_interval_holds_the_expected_score_at_this_number_of_rows(worlds):
    """At n = 500 MIG is biased by several times its own deviation: that is not what the interval is about."""
    large = mig(*worlds["noisy"](200_000, np.random.default_rng(10**6)))
    samples = [mig.sample(*worlds["noisy"](500, np.random.default_rng(seed))) for seed in range(100)]
    values = np.array([sampled.score for sampled in samples])
    ends = [interval(sampled, (0.0, 1.0), 100, generator(seed, INTERVAL)) for seed, sampled in enumerate(samples)]
    low, high = np.array([found[0] for found in ends if found]).T
    assert 88 <= ((low <= values.mean()) & (values.mean() <= high)).sum() <= 100
    assert 0.7 < (high - low).mean() / (2 * 1.96 * values.std(ddof=1)) < 1.5
    assert values.mean() < large - 2 * values.std()


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
