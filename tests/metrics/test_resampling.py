"""Intervals of half-samples: the formula itself, against closed forms, and what has none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from unweave.metrics.resampling import FEWEST, Sampled, by_refits, by_rows, halves, interval, mean_over_factors, spread

WIDE = (-np.inf, np.inf)


class Two(NamedTuple):
    first: float
    second: float


def mean_of(codes, factors):
    return float(codes.mean())


def of_given(score, replicates):
    """A score whose half-samples score what is given, in that order."""
    given = np.asarray(replicates, dtype=float)
    return Sampled(score, 100, lambda subsets: given[: len(subsets)], len(given))


def ends_of(sampled, limits=WIDE, replicates=None, seed=0):
    found = interval(sampled, limits, replicates, np.random.default_rng(seed))
    assert found is not None
    return found


@pytest.mark.parametrize("r", [2, 5, 10, 200])
def test_it_is_the_score_and_students_t_times_the_deviation_of_the_halves(r):
    """Written out: the deviation with r - 1, t with r - 1 degrees of freedom, no factor for the error of a mean."""
    replicates = np.random.default_rng(r).normal(0.4, 0.1, size=r)
    deviation = np.sqrt(sum((x - sum(replicates) / r) ** 2 for x in replicates) / (r - 1))
    reach = stats.t.ppf(0.975, r - 1) * deviation
    ((low, high),) = ends_of(of_given(0.5, replicates))
    assert (low, high) == pytest.approx((0.5 - reach, 0.5 + reach), rel=1e-9)
    assert spread(replicates[:, None]) == pytest.approx([reach], rel=1e-9)


def test_a_number_by_hand():
    """Halves 1, 2, 3 deviate by 1, and t of two degrees of freedom is 4.302653."""
    assert ends_of(of_given(7.0, [1.0, 2.0, 3.0]))[0] == pytest.approx((7 - 4.302653, 7 + 4.302653), abs=1e-6)


def test_it_is_centred_on_the_score_wherever_the_halves_are():
    """A score that grows with the number of rows is not moved: the interval is about this number of rows."""
    near, far = (ends_of(of_given(0.5, [0.1 + shift, 0.2 + shift, 0.4 + shift])) for shift in (0.3, -5.0))
    assert near[0] == pytest.approx(far[0])
    assert np.mean(near[0]) == pytest.approx(0.5)


def test_the_interval_of_a_mean_is_the_textbooks():
    values = np.random.default_rng(0).normal(3.0, 2.0, size=(400, 1))
    ((low, high),) = ends_of(by_rows(mean_of, values, values), replicates=4000, seed=1)
    reach = 1.96 * values.std() / np.sqrt(400)
    assert (low, high) == pytest.approx((values.mean() - reach, values.mean() + reach), abs=0.05 * reach)


@pytest.mark.parametrize("replicates", [5, 10, 50])
def test_few_half_samples_make_wider_intervals_that_still_hold(replicates):
    """A few replicates know their spread badly: Student's distribution makes up for it."""
    held = 0
    for seed in range(400):
        values = np.random.default_rng(seed).normal(size=(200, 1))
        ((low, high),) = ends_of(by_rows(mean_of, values, values, replicates=replicates), seed=seed)
        held += low <= 0.0 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_it_is_clipped_to_the_range():
    assert ends_of(of_given(0.9, [0.1, 0.9]), (0.0, 1.0)) == [(0.0, 1.0)]
    ((low, high),) = ends_of(of_given(0.9, [0.8, 0.8, 0.9]), (0.0, 1.0))
    assert 0.0 < low < 0.9 < high == 1.0


