"""How scores grow with a size, against curves whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from unweave.errors import UsageError
from unweave.study.analysis import best_curve, growth

SIZES = [10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, 10_000.0]


def test_slopes_are_fitted_to_each_seed_and_their_interval_is_students():
    rng = np.random.default_rng(0)
    scores = 0.1 + 0.05 * np.log10(SIZES) + 0.01 * rng.normal(size=(40, 7))
    found = growth(SIZES, scores).slope
    slopes = np.array([np.polyfit(np.log10(SIZES), row, 1)[0] for row in scores])
    assert found.value == pytest.approx(slopes.mean())
    half = t.ppf(0.975, 39) * slopes.std(ddof=1) / np.sqrt(40)
    assert found.low == pytest.approx(slopes.mean() - half, abs=0.15 * half)
    assert found.high == pytest.approx(slopes.mean() + half, abs=0.15 * half)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.05 < found.high


def test_the_kind_of_a_curve_is_found():
    rng = np.random.default_rng(1)
    noise = 0.002 * rng.normal(size=7)
    x = np.array(SIZES)
    assert best_curve(x, 0.4 + noise).kind == "constant"
    assert best_curve(x, 0.1 + 0.1 * np.log10(x) + noise).kind == "logarithmic"
    saturating = best_curve(x, 0.6 - 2.0 * x**-0.8 + noise)
    assert saturating.kind == "saturating"
    assert saturating.limit == pytest.approx(0.6, abs=0.01)
    assert saturating.c == pytest.approx(0.8, abs=0.1)
    assert saturating(x) == pytest.approx(0.6 - 2.0 * x**-0.8, abs=0.01)


def test_the_fit_is_a_least_squares_one():
    """No curve of its kind near the one that is found is closer."""
    rng = np.random.default_rng(2)
    x = np.array(SIZES)
    y = 0.5 - 1.5 * x**-0.5 + 0.01 * rng.normal(size=7)
    found = best_curve(x, y)
    assert found.kind == "saturating"
    error = np.sum((found(x) - y) ** 2)
    for a, b, c in rng.normal(size=(200, 3)) * [0.01, 0.05, 0.05] + [found.a, found.b, found.c]:
        assert np.sum((a - b * x**-c - y) ** 2) > error - 1e-6


def test_few_sizes_are_never_saturating():
    assert best_curve([1, 10, 100], [[0.1, 0.5, 0.55], [0.11, 0.51, 0.56]]).kind != "saturating"


def test_spread_over_seeds_counts_as_noise():
    """Growth that is small beside what seeds differ by is not there, and with less spread it is."""
    means, spread = 0.3 + 0.01 * np.log10(SIZES), np.random.default_rng(3).normal(size=(5, 1))
    assert best_curve(SIZES, means + 0.1 * spread).kind == "constant"
    assert best_curve(SIZES, means + 0.001 * spread).kind == "logarithmic"


def test_few_seeds_have_no_interval():
    assert growth([1, 10], [[0.1, 0.2], [0.1, 0.3]]).slope.low is None


@pytest.mark.parametrize("sizes", [[1], [1, 1], [0, 1], [1, np.inf], [-1, 1]])
def test_sizes_that_are_none(sizes):
    with pytest.raises(UsageError, match="two different sizes"):
        growth(sizes, np.zeros((5, len(sizes))))


@pytest.mark.parametrize("scores", [[[0.1, np.nan]], [[0.1, 0.2, 0.3]], [[0.1], [0.2]]])
def test_scores_that_do_not_fit(scores):
    with pytest.raises(UsageError, match="finite scores"):
        growth([1, 10], scores)
