"""β-TCVAE: three parts of the KL term, against Gaussians whose parts are known and against loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.stats import norm

from unweave.data import load
from unweave.errors import UsageError
from unweave.methods.beta_tcvae import BetaTCVAE
from unweave.methods.vae import VAE
from unweave.nets import Gaussian, Net
from unweave.schedules import Schedule

MODEL = Net("mlp", latents=3, width=0.02).build((32, 32, 1), torch.Generator().manual_seed(0))
PLAIN = BetaTCVAE(beta=1)
STRATIFIED = BetaTCVAE(beta=1, estimator="stratified", data_size=1_000_000)
COVARIANCE = np.array([[1.2, 0.5, 0.1], [0.5, 0.9, -0.2], [0.1, -0.2, 1.0]])
NOISE = 0.3


def terms(method, q: Gaussian, z: torch.Tensor, step: int = 0) -> dict[str, float]:
    return {name: value.item() for name, value in method.penalty(MODEL, q, z, step).items()}


def correlated(n: int) -> tuple[Gaussian, torch.Tensor]:
    """Posteriors of variance NOISE whose aggregate is N(0, COVARIANCE), and samples."""
    generator = torch.Generator().manual_seed(1)
    root = torch.linalg.cholesky(torch.tensor(COVARIANCE - NOISE * np.eye(3)).float())
    mean = torch.randn(n, 3, generator=generator) @ root.T
    q = Gaussian(mean, torch.full_like(mean, float(np.log(NOISE))))
    return q, q.sample(generator)


@pytest.mark.parametrize("method", [PLAIN, STRATIFIED], ids=lambda method: method.estimator)
def test_the_parts_of_a_gaussian_aggregate_are_found_in_nats(method):
    variances, determinant = np.diag(COVARIANCE), np.linalg.det(COVARIANCE)
    found = terms(method, *correlated(2000))
    assert found["information"] == pytest.approx(0.5 * np.log(determinant / NOISE**3), abs=0.06)
    assert found["total_correlation"] == pytest.approx(0.5 * np.log(variances.prod() / determinant), abs=0.03)
    assert found["dimension_kl"] == pytest.approx(0.5 * (variances - 1 - np.log(variances)).sum(), abs=0.06)


@pytest.mark.parametrize("method", [PLAIN, STRATIFIED], ids=lambda method: method.estimator)
def test_the_parts_add_up_to_the_kl_term_and_their_gradients_too(method):
    q, z = correlated(8)
    mean = q.mean.requires_grad_()
    parts = torch.stack(list(method.penalty(MODEL, q, z, 0).values()))
    kl = VAE().penalty(MODEL, q, z, 0)["kl"]
    torch.testing.assert_close(parts.sum(), kl)
    ours, theirs = (torch.autograd.grad(value, mean, retain_graph=True)[0] for value in (parts.sum(), kl))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def by_loops(q: Gaussian, z: torch.Tensor, weights: np.ndarray) -> tuple[float, float]:
    """E log q(z) and E sum_j log q(z_j), where image i counts weights[k, i] at sample k."""
    mean, deviation, samples = q.mean.numpy(), (q.log_variance / 2).exp().numpy(), z.numpy()
    joint, margins = 0.0, 0.0
    for sample, counts in zip(samples, weights, strict=True):
        density = norm.pdf(sample, mean, deviation)  # of every image and latent
        joint += np.log(sum(c * np.prod(row) for c, row in zip(counts, density, strict=True))) / len(z)
        for column in density.T:
            margins += np.log(sum(c * value for c, value in zip(counts, column, strict=True))) / len(z)
    return joint, margins


def published_weights(n: int, size: int) -> np.ndarray:
    """The stratified weights of the paper's appendix, averaged over which other image gets the odd one."""
    m = n - 1  # others
    weights = np.zeros((n, n))
    for k in range(n):
        others = [i for i in range(n) if i != k]
        for odd in others:
            row = np.full(n, 1 / m)
            row[k] = 1 / size
            row[odd] = (size - m) / (size * m)
            weights[k] += row / m
    return weights


