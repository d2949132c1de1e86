"""The two models of equal likelihood, by other ways to compute them, and the tests that compare their codes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unweave.reproduce import Findings
from unweave.reproduce.impossibility import (
    EVEN,
    Flow,
    Impossibility,
    Settings,
    Twin,
    draw,
    factors_of,
    priors,
    rejected,
    spread_alphas,
)
from unweave.reproduce.intervals import mean_and_interval, share_and_interval


@pytest.fixture(scope="module")
def findings() -> Findings:
    settings = Settings(samples=800, repeats=5, rows=400, alphas=1)
    return Impossibility().run(settings, seed=1, on_progress=lambda what, done, total: None)


def models(name, seed=0):
    prior = priors()[name]
    rng = np.random.default_rng(seed)
    model = Flow(rng.normal(size=(len(prior.marginals),) * 2), prior)
    return model, Twin(model), draw(prior, 400, rng)


@pytest.mark.parametrize("name", ["uniform", "normal", "mixed"])
def test_both_models_decode_what_they_encode(name):
    model, twin, z = models(name)
    x = model.decode(z)
    assert np.allclose(model.encode(x), z)
    assert np.allclose(twin.decode(twin.encode(x)), x)
    assert np.allclose(twin.decode(z), model.decode(model.prior(z)))  # f is its own inverse


def test_the_likelihood_of_a_normal_prior_is_that_of_a_normal_distribution():
    model, twin, z = models("normal")
    x = model.decode(z)
    covariance = model.weights @ model.weights.T
    distances = np.einsum("ni,ij,nj->n", x, np.linalg.inv(covariance), x)
    wanted = -distances / 2 - np.log(2 * np.pi) - np.log(np.linalg.det(covariance)) / 2
    assert np.allclose(model.log_likelihood(x), wanted)
    assert np.allclose(twin.log_likelihood(x), wanted)


@pytest.mark.parametrize("name", ["uniform", "mixed"])
def test_the_twin_s_likelihood_by_the_jacobian_of_its_decoder(name):
    # log p(z') - log |det dx/dz'|, the decoder differentiated numerically at z'.
    model, twin, z = models(name)
    x = model.decode(z)
    codes = twin.encode(x)
    inner = (factors_of(model.prior, codes) % 3 > 0).all(axis=1)  # away from the ends, where steps are too coarse
    codes, steps = codes[inner], 1e-6 * np.eye(codes.shape[1])
    decoder = np.stack([(twin.decode(codes + step) - twin.decode(codes - step)) / 2e-6 for step in steps], axis=-1)
    wanted = model.prior.log_density(codes) - np.linalg.slogdet(decoder)[1]
    assert len(codes) > 10
    assert np.allclose(twin.log_likelihood(x[inner]), wanted, atol=1e-4)


def test_factors_are_parts_of_equal_probability():
    model, _, _ = models("mixed")
    factors = factors_of(model.prior, draw(model.prior, 20_000, np.random.default_rng(0)))
    shares = [np.bincount(column, minlength=4) / len(factors) for column in factors.T]
    assert np.allclose(shares, 0.25, atol=0.02)


def test_the_tests_reject_what_the_theorem_does_not_say():
    uniform = priors()["uniform"]
    z = draw(uniform, 2_000, np.random.default_rng(0))
    turned = (z - 0.5) @ uniform.matrix.T + 0.5  # A alone, without the way through normal coordinates
    assert rejected(uniform, turned) == (True, True)
    assert rejected(uniform, np.column_stack([z[:, 0], z[:, 0]])) == (False, True)
    assert rejected(uniform, np.column_stack([z[:, 0] ** 1.3, z[:, 1]]))[0]


def test_the_tests_reject_their_share_of_what_is_true():
    normal = priors()["normal"]
    rng = np.random.default_rng(3)
    told = np.array([rejected(normal, draw(normal, 500, rng)) for _ in range(150)])
    for column in told.T:
        estimate = share_and_interval(column)
        assert estimate.low <= 0.05 <= estimate.high


def test_what_was_found_is_what_the_theorem_claims(findings):
    rows = {row.what: row for row in findings.rows}
    assert len(rows) == len(findings.rows) == 24
    for name in priors():
        assert rows[f"{name}: log-likelihood of the twin minus the model's"].ours == 0
        assert rows[f"{name}: points where a ∂f_i/∂z_j is 0"].ours == 0
        assert rows[f"{name}: MIG of z"].low > 0.75
        assert rows[f"{name}: MIG of f(z)"].ours < 0.06
        assert rows[f"{name}: DCI disentanglement of z"].ours > 0.95
        assert rows[f"{name}: DCI disentanglement of f(z)"].ours < 0.05
    for row in findings.rows:
        assert row.low <= row.ours <= row.high
    assert set(findings.figures) == {"grid", "family"}


def test_the_picture_draws_the_grid_and_where_f_takes_it(findings):
    _, right = findings.figures["grid"].axes[:2]
    x, y = np.asarray(right.lines[0].get_data())
    prior = priors()["uniform"]
    back = prior.inverse(np.column_stack([x, y])[:50])  # the first line: equal z_1
    assert np.allclose(back[20:, 0], 0.05, atol=1e-6)


def test_alphas_run_from_almost_no_mixing_through_even_parts_to_almost_a_swap():
    alphas = spread_alphas(13)
    assert 0 < alphas[0] < 0.01
    assert 0.44 < alphas[-1] < 0.5
    assert alphas[6] == pytest.approx(EVEN)


def test_intervals_hold_what_they_should_as_often_as_they_should():
    rng = np.random.default_rng(0)
    means = [mean_and_interval(rng.exponential(size=200)) for _ in range(400)]
    assert 0.92 <= np.mean([each.low <= 1 <= each.high for each in means]) <= 0.98
    shares = [share_and_interval(rng.uniform(size=60) < 0.1) for _ in range(400)]
    assert np.mean([each.low <= 0.1 <= each.high for each in shares]) >= 0.94
    for hits in (0, 1, 30, 59, 60):
        ends = stats.binomtest(hits, 60).proportion_ci(method="exact")
        assert share_and_interval(np.arange(60) < hits)[1:] == pytest.approx((ends.low, ends.high))
