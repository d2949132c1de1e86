"""The mean pairwise information against scikit-learn's, and active units against a loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from unweave.errors import UsageError
from unweave.metrics.active_units import active_units
from unweave.metrics.pairwise_mi import pairwise_mi


def referee(codes, bins=20):
    """As disentanglement_lib has it: the matrix of all pairs, its diagonal left out."""
    binned = [np.digitize(code, np.histogram(code, bins)[1][:-1]) for code in codes.T]
    d = len(binned)
    total = sum(mutual_info_score(binned[i], binned[j]) for i in range(d) for j in range(d) if i != j)
    return total / (d**2 - d)


def cases():
    rng = np.random.default_rng(0)
    yield np.cumsum(rng.normal(size=(200, 4)), axis=1)
    yield np.hstack([rng.normal(size=(100, 2)), np.full((100, 1), 0.1)])
    yield rng.normal(size=(8, 12))
    yield rng.integers(5, size=(50, 3)) / 4


@pytest.mark.parametrize("bins", [2, 20])
@pytest.mark.parametrize("codes", list(cases()))
def test_it_is_the_formula(codes, bins):
    assert pairwise_mi(codes, bins=bins) == pytest.approx(referee(codes, bins), abs=1e-12)


def test_known_values():
    code = np.arange(100.0)[:, None]
    assert pairwise_mi(np.hstack([code, -code])) == pytest.approx(math.log(20), abs=1e-12)
    assert pairwise_mi(np.hstack([code, code // 20, 0 * code])) == pytest.approx(math.log(5) / 3, abs=1e-12)
    assert pairwise_mi(code) == 0.0
    assert pairwise_mi(np.ones((10, 3))) == 0.0


def test_a_subset_scores_as_its_rows_do():
    codes = next(cases())
    codes[0], codes[1] = codes.min(axis=0), codes.max(axis=0)  # so that the subset's edges are those of the whole
    subset = np.random.default_rng(4).random(len(codes)) < 0.5
    subset[:2] = True
    again = pairwise_mi.sample(codes).rescore(subset[None])
    np.testing.assert_allclose(again, [referee(codes[subset])], atol=1e-12)
    assert pairwise_mi.sample(codes[:, :1]).rescore(subset[None]).tolist() == [0.0]


@pytest.mark.parametrize("bins", [1, 2.5])
def test_bins_are_checked(bins):
    with pytest.raises(UsageError, match="bins must be a whole number"):
        pairwise_mi([[1.0], [2.0]], bins=bins)


def test_active_units_count_variances_above_the_threshold():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(300, 6)) * [1.0, 0.5, 0.2, 0.05, 0.001, 0.0] + 7
    variances = [sum((v - sum(c) / 300) ** 2 for v in c) / 299 for c in codes.T.tolist()]
    for threshold in (0.0, 0.01, 0.1, 2.0):
        assert active_units(codes, threshold=threshold) == sum(v > threshold for v in variances[:5])
    assert active_units(np.full((50, 4), 0.1), threshold=0.0) == 0.0


def test_active_units_of_a_subset():
    codes = np.random.default_rng(0).normal(size=(300, 6)) * np.linspace(0.08, 0.12, 6) - 3
    subsets = np.random.default_rng(1).random((20, 300)) < 0.5
    again = active_units.sample(codes).rescore(subsets)
    assert again.tolist() == [active_units(codes[subset]) for subset in subsets]
    assert len(set(again)) > 1


@pytest.mark.parametrize("threshold", [-1.0, np.nan, np.inf, "a", None, True])
def test_the_threshold_is_checked(threshold):
    with pytest.raises(UsageError, match="threshold must be a number from 0 up"):
        active_units([[1.0], [2.0]], threshold=threshold)
