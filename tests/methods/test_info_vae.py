"""InfoVAE: the discrepancy from the prior, against sampled priors and numerical integrals."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import ncx2

from unweave.errors import UsageError
from unweave.methods.info_vae import InfoVAE
from unweave.methods.vae import VAE
from unweave.nets import Gaussian, Net
from unweave.penalties.mmd import KERNELS, mmd, smoothed
from unweave.schedules import Schedule

MODEL = Net("mlp", latents=3, width=0.02).build((32, 32, 1), torch.Generator().manual_seed(0))


def normal(n: int, seed: int = 1, latents: int = 3) -> torch.Tensor:
    return torch.randn(n, latents, generator=torch.Generator().manual_seed(seed))


def terms(method, z: torch.Tensor, step: int = 0) -> dict[str, float]:
    q = Gaussian(z, torch.full_like(z, -1.0))
    return {name: value.item() for name, value in method.penalty(MODEL, q, z, step).items()}


def similarity(kernel: str, square: float, scale: float) -> float:
    return scale / (scale + square) if kernel == "imq" else float(np.exp(-square / scale))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("latents", "scale", "norm"), [(3, 6.0, 2.0), (10, 20.0, 0.5), (2, 0.1, 9.0), (10, 20.0, 400.0)]
)
def test_the_kernel_is_averaged_over_the_prior_as_by_integration(kernel, latents, scale, norm):
    """|z - y|^2 for y from N(0, I) is chi-squared, with |z|^2 as non-centrality."""
    expected = quad(
        lambda s: similarity(kernel, s, scale) * ncx2.pdf(s, latents, norm),
        *(0, ncx2.ppf(1 - 1e-12, latents, norm)),
        points=[norm + latents, scale],
        limit=400,
    )[0]
    found = smoothed(kernel, torch.tensor([norm]), scale, latents, 1.0).item()
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_discrepancy_is_that_from_a_large_sample_of_the_prior(kernel):
    z, y = 0.5 * normal(40) + 1, normal(3000, seed=2)

    def mean(a: torch.Tensor, b: torch.Tensor, without_diagonal: bool) -> float:
        values = [[similarity(kernel, float(square), 6.0) for square in row] for row in torch.cdist(a, b) ** 2]
        total = np.sum(values) - (len(a) if without_diagonal else 0)
        return total / (len(a) * (len(b) - without_diagonal))

    some = y[:300]
    expected = mean(z, z, True) - 2 * mean(z, y, False) + mean(some, some, True)
    assert mmd(z, kernel=kernel).item() == pytest.approx(expected, abs=0.02)
    assert expected > 0.1


@pytest.mark.parametrize("kernel", KERNELS)
def test_samples_of_the_prior_have_none_on_average(kernel):
    values = [mmd(normal(30, seed), kernel=kernel).item() for seed in range(200)]
    error = np.std(values) / np.sqrt(200)
    assert abs(np.mean(values)) < 3 * error < 0.002


@pytest.mark.parametrize("kernel", KERNELS)
def test_its_gradient_is_that_of_finite_differences(kernel):
    z = normal(5).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda codes: mmd(codes, kernel=kernel), z)


def test_terms_are_the_objective_written_out():
    z = normal(12)
    found = terms(InfoVAE(alpha=0.25, lambda_mmd=10, bandwidth=0.5, kernel="gaussian"), z)
    assert found["kl"] == pytest.approx(0.75 * terms(VAE(), z)["kl"])
    assert found["mmd"] == pytest.approx(9.25 * mmd(z, kernel="gaussian", bandwidth=0.5).item())


def test_alpha_zero_and_lambda_one_are_the_vae():
    z = normal(12)
    assert terms(InfoVAE(alpha=0, lambda_mmd=1), z) == {"kl": terms(VAE(), z)["kl"], "mmd": 0}


def test_alpha_one_takes_the_kl_term_away_and_may_be_reached_by_steps():
    z = normal(12)
    moving = InfoVAE(alpha=Schedule(0, 1, 10))
    assert terms(moving, z, 0)["kl"] == terms(VAE(), z)["kl"]
    assert terms(moving, z, 10) == terms(InfoVAE(), z)
    assert terms(InfoVAE(), z)["kl"] == 0


def test_codes_far_away_give_finite_numbers():
    for kernel in KERNELS:
        z = (normal(4) * 1e4).requires_grad_()
        (gradient,) = torch.autograd.grad(mmd(z, kernel=kernel), z)
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"kernel": "gausian"}, "did you mean 'gaussian'"),
        ({"bandwidth": 0.0}, "bandwidth must be positive"),
        ({"alpha": 1.5}, "alpha must be at most 1"),
        ({"alpha": float("nan")}, "alpha must be at most 1"),
        ({"alpha": Schedule(0, 2, 5)}, "alpha must be at most 1"),
        ({"lambda_mmd": -1.0}, "lambda_mmd must be"),
        ({"alpha": 0.0, "lambda_mmd": 0.5}, "must be at least 1"),
    ],
)
def test_bad_settings_are_refused(bad, message):
    with pytest.raises(UsageError, match=message):
        InfoVAE(**bad)
