"""Intervals of half-samples against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.metrics.resampling import FEWEST, Sampled, by_refits, by_rows, interval

WIDE = (-np.inf, np.inf)


def mean_of(codes, factors):
    return float(codes.mean())


def test_the_interval_of_a_mean_is_the_textbooks():
    values = np.random.default_rng(0).normal(3.0, 2.0, size=(400, 1))
    bounds = interval(by_rows(mean_of, values, values), WIDE, 4000, np.random.default_rng(1))
    reach = 1.96 * values.std() / np.sqrt(400)
    assert bounds is not None
    assert bounds[0] == pytest.approx((values.mean() - reach, values.mean() + reach), abs=0.07 * reach)


@pytest.mark.parametrize("replicates", [5, 10])
def test_a_few_half_samples_make_wider_intervals_that_still_hold(replicates):
    """A few replicates know their spread badly: Student's distribution and the error of their mean make up for it."""
    held = 0
    for seed in range(400):
        values = np.random.default_rng(seed).normal(size=(200, 1))
        sampled = by_rows(mean_of, values, values, replicates=replicates)
        bounds = interval(sampled, WIDE, None, np.random.default_rng(seed))
        assert bounds is not None
        ((low, high),) = bounds
        held += low <= 0.0 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_each_part_of_a_score_has_its_own_interval():
    values = np.random.default_rng(0).normal(size=(400, 1))
    parts = by_rows(lambda codes, _: (float(codes.mean()), float(10 * codes.mean())), values, values)
    bounds = interval(parts, WIDE, 50, np.random.default_rng(0))
    assert bounds is not None
    one, ten = bounds
    assert ten == pytest.approx((10 * one[0], 10 * one[1]))


def test_rows_to_fit_and_rows_to_judge_are_halved_together():
    fitted = np.arange(30.0)[:, None], np.arange(30)[:, None]
    judged = np.arange(100.0, 110.0)[:, None], np.arange(100, 110)[:, None]
    seen = []

    def score(fit, judge):
        assert (fit[0] == fit[1]).all()
        assert (fit[0] < 30).all()
        assert (judge[0] == judge[1]).all()
        assert (judge[0] >= 100).all()
        seen.append(len(fit[0]) + len(judge[0]))
        return 0.5

    sampled = by_refits(score, fitted, judged, replicates=4)
    interval(sampled, WIDE, None, np.random.default_rng(0))
    assert seen == [40, 20, 20, 20, 20]


def test_a_handful_of_rows_to_judge_on_is_never_halved_away():
    fitted, judged = (np.ones((30, 1)), np.ones((30, 1))), (np.ones((2, 1)), np.ones((2, 1)))
    sampled = by_refits(lambda fit, judge: float(len(judge[0])), fitted, judged)
    assert sampled.rescore(np.arange(32)[None] < 16).tolist() == [2.0]


def test_an_infinite_part_has_no_interval():
    sampled = Sampled((np.inf, 1.0), 100, lambda subsets: np.tile([np.inf, 1.0], (len(subsets), 1)))
    bounds = interval(sampled, WIDE, 50, np.random.default_rng(0))
    np.testing.assert_array_equal(bounds, [(np.nan, np.nan), (1.0, 1.0)])


def test_a_bias_is_made_up_for():
    """The plug-in square of a mean of zero is too large by var / n; the interval moves down by that."""
    values = np.random.default_rng(0).normal(size=(100, 1))
    square = by_rows(lambda codes, factors: float(codes.mean() ** 2), values, values)
    subsets = np.random.default_rng(1).permuted(np.tile(np.arange(100) < 50, (20_000, 1)), axis=1)
    bias = (square.rescore(subsets) - square.score).mean()
    assert bias == pytest.approx(values.var(ddof=1) / 100, rel=0.05)


def test_the_interval_holds_the_score_and_keeps_to_the_range():
    moved = Sampled(0.9, 100, lambda subsets: np.full(len(subsets), 0.7))
    assert interval(moved, (0.0, 1.0), 50, np.random.default_rng(0)) == [(0.9, 1.0)]
    moved = Sampled(0.1, 100, lambda subsets: np.full(len(subsets), 0.15))
    bounds = interval(moved, (0.0, 1.0), 50, np.random.default_rng(0))
    assert bounds is not None
    assert bounds[0] == pytest.approx((0.05, 0.1))


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
