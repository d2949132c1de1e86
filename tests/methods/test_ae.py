"""The autoencoder: a point for each image, and reconstruction alone."""

from __future__ import annotations

import pytest
import torch

from unweave.methods.ae import AE
from unweave.methods.base import Batch
from unweave.methods.beta_vae import BetaVAE
from unweave.nets import Net


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def model():
    return Net("mlp", latents=4, width=0.02).build((32, 32, 1), generator(), AE.bottleneck)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(5, 1, 32, 32, generator=generator(1))


def test_the_objective_is_the_squared_error_of_the_decoded_points(model, x):
    method, batch = AE(loss="mse"), Batch(x)
    terms = method.terms(model, batch, *method.infer(model, batch, 0, generator()), 0)
    decoded = model.decoder(model.bottleneck.mean(model.encoder(x)))
    assert set(terms) == {"reconstruction"}
    torch.testing.assert_close(terms["reconstruction"], (x - decoded).square().sum() / 5)


def test_noise_plays_no_part(model, x):
    method, batch = AE(loss="mse"), Batch(x)
    (_, one), (_, two) = (method.infer(model, batch, 0, generator(seed)) for seed in (1, 2))
    assert torch.equal(one, two)


def test_a_vae_without_its_kl_term_and_its_noise_is_an_autoencoder(model, x):
    point = model.encode(x)
    beta = BetaVAE(beta=0, loss="mse").terms(model, Batch(x), point, point.mean, 0)
    ours = AE(loss="mse").terms(model, Batch(x), point, point.mean, 0)
    assert beta["kl"] == 0
    assert beta["reconstruction"] == ours["reconstruction"]
