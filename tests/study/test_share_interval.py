"""The interval of a share of variance holds the true share as often as it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unweave.study.analysis import share_interval
from unweave.study.analysis.variance import r_squared


@pytest.mark.parametrize(("groups", "seeds", "share"), [(6, 15, 0.3), (18, 5, 0.5), (18, 3, 0.2), (4, 10, 0.0)])
def test_it_covers_the_share_of_simulated_studies(groups: int, seeds: int, share: float):
    rng = np.random.default_rng(0)
    means = rng.normal(size=groups)
    means = (means - means.mean()) / means.std() * math.sqrt(share / (1 - share))
    of = np.repeat(np.arange(groups), seeds)
    trials = 300
    held = 0
    for _ in range(trials):
        low, high = share_interval(r_squared(means[of] + rng.normal(size=len(of)), of), len(of), groups)
        held += low <= share <= high
    assert 0.91 <= held / trials <= 1.0


def test_it_is_narrow_for_many_runs_and_has_no_answer_for_none():
    low, high = share_interval(0.5, 100_000, 4)
    assert (low, high) == pytest.approx((0.5, 0.5), abs=0.01)
    assert share_interval(1.0, 20, 4) == (1.0, 1.0)
    assert share_interval(0.0, 20, 4) == (0.0, 0.0)
    assert all(math.isnan(end) for end in share_interval(0.5, 4, 4))
    assert all(math.isnan(end) for end in share_interval(0.5, 4, 1))


def test_more_runs_narrow_it():
    widths = [high - low for low, high in (share_interval(0.4, runs, 6) for runs in (20, 60, 200))]
    assert widths == sorted(widths, reverse=True)
