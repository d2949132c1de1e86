"""The terms of the evidence lower bound against integrals, on subsets and at the ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from unweave.errors import UsageError
from unweave.metrics.elbo import ElboTerms, KlTerm, elbo_terms, kl_per_code

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
    terms = elbo_terms(MEANS, LOGS, reconstruction=LOSSES)
    assert terms.kl == pytest.approx(expected.sum(), abs=1e-7)
    assert terms.reconstruction == pytest.approx(sum(LOSSES) / 8)
    assert terms.elbo == pytest.approx(-terms.kl - terms.reconstruction)


def test_without_reconstruction_the_divergence_alone():
    alone = elbo_terms(MEANS, LOGS)
    assert isinstance(alone, KlTerm)
    assert alone.kl == pytest.approx(elbo_terms(MEANS, LOGS, reconstruction=LOSSES).kl, rel=1e-12)


def test_the_prior_costs_nothing():
    assert elbo_terms(np.zeros((5, 2)), np.zeros((5, 2))) == (0.0,)
    tiny = np.random.default_rng(0).normal(size=(1000, 4)) * 1e-9
    assert 0.0 <= elbo_terms(np.zeros_like(tiny), tiny).kl < 1e-15


def test_parts_are_python_floats():
    for terms in (elbo_terms(MEANS, LOGS, reconstruction=LOSSES), elbo_terms(MEANS.tolist(), LOGS.astype(np.float32))):
        assert {type(part) for part in terms} == {float}


@pytest.mark.parametrize("losses", [None, LOSSES])
def test_a_subset_scores_as_its_rows_do(losses):
    subset = np.random.default_rng(1).random(8) < 0.5
    again = elbo_terms.sample(MEANS, LOGS, reconstruction=losses).rescore(subset[None])
    fresh = elbo_terms(MEANS[subset], LOGS[subset], reconstruction=None if losses is None else losses[subset])
    np.testing.assert_allclose(again, [fresh], rtol=1e-12)


def test_very_sure_posteriors_are_finite():
    assert elbo_terms([[1e50], [0.0]], [[-1e90], [-1e90]]).kl < math.inf
    assert isinstance(elbo_terms(MEANS, LOGS, reconstruction=LOSSES), ElboTerms)


@pytest.mark.parametrize(
    ("arguments", "losses", "line"),
    [
        ((MEANS, LOGS[:, :2]), None, r"means have shape \(8, 3\) but log variances have \(8, 2\)"),
        ((MEANS, LOGS + 800), None, "exponentials overflow"),
        ((MEANS, LOGS * np.nan), None, "log variances hold NaN"),
        ((MEANS[:, 0], LOGS), None, "means must have two dimensions"),
        ((MEANS, LOGS), LOSSES[:7], "a loss for each of the 8 samples, got shape"),
        ((MEANS, LOGS), LOSSES[:, None], "a loss for each of the 8 samples, got shape"),
        ((MEANS, LOGS), LOSSES * np.nan, "reconstruction losses hold NaN"),
    ],
)
def test_a_mistake_gets_one_line(arguments, losses, line):
    with pytest.raises(UsageError, match=line):
        elbo_terms(*arguments, reconstruction=losses)
