"""Scores of specifications when seeds are drawn again, against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unweave.selection.correlation import spearman
from unweave.selection.estimates import RESAMPLES, Estimate, chances, ends, over_partners


def matrix(count: int, seed: int = 0) -> np.ndarray:
    found = np.random.default_rng(seed).random((count, count))
    np.fill_diagonal(found, np.nan)
    return found


def blocks(*sizes: int) -> np.ndarray:
    found = np.full((sum(sizes), sum(sizes)), np.nan)
    start = 0
    for size in sizes:
        found[start : start + size, start : start + size] = matrix(size, size)
        start += size
    return found


@pytest.mark.parametrize("average", ["mean", "median"])
def test_over_partners_leaves_out_what_is_not_compared(average):
    pairs = matrix(6)
    pairs[2, 4] = pairs[3, 4] = np.nan
    plain = {"mean": np.nanmean, "median": np.nanmedian}[average]
    np.testing.assert_allclose(over_partners(pairs, average), plain(pairs, axis=0))
    alone = over_partners(np.full((1, 1), np.nan), average)
    assert np.isnan(alone).all()
    odd = np.array([[1.0, 2.0], [5.0, np.nan], [9.0, 4.0]])
    np.testing.assert_array_equal(over_partners(odd, average), [5, 3])


@pytest.mark.parametrize("average", ["mean", "median"])
@pytest.mark.parametrize("everywhere", [False, True])
def test_a_run_that_is_drawn_twice_is_not_compared_with_itself(average, everywhere):
    sizes = (5, 3, 6)
    pairs = matrix(14) if everywhere else blocks(*sizes)
    estimate = Estimate.of_pairs(sizes, pairs, average)
    drawn = estimate.drawn(seed=1)
    found = estimate.resampled(drawn)
    assert found.shape == (RESAMPLES, 3)
    plain = {"mean": np.nanmean, "median": np.nanmedian}[average]
    for b in range(0, 40):
        for number, own in enumerate(drawn):
            others = np.concatenate([each[b] for each in drawn]) if everywhere else own[b]
            scores = []
            for run in own[b]:
                partners = [pairs[other, run] for other in others if other != run]
                if partners:
                    scores.append(plain(partners))
            expected = np.mean(scores) if scores else estimate.specifications[number]
            np.testing.assert_allclose(found[b, number], expected)


def test_identical_pairs_have_no_spread_and_self_pairs_would_show():
    """Were a run compared with itself, a drawn pair of equals would raise the score of a resample."""
    pairs = np.full((6, 6), 0.25)
    np.fill_diagonal(pairs, np.nan)
    estimate = Estimate.of_pairs((6,), pairs, "mean")
    np.testing.assert_allclose(estimate.resampled(estimate.drawn(0)), 0.25)


def test_runs_without_a_score_are_never_drawn():
    estimate = Estimate((4, 2), np.array([1.0, np.nan, 3.0, 5.0, np.nan, np.nan]))
    np.testing.assert_array_equal(estimate.specifications, [3, np.nan])
    np.testing.assert_array_equal(estimate.seeds, [3, 0])
    drawn = estimate.drawn(0)
    assert set(np.unique(drawn[0])) == {0, 2, 3}
    found = estimate.resampled(drawn)
    assert np.isfinite(found[:, 0]).all()
    assert np.isnan(found[:, 1]).all()


def test_the_interval_of_a_mean_is_students():
    from scipy.stats import t

    values = np.random.default_rng(3).normal(size=8)
    estimate = Estimate((8,), values)
    low, high = ends(estimate.resampled(estimate.drawn(0))[:, 0], float(values.mean()), 8, (-np.inf, np.inf))
    half = t.ppf(0.975, 7) * values.std(ddof=1) / np.sqrt(8)
    np.testing.assert_allclose([low, high], values.mean() + np.array([-half, half]), atol=0.25 * half)


def test_the_interval_of_a_run_is_over_its_partners():
    pairs = blocks(6, 3)
    estimate = Estimate.of_pairs((6, 3), pairs, "median")
    intervals = estimate.run_intervals(0, (0, 1))
    for place, (value, low, high) in enumerate(intervals):
        assert value == pytest.approx(np.nanmedian(pairs[:, place]))
        assert (low <= value <= high) if place < 6 else np.isnan([low, high]).all()
    assert np.isnan([end for _, *pair in Estimate((5,), np.arange(5.0)).run_intervals(0, (0, 9)) for end in pair]).all()


def test_the_chance_of_being_best():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(mean, 1, 10) for mean in (0, 0, 9)])
    estimate = Estimate((10, 10, 10), values)
    resampled = estimate.resampled(estimate.drawn(0))
    args = resampled, estimate.specifications, estimate.seeds
    np.testing.assert_allclose(chances(*args, higher_is_better=True), [0, 0, 1], atol=1e-3)
    low = chances(*args, higher_is_better=False)
    assert low[2] == 0
    assert low.sum() == pytest.approx(1)
    assert 0.05 < low[0] < 0.95
    same = np.ones((RESAMPLES, 2))
    np.testing.assert_array_equal(chances(same, np.ones(2), np.array([5, 5]), True), [0.5, 0.5])
    assert np.isnan(chances(same, np.ones(2), np.array([5, 4]), True)).all()
    known = chances(np.ones((RESAMPLES, 3)) * [1, 2, np.nan], np.array([1, 2, np.nan]), np.array([5, 5, 1]), True)
    np.testing.assert_array_equal(known, [0, 1, np.nan])


def test_spearman_of_rows():
    from scipy.stats import spearmanr

    first, second = np.random.default_rng(0).integers(5, size=(2, 7, 6)).astype(float)
    expected: Any = [spearmanr(a, b)[0] for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(spearman(first, second), expected)
    assert np.isnan(spearman(np.ones((1, 4)), second[:1, :4])).all()
    assert np.isnan(spearman(first[:, :2], second[:, :2])).all()