@pytest.mark.parametrize("estimator", ["weighted", "stratified"])
def test_the_estimates_are_the_papers_sums_written_out(estimator):
    q, z = correlated(6)
    weights = np.full((6, 6), 1 / 6) if estimator == "weighted" else published_weights(6, 40)
    assert weights.sum(1) == pytest.approx(1)
    joint, margins = by_loops(q, z, weights)
    found = terms(BetaTCVAE(beta=5, alpha=2, gamma=3, estimator=estimator, data_size=40), q, z)
    kl = VAE().penalty(MODEL, q, z, 0)["kl"].item()
    assert found["total_correlation"] == pytest.approx(5 * (joint - margins), rel=1e-4)
    own = norm.logpdf(z.numpy(), q.mean.numpy(), NOISE**0.5).sum(1).mean()
    assert found["information"] == pytest.approx(2 * (own - joint), rel=1e-4)
    assert found["dimension_kl"] == pytest.approx(3 * (kl - own + margins), rel=1e-4)


def test_the_size_of_the_data_that_the_paper_writes_into_the_weighted_sum_moves_no_gradient():
    q, z = correlated(6)
    z = z.requires_grad_()
    gradient = torch.autograd.grad(BetaTCVAE(beta=6).penalty(MODEL, q, z, 0)["total_correlation"], z)[0]
    distance = (z[:, None] - q.mean).square() / NOISE
    paper = (-distance.sum(2) / 2).logsumexp(1) - (-distance / 2).logsumexp(1).sum(1)  # its constants are left out
    torch.testing.assert_close(gradient, torch.autograd.grad(6 * paper.mean(), z)[0], rtol=1e-4, atol=1e-5)


def test_information_about_images_far_apart_is_the_logarithm_of_their_number():
    q = Gaussian(torch.arange(8.0)[:, None].expand(8, 3) * 100, torch.zeros(8, 3))
    z = q.sample(torch.Generator().manual_seed(0))
    assert terms(PLAIN, q, z)["information"] == pytest.approx(np.log(8))
    assert terms(STRATIFIED, q, z)["information"] == pytest.approx(np.log(1_000_000))


def test_codes_without_information_have_none_of_the_three():
    q = Gaussian(torch.zeros(8, 3), torch.zeros(8, 3))
    found = terms(PLAIN, q, q.sample(torch.Generator().manual_seed(0)))
    assert found == pytest.approx({"information": 0, "total_correlation": 0, "dimension_kl": 0}, abs=1e-5)


def test_weights_may_move_with_the_step():
    q, z = correlated(6)
    moving = BetaTCVAE(beta=Schedule(0, 4, 100))
    values = [terms(moving, q, z, step)["total_correlation"] for step in (0, 50, 100, 200)]
    assert values[0] == 0
    assert [b - a for a, b in pairwise(values)] == pytest.approx([values[2] / 2, values[2] / 2, 0])


def test_the_stratified_estimator_takes_the_size_of_the_data():
    data = load("xysquares:size=32")
    filled = BetaTCVAE(estimator="stratified").resolve(data, 1e-3)
    assert filled == BetaTCVAE(estimator="stratified", data_size=len(data))
    filled.check(data, 10)
    assert BetaTCVAE().resolve(data, 1e-3) == BetaTCVAE()  # which has no use for it, and keeps its identity
    wrong = BetaTCVAE(estimator="stratified", data_size=7)
    assert wrong.resolve(data, 1e-3) == wrong
    with pytest.raises(UsageError, match=f"needs data_size={len(data)}"):
        wrong.check(data, 10)


def test_bad_settings_are_refused():
    with pytest.raises(UsageError, match="did you mean 'stratified'"):
        BetaTCVAE(estimator="stratifed")
    with pytest.raises(UsageError, match="data_size is a number of images"):
        BetaTCVAE(data_size=-1)


@pytest.mark.parametrize("bad", [{"alpha": -1}, {"beta": -1}, {"gamma": float("inf")}])
def test_weights_are_not_negative_and_finite(bad):
    with pytest.raises(UsageError, match="must be a number that is not negative"):
        BetaTCVAE(**bad)
