"""FactorVAE: the discriminator's log-odds are the total correlation; the encoder alone is moved by it."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

import unweave
from unweave.config import Config, Training
from unweave.errors import UsageError
from unweave.methods.base import Batch
from unweave.methods.factor_vae import FactorVAE
from unweave.methods.vae import VAE
from unweave.nets import Gaussian, Model, Net
from unweave.penalties import shuffle_latents as shuffle
from unweave.training.resolve import resolved
from unweave.training.state import TrainingState

SMALL = FactorVAE(gamma=5, adversary_units=16)


def model_for(method: FactorVAE, latents: int = 4) -> Model:
    net = Net("mlp", latents=latents, width=0.02)
    return net.build((32, 32, 1), torch.Generator().manual_seed(0), adversary=method.adversary)


def discriminator(model: Model) -> nn.Module:
    assert model.adversary is not None
    return model.adversary


def codes(seed: int = 1, n: int = 6) -> torch.Tensor:
    return torch.randn(n, 4, generator=torch.Generator().manual_seed(seed))


def test_the_adversary_is_the_papers():
    layers = list(FactorVAE().adversary(10).children())
    linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
    sizes = [(layer.in_features, layer.out_features) for layer in linear]
    assert sizes == [(10, 1000), *[(1000, 1000)] * 5, (1000, 2)]
    slopes = [layer.negative_slope for layer in layers if isinstance(layer, nn.LeakyReLU)]
    assert slopes == [0.2] * 6


def test_shuffled_codes_keep_their_margins_and_mix_images():
    z = torch.arange(6.0)[:, None] + torch.tensor([0.0, 100, 200, 300])  # the image, and 100 times the latent
    mixed = shuffle(z)
    assert torch.equal(mixed.sort(0).values, z)
    images = mixed % 100
    assert all(len(set(row)) == 4 for row in images.tolist())


def test_a_batch_smaller_than_the_code_is_shuffled_as_far_as_it_goes():
    z = torch.arange(2.0)[:, None].expand(2, 4)
    assert shuffle(z).tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]


def test_the_adversarys_loss_is_the_cross_entropy_of_the_two_kinds():
    model, z, other = model_for(SMALL), codes(1), codes(2)
    probability = discriminator(model)(z).softmax(1)[:, 0]
    of_shuffled = discriminator(model)(shuffle(other)).softmax(1)[:, 1]
    expected = -0.5 * probability.log().mean() - 0.5 * of_shuffled.log().mean()
    torch.testing.assert_close(SMALL.adversary_loss(model, z, lambda: other), expected)


def test_which_batch_is_shuffled_is_an_option():
    model, z = model_for(SMALL), codes(1)
    same = FactorVAE(adversary_units=16, same_batch=True)

    def asked() -> torch.Tensor:
        raise AssertionError("the same batch needs no other")

    assert same.adversary_loss(model, z, asked) == SMALL.adversary_loss(model, z, lambda: z)
    assert SMALL.adversary_loss(model, z, lambda: codes(2)) != SMALL.adversary_loss(model, z, lambda: codes(3))


def test_the_penalty_is_the_mean_of_the_log_odds():
    model, z = model_for(SMALL), codes()
    q = Gaussian(z, torch.zeros_like(z))
    terms = SMALL.penalty(model, q, z, 0)
    odds = discriminator(model)(z).softmax(1)
    expected = 5 * (odds[:, 0] / odds[:, 1]).log().mean()
    torch.testing.assert_close(terms["total_correlation"], expected, rtol=1e-4, atol=1e-6)
    assert terms["kl"] == VAE().penalty(model, q, z, 0)["kl"]


def test_the_model_is_moved_by_the_penalty_and_its_adversary_is_not():
    model = model_for(SMALL)
    x = torch.rand(6, 1, 32, 32, generator=torch.Generator().manual_seed(3))
    q, z = SMALL.infer(model, Batch(x), 0, torch.Generator().manual_seed(4))
    SMALL.penalty(model, q, z, 0)["total_correlation"].backward()
    assert all(weight.grad is None for weight in discriminator(model).parameters())
    gradient = model.get_parameter("bottleneck.mean.weight").grad
    assert gradient is not None
    assert gradient.abs().sum() > 0


def test_a_trained_adversary_knows_the_total_correlation_of_a_gaussian():
    method = FactorVAE(gamma=1, adversary_units=48)
    model = model_for(method, latents=2)
    generator = torch.Generator().manual_seed(5)
    optimiser = torch.optim.Adam(discriminator(model).parameters(), lr=2e-3, betas=(0.5, 0.9))
    correlation = 0.8

    def draw(n: int) -> torch.Tensor:
        a, b = torch.randn(2, n, generator=generator)
        return torch.stack([a, correlation * a + math.sqrt(1 - correlation**2) * b], 1)

    for _ in range(400):
        optimiser.zero_grad()
        method.adversary_loss(model, draw(256), lambda: draw(256)).backward()
        optimiser.step()
    z = draw(4000)
    found = method.penalty(model, Gaussian(z, torch.zeros_like(z)), z, 0)["total_correlation"].item()
    assert found == pytest.approx(-0.5 * math.log(1 - correlation**2), abs=0.1)


def test_a_model_without_an_adversary_is_a_mistake_of_the_code():
    model, z = Net("mlp", latents=4, width=0.02).build((32, 32, 1), torch.Generator().manual_seed(0)), codes()
    with pytest.raises(ValueError, match="without an adversary"):
        SMALL.penalty(model, Gaussian(z, z), z, 0)


def test_bad_settings_are_refused():
    with pytest.raises(UsageError, match="gamma must be"):
        FactorVAE(gamma=-1)
    with pytest.raises(UsageError, match="adversary_units must be at least 1"):
        FactorVAE(adversary_units=0)
    with pytest.raises(UsageError, match="adversary_lr must be positive"):
        FactorVAE(adversary_lr=0)


def adversary_rate(method: FactorVAE, lr: float) -> float:
    data = unweave.load("xysquares:size=32")
    training = Training(lr=lr, batch=4)
    config = resolved(Config(method, data.description, Net("mlp", 4, 0.02), training), data)
    adversary = TrainingState.initial(config, data, torch.device("cpu"), 1).adversary
    assert adversary is not None
    return adversary.param_groups[0]["lr"]


def test_the_adversary_learns_at_the_run_s_rate_unless_it_is_given_its_own():
    assert adversary_rate(SMALL, 1e-3) == 1e-3
    assert adversary_rate(SMALL, 2e-5) == 2e-5
    assert adversary_rate(FactorVAE(adversary_units=16, adversary_lr=3e-4), 1e-3) == 3e-4


def test_a_record_from_before_the_rate_was_a_field_keeps_its_rate_and_identity():
    data = {"name": "xysquares", "spacing": 8, "size": 64}
    config = Config(FactorVAE(loss="mse", adversary_lr=1e-4), data, Net("conv"))
    assert "adversary_lr" not in config.to_json()["method"]
    assert config.id == "ef69470ba3a17e47"
    assert Config.from_json(config.to_json()) == config
    other = Config(FactorVAE(loss="mse", adversary_lr=1e-3), data, Net("conv"))
    assert Config.from_json(other.to_json()) == other
    assert other.id != config.id
