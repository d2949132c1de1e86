"""DIP-VAE: the covariance of codes, against numpy's and against samples."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unweave.errors import UsageError
from unweave.methods.dip_vae import DIPVAE
from unweave.methods.vae import VAE
from unweave.nets import Gaussian, Net

MODEL = Net("mlp", latents=4, width=0.02).build((32, 32, 1), torch.Generator().manual_seed(0))


@pytest.fixture
def q() -> Gaussian:
    generator = torch.Generator().manual_seed(1)
    mean = torch.randn(50, 4, generator=generator) @ torch.randn(4, 4, generator=generator)
    return Gaussian(mean, torch.randn(50, 4, generator=generator) - 1)


def terms(method, q: Gaussian) -> dict[str, float]:
    return {name: value.item() for name, value in method.penalty(MODEL, q, q.mean, 0).items()}


def written_out(covariance: np.ndarray) -> tuple[float, float]:
    off = sum(covariance[i, j] ** 2 for i in range(4) for j in range(4) if i != j)
    return off, sum((covariance[i, i] - 1) ** 2 for i in range(4))


def test_the_first_kind_takes_the_covariance_of_the_means(q):
    off, diagonal = written_out(np.cov(q.mean.numpy().astype(float), rowvar=False, bias=True))
    found = terms(DIPVAE(lambda_od=2, lambda_d=3), q)
    assert found["off_diagonal"] == pytest.approx(2 * off, rel=1e-4)
    assert found["diagonal"] == pytest.approx(3 * diagonal, rel=1e-4)


def test_the_second_kind_takes_the_covariance_of_samples(q):
    generator = torch.Generator().manual_seed(2)
    many = Gaussian(q.mean.repeat(20_000, 1), q.log_variance.repeat(20_000, 1))
    off, diagonal = written_out(np.cov(many.sample(generator).numpy(), rowvar=False))
    found = terms(DIPVAE(kind="II", lambda_od=1, lambda_d=1), q)
    assert found["off_diagonal"] == pytest.approx(off, rel=2e-2)
    assert found["diagonal"] == pytest.approx(diagonal, rel=2e-2)


def test_points_have_the_same_covariance_of_both_kinds(q):
    points = Gaussian(q.mean, torch.full_like(q.mean, -60.0))
    assert terms(DIPVAE(kind="I"), points) == pytest.approx(terms(DIPVAE(kind="II"), points))


def test_codes_that_are_white_cost_nothing():
    corners = torch.tensor([[a, b] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])
    found = terms(DIPVAE(), Gaussian(corners, torch.zeros(4, 2)))
    assert (found["off_diagonal"], found["diagonal"]) == (0, 0)


def test_without_weights_it_is_the_vae(q):
    found = terms(DIPVAE(lambda_od=0, lambda_d=0), q)
    assert found == {"kl": terms(VAE(), q)["kl"], "off_diagonal": 0, "diagonal": 0}


def test_half_precision_elsewhere_does_not_blur_the_covariance(q):
    with torch.autocast("cpu", torch.bfloat16):
        blurred = terms(DIPVAE(), q)
    assert blurred == terms(DIPVAE(), q)


def test_bad_settings_are_refused():
    with pytest.raises(UsageError, match="kind of DIP-VAE"):
        DIPVAE(kind="III")
    with pytest.raises(UsageError, match="lambda_od must be"):
        DIPVAE(lambda_od=-1)
    with pytest.raises(UsageError, match="lambda_d must be"):
        DIPVAE(lambda_d=float("nan"))
