"""The terms of the evidence lower bound against integrals, on subsets and at the ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from unweave.errors import UsageError
from unweave.metrics.elbo import Elbo, elbo, kl_per_code
from unweave.metrics.resampling import interval

RNG = np.random.default_rng(0)
MEANS, LOGS = RNG.normal(size=(8, 3)), RNG.normal(size=(8, 3)) - 1
LOSSES = RNG.uniform(10, 20, size=8)


def divergence(mean, log_variance):
    """The integral of q log(q / p), on which the closed form does not rest."""
    deviation = math.exp(log_variance / 2)

    def integrand(z):
        log = norm.logpdf(z, mean, deviation)
        return math.exp(log) * (log - norm.logpdf(z))

    return quad(integrand, mean - 12 * deviation, mean + 12 * deviation)[0]


def test_it_is_the_divergence():
    expected = np.mean(
        [[divergence(*pair) for pair in zip(*row, strict=True)] for row in zip(MEANS, LOGS, strict=True)], 0
    )
    np.testing.assert_allclose(kl_per_code(MEANS, LOGS), expected, atol=1e-7)
    terms = elbo(MEANS, LOGS, LOSSES)
    assert terms.rate == pytest.approx(expected.sum(), abs=1e-7)
    assert terms.distortion == pytest.approx(sum(LOSSES) / 8)
    assert terms.bound == pytest.approx(-terms.rate - terms.distortion)


def test_the_prior_costs_nothing():
    assert elbo(np.zeros((5, 2)), np.zeros((5, 2)), np.ones(5)) == Elbo(0.0, 1.0, -1.0)
    tiny = np.random.default_rng(0).normal(size=(1000, 4)) * 1e-9
    assert 0.0 <= elbo(np.zeros_like(tiny), tiny, np.ones(1000)).rate < 1e-15


def test_parts_are_python_floats():
    for terms in (elbo(MEANS, LOGS, LOSSES), elbo(MEANS.tolist(), LOGS.astype(np.float32), LOSSES.tolist())):
        assert {type(part) for part in terms} == {float}


def test_a_subset_scores_as_its_rows_do():
    subset = np.random.default_rng(1).random(8) < 0.5
    again = elbo.sample(MEANS, LOGS, LOSSES).rescore(subset[None])
    np.testing.assert_allclose(again, [elbo(MEANS[subset], LOGS[subset], LOSSES[subset])], rtol=1e-12)


def test_the_rate_has_a_limit_that_the_other_parts_have_not():
    """A rate near 0 with a wide spread would have an interval below 0; distortion and bound may be negative."""
    rng = np.random.default_rng(0)
    means, losses = np.where(np.arange(40) == 0, 3.0, 0.0)[:, None], rng.normal(-1, 20, size=40)
    ends = interval(elbo.sample(means, np.zeros((40, 1)), losses), (-math.inf, math.inf), 50, rng)
    assert ends is not None
    assert ends[0][0] == 0.0
    assert ends[1][0] < 0.0
    assert ends[2][0] < 0.0 < ends[2][1]


def test_very_sure_posteriors_are_finite():
    assert elbo([[1e50], [0.0]], [[-1e90], [-1e90]], [1.0, 1.0]).rate < math.inf


@pytest.mark.parametrize(
    ("arguments", "losses", "line"),
    [
        ((MEANS, LOGS[:, :2]), LOSSES, r"means have shape \(8, 3\) but log variances have \(8, 2\)"),
        ((MEANS, LOGS + 800), LOSSES, "exponentials overflow"),
        ((MEANS, LOGS * np.nan), LOSSES, "log variances hold NaN"),
        ((MEANS[:, 0], LOGS), LOSSES, "means must have two dimensions"),
        ((MEANS, LOGS), LOSSES[:7], "a loss for each of the 8 samples, got shape"),
        ((MEANS, LOGS), LOSSES[:, None], "a loss for each of the 8 samples, got shape"),
        ((MEANS, LOGS), LOSSES * np.nan, "reconstruction losses hold NaN"),
    ],
)
def test_a_mistake_gets_one_line(arguments, losses, line):
    with pytest.raises(UsageError, match=line):
        elbo(arguments[0], arguments[1], losses)
