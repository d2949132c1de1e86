"""Noise in labels: how much of it, of what kind, and what it does to a ranking."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from unweave.errors import UsageError
from unweave.metrics.label_noise import REGIMES, label_noise_correlation, noisy_labels
from unweave.metrics.mig import mig

NAMES, SIZES = ("shape", "scale", "orientation", "x", "y"), (3, 6, 40, 32, 32)
FACTORS = np.random.default_rng(0).integers(SIZES, size=(20_000, 5))


@pytest.mark.parametrize("regime", REGIMES)
def test_the_published_regimes(regime):
    noisy = noisy_labels(FACTORS, regime=regime, names=NAMES, sizes=SIZES)
    assert (noisy.min(axis=0) == 0).all()
    assert (noisy.max(axis=0) == np.array(SIZES) - 1).all()
    changed = (noisy != FACTORS).mean(axis=0)
    assert changed[0] == pytest.approx(
        REGIMES[regime]["shape"] * 2 / 3, abs=0.01
    )  # a third of the draws is the old one
    for j, kind in ((1, "scale"), (2, "orientation"), (3, "position"), (4, "position")):
        middle = np.abs(FACTORS[:, j] - (SIZES[j] - 1) / 2) <= 0.5  # far from where noise is clipped
        spread = np.sqrt(np.mean((noisy - FACTORS)[middle, j] ** 2) - (regime < 3) / 12)
        expected = REGIMES[regime][kind] * (SIZES[j] - 1)
        assert spread == pytest.approx(expected, rel=0.1 if regime < 3 else 0.25)


def test_levels_by_name_and_by_position():
    by_name = noisy_labels(FACTORS, regime={"x": 0.5}, names=NAMES)
    assert (by_name != FACTORS).any(axis=0).tolist() == [False, False, False, True, False]
    np.testing.assert_array_equal(by_name, noisy_labels(FACTORS, regime=[0, 0, 0, 0.5, 0]))
    np.testing.assert_array_equal(noisy_labels(FACTORS, regime=[0.0] * 5), FACTORS)


def test_a_categorical_factor_jumps_and_an_ordered_one_drifts():
    factors = np.full((5000, 2), 20)
    factors[:2] = [[0, 0], [40, 40]]
    noisy = noisy_labels(factors, regime=[0.1, 0.1], sizes=(41, 41), categorical=[0])
    moved = np.abs(noisy - factors)[2:]
    assert (moved[:, 0] > 0).mean() == pytest.approx(0.1, abs=0.02)
    assert moved[:, 0].max() == 20
    assert (moved[:, 1] > 0).mean() > 0.8
    np.testing.assert_array_equal(
        noisy_labels(FACTORS, categorical=["x"], names=NAMES), noisy_labels(FACTORS, categorical=[3], names=NAMES)
    )


def test_without_sizes_only_values_that_occur_are_drawn():
    factors = np.array([[3], [7], [100]] * 50)
    assert set(noisy_labels(factors, regime=[1.0], categorical=[0]).ravel().tolist()) == {3, 7, 100}


def test_the_seed_decides_and_the_input_stays():
    before = FACTORS.copy()
    first = noisy_labels(FACTORS, seed=1)
    np.testing.assert_array_equal(first, noisy_labels(FACTORS, seed=1))
    assert (first != noisy_labels(FACTORS, seed=2)).any()
    np.testing.assert_array_equal(FACTORS, before)


def representations(count=8):
    rng = np.random.default_rng(0)
    factors = FACTORS[:2000, :3]
    return [
        (factors / [2, 5, 39] + noise * rng.normal(size=(2000, 3)), factors) for noise in np.linspace(0.05, 1, count)
    ]


@pytest.mark.parametrize(("kind", "correlate"), [("rank", spearmanr), ("linear", pearsonr)])
def test_it_is_the_correlation_of_the_scores(kind, correlate):
    given = representations()
    noisy = noisy_labels(given[0][1], regime=2, names=NAMES[:3], seed=3)
    scores = [[mig(codes, labels) for codes, _ in given] for labels in (given[0][1], noisy)]
    found = label_noise_correlation(mig, given, regime=2, kind=kind, seed=3, names=NAMES[:3])
    assert found == pytest.approx(correlate(*scores)[0], abs=1e-12)


def test_a_score_that_looks_at_no_label_is_robust():
    assert label_noise_correlation(lambda codes, _: float(codes.std()), representations(), regime=3) == 1.0


def test_equal_scores_have_no_correlation():
    assert label_noise_correlation(lambda *_: 0.5, representations()) == 0.0


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"regime": 4}, "regime must be 1, 2 or 3"),
        ({"regime": [0.1]}, "each of the 5 factors a level from 0 to 1"),
        ({"regime": [0.1, 0.1, 0.1, 0.1, 1.1]}, "a level from 0 to 1"),
        ({"regime": {"z": 0.1}, "names": NAMES}, "no factor is called 'z'"),
        ({"names": NAMES[:2]}, "5 factors but 2 names"),
        ({"sizes": (3, 6)}, "5 factors but 2 sizes"),
        ({"sizes": (2, 6, 40, 32, 32)}, "factor 0 holds 0 to 2, not values of 0 to 1"),
        ({"categorical": [5]}, "there is no factor 5"),
        ({"categorical": ["colour"], "names": NAMES}, "no factor is called 'colour'"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_a_mistake_gets_one_line(options, line):
    with pytest.raises(UsageError, match=line):
        noisy_labels(FACTORS, **options)


def test_mistakes_in_representations():
    with pytest.raises(UsageError, match="at least three representations, got 2"):
        label_noise_correlation(mig, representations(2))
    with pytest.raises(UsageError, match="a score that is not finite"):
        label_noise_correlation(lambda *_: np.nan, representations())
    with pytest.raises(UsageError, match="no kind of correlation is called"):
        label_noise_correlation(mig, representations(), kind="kendall")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="factor 2 is continuous"):
        noisy_labels(FACTORS / 2)
