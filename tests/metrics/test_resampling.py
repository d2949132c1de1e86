"""Intervals of half-samples against closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unweave.metrics.resampling import FEWEST, LARGE, Sampled, by_refits, by_rows, interval

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


@pytest.mark.parametrize("power", [0.5, 0.25, 0.0])
def test_a_score_that_keeps_growing_is_held_where_its_power_leads(power):
    """s(n) = n^a or log n without noise: the interval runs from s(n) to s of a large sample, and no further."""

    def curve(n):
        return n**power if power else np.log(n)

    growing = Sampled(curve(1_000), 1_000, lambda subsets: curve(subsets.sum(axis=1)), 6, pace=(power,))
    bounds = interval(growing, WIDE, None, np.random.default_rng(0))
    assert bounds is not None
    assert bounds[0] == pytest.approx((curve(1_000), curve(LARGE)))


def test_beyond_a_large_sample_one_more_doubling_is_held():
    huge = Sampled(np.log(2**20), 2**20, lambda subsets: np.log(subsets.sum(axis=1)), 2, pace=(0.0,))
    bounds = interval(huge, WIDE, None, np.random.default_rng(0))
    assert bounds is not None
    assert bounds[0] == pytest.approx((np.log(2**20), np.log(2**21)))


def test_half_samples_of_a_growing_score_come_with_their_complements():
    """What is linear in the rows cancels: the growth of a mean is exactly none, whatever the halves."""
    values = np.random.default_rng(0).normal(size=(400, 1))
    seen = []

    def rescore(subsets):
        seen.append(subsets)
        return np.array([values[subset].mean() for subset in subsets])

    bounds = interval(Sampled(values.mean(), 400, rescore, 5, pace=(0.25,)), WIDE, None, np.random.default_rng(0))
    assert (seen[0][:3] == ~seen[0][3:]).all()
    assert bounds is not None
    assert np.mean(bounds) == pytest.approx(values.mean(), abs=1e-12)


def test_a_growing_score_of_noise_is_still_held():
    """Three pairs know the spread by three degrees of freedom."""
    held = 0
    for seed in range(400):
        values = np.random.default_rng(seed).normal(size=(200, 1))
        sampled = replace(by_rows(mean_of, values, values, replicates=6), pace=(0.25,))
        bounds = interval(sampled, WIDE, None, np.random.default_rng(seed))
        assert bounds is not None
        held += bounds[0][0] <= 0.0 <= bounds[0][1]
    assert 0.93 <= held / 400 <= 0.99


def test_under_a_large_samples_penalty_subsets_are_compared_with_all_rows():
    """The score is 0.1, under that penalty 0.4, on halves 0.41: the interval is about 0.39 to 0.4, and holds 0.1."""
    rescore = lambda subsets: np.where(subsets.all(axis=1), 0.4, 0.41)  # noqa: E731
    bounds = interval(Sampled(0.1, 100, rescore, as_large=True), WIDE, 50, np.random.default_rng(0))
    assert bounds is not None
    assert bounds[0] == pytest.approx((0.1, 0.4))
    bounds = interval(Sampled(0.9, 100, rescore, as_large=True), WIDE, 50, np.random.default_rng(0))
    assert bounds is not None
    assert bounds[0] == pytest.approx((0.39, 0.9))


def test_refits_score_subsets_but_not_the_sample_under_a_large_samples_penalty():
    pair = np.ones((30, 1)), np.ones((30, 1), dtype=int)
    sampled = by_refits(lambda fit, judge: 0.1, pair, pair, large=lambda fit, judge: 0.4)
    assert sampled.score == 0.1
    assert sampled.as_large
    assert sampled.rescore(np.ones((2, 60), dtype=bool)).tolist() == [0.4, 0.4]


def test_a_score_of_chance_is_held_on_the_side_of_its_mean_too():
    """The square of a mean of zero, in units of its variance, is chi-square for any n: its mean is 1."""
    held = np.zeros(2)
    for seed in range(400):
        values = np.random.default_rng(seed).normal(size=(60, 12))

        def chance(subsets, values=values):
            return ((subsets @ values) ** 2 / subsets.sum(axis=1, keepdims=True)).mean(axis=1)

        usual = Sampled(float(chance(np.ones((1, 60)))[0]), 60, chance)
        for kind, sampled in enumerate([usual, replace(usual, by_chance=True)]):
            bounds = interval(sampled, WIDE, None, np.random.default_rng(seed))
            assert bounds is not None
            held[kind] += bounds[0][0] <= 1.0 <= bounds[0][1]
    assert held[0] <= 0.95 * 400 < 0.97 * 400 <= held[1]


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
