"""α-TCVAE: its two bottlenecks against loops, the bound that they come from, and its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm

from unweave.data import load
from unweave.errors import UsageError
from unweave.methods import AlphaTCVAE, BetaVAE, Schedule
from unweave.nets import Gaussian, Net

MODEL = Net("mlp", latents=3, width=0.02).build((32, 32, 1), torch.Generator().manual_seed(0))


def posteriors(n: int = 6) -> tuple[Gaussian, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    q = Gaussian(torch.randn(n, 3, generator=generator), torch.randn(n, 3, generator=generator) - 1)
    return q, q.sample(generator)


def terms(method: AlphaTCVAE | BetaVAE, step: int = 0) -> dict[str, float]:
    q, z = posteriors()
    return {name: value.item() for name, value in method.penalty(MODEL, q, z, step).items()}


def by_loops(size: int | None) -> tuple[float, float]:
    """The mean of log q(z|x) - log q(z), and the mean KL term."""
    q, z = posteriors()
    mean, deviation, samples = q.mean.numpy(), (q.log_variance / 2).exp().numpy(), z.numpy()
    information = kl = 0.0
    for k in range(6):
        densities = [math.prod(norm.pdf(samples[k], mean[i], deviation[i])) for i in range(6)]
        weights = [1 / 6 if size is None else 1 / size if i == k else (1 - 1 / size) / 5 for i in range(6)]
        information += math.log(densities[k] / float(np.dot(weights, densities))) / 6
        kl += sum(0.5 * (m**2 + s**2 - 1) - math.log(s) for m, s in zip(mean[k], deviation[k], strict=True)) / 6
    return information, kl


@pytest.mark.parametrize("size", [None, 40])
def test_terms_are_the_bottlenecks_times_the_published_weights(size):
    information, kl = by_loops(size)
    method = AlphaTCVAE(alpha=0.25, estimator="stratified" if size else "weighted", data_size=size or 0)
    found = terms(method)
    assert found["information"] == pytest.approx(3 * 0.25 / (3 - 0.25) * information, rel=1e-4)
    assert found["kl"] == pytest.approx(0.75 / (1 - 0.25 / 3) * kl, rel=1e-4)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 1.0])
def test_the_weights_are_those_of_the_bound_of_the_total_correlation(alpha):
    """sum_k I(x; z_k) - I(x; z) = (K - a)/K sum_k I(x; z_k) - (1 - a) I(x; z) - a/K sum_k I(x; z | z_k), for any a."""
    latents, joint, single = 3, 2.0, [0.9, 1.1, 0.4]
    left = sum(single) - joint
    conditional = sum(joint - one for one in single)  # I(x; z | z_k) = I(x; z) - I(x; z_k)
    share = (latents - alpha) / latents
    right = share * sum(single) - (1 - alpha) * joint - alpha / latents * conditional
    assert left == pytest.approx(right)
    information, kl = by_loops(None)
    found = terms(AlphaTCVAE(alpha=alpha))
    # Divided by the share of the reconstruction; each of K conditional terms is at most I(x; z).
    assert found["information"] == pytest.approx(alpha / latents * latents * information / share, rel=1e-4)
    assert found["kl"] == pytest.approx((1 - alpha) * kl / share, rel=1e-4)


def test_without_alpha_it_is_the_beta_vae_and_with_all_of_it_there_is_no_kl_term():
    assert terms(AlphaTCVAE(alpha=0, beta=4)) == {"information": 0, **terms(BetaVAE(beta=4))}
    assert terms(AlphaTCVAE(alpha=1))["kl"] == 0


def test_weights_may_move_with_the_step():
    moving = AlphaTCVAE(alpha=Schedule(0, 1, 100), beta=Schedule(1, 3, 100))
    assert terms(moving, 50) == pytest.approx(terms(AlphaTCVAE(alpha=0.5, beta=2)))


def test_the_stratified_estimator_takes_the_size_of_the_data():
    data = load("xysquares:size=32")
    filled = AlphaTCVAE(estimator="stratified").resolve(data, 1e-3)
    assert filled == AlphaTCVAE(estimator="stratified", data_size=len(data))
    filled.check(data, 10)
    assert AlphaTCVAE().resolve(data, 1e-3) == AlphaTCVAE()
    with pytest.raises(UsageError, match=f"needs data_size={len(data)}"):
        AlphaTCVAE(estimator="stratified", data_size=7).check(data, 10)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"alpha": 1.5}, "alpha must be a number from 0 to 1"),
        ({"alpha": -0.1}, "alpha must be"),
        ({"beta": -1}, "beta must be"),
        ({"estimator": "stratifed"}, "did you mean 'stratified'"),
        ({"data_size": -1}, "data_size is a number of images"),
    ],
)
def test_bad_settings_are_refused(bad, message):
    with pytest.raises(UsageError, match=message):
        AlphaTCVAE(**bad)


def test_a_single_latent_is_refused():
    with pytest.raises(UsageError, match="at least 2 latents"):
        AlphaTCVAE().check(load("xysquares:size=32"), 1)
