"""Seeds for a power: against printed values, closed forms and simulated studies."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from scipy.stats import nct, norm, t, ttest_ind

from unweave.study.analysis.power import (
    effect_interval,
    effect_size,
    pooled_deviation,
    power_of,
    rows_for_noise,
    seeds_for_power,
)


def test_seeds_are_those_of_printed_tables():
    """[Cohen1988], table 2.4.1, two-sided 5 %: his 393 is by interpolation."""
    assert [seeds_for_power(effect) for effect in (0.3, 0.4, 0.5, 0.8, 1.0, 1.2)] == [176, 100, 64, 26, 17, 12]
    assert seeds_for_power(0.5, 0.9) == 86


@pytest.mark.parametrize(("effect", "seeds"), [(1.0, 5), (0.8, 12), (2.0, 3), (0.0, 6)])
def test_power_is_how_often_a_simulated_test_finds_it(effect: float, seeds: int):
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 20_000, seeds))
    found = np.asarray(ttest_ind(first, second + effect, axis=1))[1] < 0.05
    assert power_of(effect, seeds) == pytest.approx(found.mean(), abs=0.012)
    assert power_of(-effect, seeds) == power_of(effect, seeds)


def test_power_without_an_effect_is_the_level_and_for_many_seeds_that_of_a_normal():
    assert power_of(0.0, 7) == pytest.approx(0.05)
    shift = 0.1 * np.sqrt(2000 / 2)
    assert power_of(0.1, 2000) == pytest.approx(norm.sf(1.96 - shift) + norm.cdf(-1.96 - shift), abs=1e-3)
    critical = t.ppf(0.975, 10)
    shift = 0.9 * np.sqrt(3)
    assert power_of(0.9, 6) == pytest.approx(nct.sf(critical, 10, shift) + nct.cdf(-critical, 10, shift), abs=1e-9)


def test_the_number_of_seeds_is_the_least_that_will_do():
    for effect in (0.15, 0.7, 1.9, 4.0, 9.0):
        seeds = seeds_for_power(effect)
        assert seeds is not None
        assert power_of(effect, seeds) >= 0.8
        assert seeds == 2 or power_of(effect, seeds - 1) < 0.8


def test_no_effect_takes_more_seeds_than_there_are_and_a_certain_one_takes_two():
    assert seeds_for_power(0.0) is None
    assert seeds_for_power(nan) is None
    assert seeds_for_power(0.1) is None
    assert seeds_for_power(0.1, most=2000) == 1571
    assert [seeds_for_power(effect) for effect in (inf, -inf, 1e4)] == [2, 2, 2]


def test_the_effect_is_over_the_pooled_deviation():
    rng = np.random.default_rng(1)
    first, second = rng.normal(0, 1, 6), rng.normal(1, 2, 9)
    pooled = np.sqrt((5 * first.var(ddof=1) + 8 * second.var(ddof=1)) / 13)
    assert pooled_deviation([first, second]) == pytest.approx(pooled)
    assert effect_size(first, second) == pytest.approx((second.mean() - first.mean()) / pooled)
    statistic = np.asarray(ttest_ind(second, first))[0]
    assert effect_size(first, second) == pytest.approx(statistic * np.sqrt(1 / 6 + 1 / 9))


def test_scores_that_do_not_vary_differ_for_certain_or_not_at_all():
    assert effect_size([0.1] * 3, [0.1] * 3) == 0
    assert effect_size([0.0, 0.0], [0.0, 0.0]) == 0
    assert effect_size([0.1] * 3, [0.7] * 3) == inf
    assert effect_size([0.7] * 3, [0.1] * 3) == -inf
    with pytest.raises(ValueError, match="at least two seeds"):
        effect_size([0.1], [0.2, 0.3])


@pytest.mark.parametrize("effect", [0.0, 0.6, -2.5])
def test_the_interval_of_an_effect_holds_the_truth_as_often_as_it_says(effect: float):
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        first, second = rng.normal(size=5), rng.normal(effect, 1, size=7)
        low, high = effect_interval(effect_size(first, second), 5, 7)
        held += low <= effect <= high
    assert held / 400 == pytest.approx(0.95, abs=0.035)


def test_the_interval_of_an_effect_is_that_of_the_noncentral_t():
    low, high = effect_interval(1.3, 8, 8)
    scale = 2.0
    assert nct.cdf(1.3 * scale, 14, low * scale) == pytest.approx(0.975, abs=1e-6)
    assert nct.cdf(1.3 * scale, 14, high * scale) == pytest.approx(0.025, abs=1e-6)
    assert effect_interval(inf, 5, 5) == (inf, inf)


def test_rows_grow_with_the_square_of_the_noise():
    assert rows_for_noise(0.01, 5000, 0.03) == 5000
    assert rows_for_noise(0.02, 5000, 0.03) == 20_000
    assert rows_for_noise(0.0, 5000, 0.03) == 0
    assert rows_for_noise(0.01, 5000, 0.0) is None
    assert rows_for_noise(nan, 5000, 0.1) is None
