"""R² of least squares against scikit-learn's, closed forms, and where it is fooled."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from unweave.errors import UsageError
from unweave.metrics.linear_probe import linear_probe


def referee(train, held_out):
    model = LinearRegression().fit(train[0], train[1])
    return r2_score(held_out[1], model.predict(held_out[0]), multioutput="uniform_average")


def halves(codes, factors, border):
    return (codes[:border], factors[:border]), (codes[border:], factors[border:])


@pytest.mark.parametrize("name", ["perfect", "useless", "duplicated", "noisy"])
def test_it_is_scikit_learns(worlds, name):
    train, held_out = halves(*worlds[name](600, np.random.default_rng(0)), border=400)
    assert linear_probe(*train, test=held_out) == pytest.approx(referee(train, held_out), abs=1e-6)


def test_codes_and_factors_of_any_scale(worlds):
    codes, factors = worlds["noisy"](600, np.random.default_rng(1))
    train, held_out = halves(codes * [1e-9, 1, 1e9, 1, 1, 1] + 7.0, factors, border=400)
    larger = halves(codes, factors * 10**14, border=400)
    expected = referee(*halves(codes, factors, border=400))
    assert linear_probe(*train, test=held_out) == pytest.approx(expected, abs=1e-6)
    assert linear_probe(*larger[0], test=larger[1]) == pytest.approx(expected, abs=1e-6)


def test_a_rotation_changes_nothing(worlds):
    codes, factors = worlds["noisy"](600, np.random.default_rng(0))
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    assert linear_probe(codes @ rotation, factors) == pytest.approx(linear_probe(codes, factors), abs=1e-6)


def test_the_share_of_noise_is_known():
    """A factor of variance 2 under noise of variance 2 is known by half."""
    rng = np.random.default_rng(0)
    factor = rng.integers(5, size=(60_000, 1))
    assert linear_probe(factor + rng.normal(scale=2**0.5, size=factor.shape), factor) == pytest.approx(0.5, abs=0.02)


def test_constant_codes_are_as_good_as_the_mean():
    factor = np.arange(60)[:, None] % 3
    codes = np.full((60, 2), 0.1)
    assert linear_probe(codes, factor, test=(codes, factor)) == 0.0
    assert -0.1 < linear_probe(codes, factor) <= 0.0


def test_it_has_no_lower_bound():
    train, held_out = np.array([[0], [1]] * 10), np.array([[0], [1]] * 10)
    assert linear_probe(train * 1.0, train, test=(100.0 * held_out[::-1], held_out)) < -1000


def test_one_value_to_test_counts_nothing():
    mixed, single = np.arange(40)[:, None] % 2, np.zeros((40, 1), dtype=int)
    assert linear_probe(mixed * 1.0, mixed, test=(mixed * 1.0, single)) == 0.0
    with pytest.raises(UsageError, match="single value"):
        linear_probe(mixed * 1.0, single)


def test_more_codes_than_rows():
    codes = np.random.default_rng(0).normal(size=(12, 30))
    assert np.isfinite(linear_probe(codes, np.arange(12)[:, None]))


def test_a_subset_is_fitted_and_tested_again(worlds):
    train, held_out = halves(*worlds["noisy"](600, np.random.default_rng(0)), border=400)
    kept = np.arange(600) % 2 == 0
    again = linear_probe.sample(*train, test=held_out).rescore(kept[None])
    expected = referee([part[::2] for part in train], [part[::2] for part in held_out])
    np.testing.assert_allclose(again, [expected], atol=1e-6)


def test_a_circle_fools_it():
    """Sine and cosine determine an angle, but no line through them follows it all the way round."""
    angle = np.arange(4000)[:, None] % 40
    circle = np.hstack([np.cos(angle * np.pi / 20), np.sin(angle * np.pi / 20)])
    assert linear_probe(circle, angle) == pytest.approx(6 / np.pi**2, abs=0.02)
