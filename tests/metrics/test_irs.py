"""IRS against a slow referee written from the formula, in known worlds, and where it is fooled."""

from __future__ import annotations

import math

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.metrics.irs import irs


def referee(codes, factors, bins=20, quantile=0.99):
    """IRS by loops over codes, factors and values, with quantiles from sorted lists."""
    total = weights = 0.0
    for code in np.transpose(codes).tolist():
        centre = math.fsum(code) / len(code)
        largest = max(abs(z - centre) for z in code)
        if max(code) == min(code):
            continue
        best = 0.0
        for factor in np.transpose(factors).tolist():
            if len(set(factor)) == 1:
                continue
            if len(set(factor)) > bins:
                edges = np.histogram(factor, bins)[1][:-1]
                factor = np.digitize(factor, edges).tolist()
            of_value = []
            for value in sorted(set(factor)):
                inside = [z for z, v in zip(code, factor, strict=True) if v == value]
                mean = math.fsum(inside) / len(inside)
                apart = sorted(abs(z - mean) for z in inside)
                place = quantile * (len(apart) - 1)
                low, high = apart[math.floor(place)], apart[math.ceil(place)]
                of_value.append(low + (place - math.floor(place)) * (high - low))
            best = max(best, 1 - sum(of_value) / len(of_value) / largest)
        total, weights = total + largest * best, weights + largest
    return total / weights if weights else 0.0


def cases():
    rng = np.random.default_rng(0)
    factors = rng.integers([3, 6, 40], size=(300, 3))
    related = factors / [2, 5, 39] + 0.2 * rng.normal(size=(300, 3))
    yield "related", related, factors
    yield "of other scales", related * [1.0, 10.0, 0.01] + 5, factors
    yield "perfect", factors.astype(float), factors
    yield "one code", related[:, :1], factors
    yield "a constant code", np.hstack([related, np.full((300, 1), 0.1)]), factors
    yield "a factor with one value", related, np.hstack([factors, np.full((300, 1), 7)])
    yield "few values far apart", related, factors[:, :2] ** 9 * 10**6
    yield "more codes than samples", rng.normal(size=(12, 30)), factors[:12]
    yield "two samples", np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0], [1]])


@pytest.mark.parametrize("quantile", [0.99, 1.0, 0.5])
@pytest.mark.parametrize(("codes", "factors"), [pytest.param(*rest, id=name) for name, *rest in cases()])
def test_it_is_the_formula(codes, factors, quantile):
    assert irs(codes, factors, quantile=quantile) == pytest.approx(referee(codes, factors, 20, quantile), abs=1e-12)


def test_known_worlds(worlds):
    rng = np.random.default_rng(0)
    assert irs(*worlds["perfect"](10_000, rng)) == 1.0
    assert irs(*worlds["duplicated"](10_000, rng)) == 1.0
    assert irs(*worlds["useless"](10_000, rng)) < 0.03  # uniform: the 99th percentile is all but the largest
    assert irs(np.ones((10, 3)), np.arange(10)[:, None] % 2) == 0.0


def test_a_code_that_deviates_more_within_values_than_as_a_whole_scores_nothing():
    codes = np.array([0.0, 0.0, 0.0, 10.0, 10.0, 10.0, 10.0, 0.0])[:, None]
    assert irs(codes, np.repeat([0, 1], 4)[:, None]) == 0.0


def test_many_values_are_cut_in_bins():
    factor = np.arange(4000)[:, None] % 40
    assert irs(factor.astype(float), factor, bins=40) == 1.0
    assert irs(factor.astype(float), factor, bins=20) == pytest.approx(1 - 0.5 / 19.5)


def test_gaussian_noise_fools_it():
    """Its 99th percentile is far below its largest value, and looks like robustness."""
    rng = np.random.default_rng(0)
    assert irs(rng.normal(size=(10_000, 5)), rng.integers(4, size=(10_000, 2))) > 0.3


def test_a_subset_scores_as_its_rows_do(worlds):
    codes, factors = worlds["noisy"](300, np.random.default_rng(3))
    subset = np.random.default_rng(4).random(300) < 0.5
    again = irs.sample(codes, factors).rescore(subset[None])
    np.testing.assert_allclose(again, [referee(codes[subset], factors[subset])], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 1}, "bins must be a whole number"),
        ({"quantile": 0.0}, "quantile must be"),
        ({"quantile": 1.1}, "quantile must be"),
        ({"quantile": "all"}, "quantile must be"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(UsageError, match=message):
        irs(np.arange(10.0)[:, None], np.arange(10)[:, None], **options)