def test_each_part_has_limits_of_its_own():
    sampled = Sampled(Two(0.5, 5.0), 100, lambda s: np.tile([[0.0, 0.0], [1.0, 10.0]], (1, 1)), 2)
    limited = Sampled(sampled.score, 100, sampled.rescore, 2, limits=((0.0, -np.inf), (1.0, 20.0)))
    (first, second), (free, _) = ends_of(limited, (0.0, 3.0)), ends_of(sampled)
    assert first == (0.0, 1.0)
    assert second[0] == pytest.approx(5 - stats.t.ppf(0.975, 1) * np.sqrt(50))
    assert second[1] == 20.0
    assert free[0] < 0.0 < 1.0 < free[1]


def test_each_part_of_a_score_has_its_own_interval():
    values = np.random.default_rng(0).normal(size=(400, 1))
    parts = by_rows(lambda codes, _: Two(float(codes.mean()), float(10 * codes.mean())), values, values)
    one, ten = ends_of(parts, replicates=50)
    assert ten == pytest.approx((10 * one[0], 10 * one[1]))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_a_part_that_is_not_finite_has_no_interval(odd):
    """Nor has one that is not in some half alone; the other parts keep theirs."""
    always = Sampled((odd, 1.0), 100, lambda subsets: np.tile([odd, 1.0], (len(subsets), 1)))
    np.testing.assert_array_equal(ends_of(always, replicates=50), [(np.nan, np.nan), (1.0, 1.0)])
    once = Sampled((0.5, 0.5), 100, lambda _: np.array([[odd, 0.5], [0.5, 0.5], [0.5, 0.5]]), 3)
    np.testing.assert_array_equal(ends_of(once), [(np.nan, np.nan), (0.5, 0.5)])


def test_every_subset_is_half():
    seen = []
    sampled = Sampled(0.0, 25, lambda subsets: seen.append(subsets) or np.zeros(len(subsets)))
    ends_of(sampled, replicates=30)
    assert seen[0].shape == (30, 25)
    assert set(seen[0].sum(axis=1)) == {12}
    assert len({tuple(subset) for subset in seen[0]}) > 25
    drawn = halves(40, 5000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.04)  # every unit as often as any other


def test_too_few_units_have_no_interval():
    few, enough = (Sampled(0.5, units, lambda subsets: np.zeros(len(subsets))) for units in (FEWEST - 1, FEWEST))
    assert interval(few, WIDE, 50, np.random.default_rng(0)) is None
    assert ends_of(enough) == [(0.5, 0.5)]


def test_train_and_test_rows_are_halved_together():
    train = np.arange(30.0)[:, None], np.arange(30)[:, None]
    test = np.arange(100.0, 110.0)[:, None], np.arange(100, 110)[:, None]
    seen = []

    def score(some, others):
        assert (some[0] == some[1]).all()
        assert (some[0] < 30).all()
        assert (others[0] == others[1]).all()
        assert (others[0] >= 100).all()
        seen.append(len(some[0]) + len(others[0]))
        return 0.5

    ends_of(by_refits(score, train, test, replicates=4))
    assert seen == [40, 20, 20, 20, 20]


def test_a_handful_of_test_rows_is_never_halved_away():
    train, test = (np.ones((30, 1)), np.ones((30, 1))), (np.ones((2, 1)), np.ones((2, 1)))
    sampled = by_refits(lambda _, others: float(len(others[0])), train, test)
    assert sampled.rescore(np.arange(32)[None] < 16).tolist() == [2.0]


def test_a_mean_over_factors_keeps_their_values():
    values = np.arange(60.0).reshape(20, 3)
    each = by_rows(lambda codes, _: codes.mean(axis=0), values, values, replicates=7)
    mean = mean_over_factors(each)
    assert mean.score == pytest.approx(values.mean())
    assert type(mean.score) is float
    np.testing.assert_allclose(mean.per_factor[""], values.mean(axis=0))
    subsets = halves(20, 4, np.random.default_rng(0))
    np.testing.assert_allclose(mean.rescore(subsets), each.rescore(subsets).mean(axis=1))
    assert (mean.units, mean.replicates) == (20, 7)
