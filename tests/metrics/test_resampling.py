"""Intervals of half-samples against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.metrics.resampling import FEWEST, Sampled, by_rows, interval

WIDE = (-np.inf, np.inf)


def mean_of(codes, factors):
    return float(codes.mean())


def test_the_interval_of_a_mean_is_the_textbooks():
    values = np.random.default_rng(0).normal(3.0, 2.0, size=(400, 1))
    bounds = interval(by_rows(mean_of, values, values), WIDE, 4000, np.random.default_rng(1))
    reach = 1.96 * values.std() / np.sqrt(400)
    assert bounds == pytest.approx((values.mean() - reach, values.mean() + reach), abs=0.07 * reach)


def test_a_bias_is_made_up_for():
    """The plug-in square of a mean of zero is too large by var / n; the interval moves down by that."""
    values = np.random.default_rng(0).normal(size=(100, 1))
    square = by_rows(lambda codes, factors: float(codes.mean() ** 2), values, values)
    subsets = np.random.default_rng(1).permuted(np.tile(np.arange(100) < 50, (20_000, 1)), axis=1)
    bias = (square.rescore(subsets) - square.score).mean()
    assert bias == pytest.approx(values.var(ddof=1) / 100, rel=0.05)


def test_the_interval_holds_the_score_and_keeps_to_the_range():
    moved = Sampled(0.9, 100, lambda subsets: np.full(len(subsets), 0.7))
    assert interval(moved, (0.0, 1.0), 50, np.random.default_rng(0)) == (0.9, 1.0)
    moved = Sampled(0.1, 100, lambda subsets: np.full(len(subsets), 0.15))
    assert interval(moved, (0.0, 1.0), 50, np.random.default_rng(0)) == pytest.approx((0.05, 0.1))


def test_every_subset_is_half():
    seen = []
    sampled = Sampled(0.0, 25, lambda subsets: seen.append(subsets) or np.zeros(len(subsets)))
    interval(sampled, WIDE, 30, np.random.default_rng(0))
    assert seen[0].shape == (30, 25)
    assert set(seen[0].sum(axis=1)) == {12}
    assert len({tuple(subset) for subset in seen[0]}) > 25


def test_too_few_units_have_no_interval():
    few = Sampled(0.5, FEWEST - 1, lambda subsets: np.zeros(len(subsets)))
    assert interval(few, WIDE, 50, np.random.default_rng(0)) is None
