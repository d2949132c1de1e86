"""Reconstruction losses against the sums written out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Laplace, Normal

from unweave.losses import LOSSES, loss_of

EVERY = [*(name for name in LOSSES if name != "gaussian"), "mse-box:radius=2", "mse-gauss:radius=5"]


@pytest.fixture
def batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(5, 3, 8, 8, generator=generator), torch.randn(5, 3, 8, 8, generator=generator)


def test_bce_is_the_bernoulli_log_likelihood(batch):
    x, logits = batch
    x = x.round()
    expected = -Bernoulli(logits=logits).log_prob(x).sum((1, 2, 3))
    torch.testing.assert_close(LOSSES["bce"].distance(x, logits), expected)


def test_mse_is_the_gaussian_log_likelihood_of_variance_one_half_up_to_a_constant(batch):
    x, mean = batch
    nats = -Normal(mean, np.sqrt(0.5)).log_prob(x).sum((1, 2, 3))
    constant = 0.5 * np.log(np.pi) * x[0].numel()
    torch.testing.assert_close(LOSSES["mse"].distance(x, mean), nats - constant)


def test_mae_is_the_laplace_log_likelihood_of_scale_one_up_to_a_constant(batch):
    x, mean = batch
    nats = -Laplace(mean, 1.0).log_prob(x).sum((1, 2, 3))
    torch.testing.assert_close(LOSSES["mae"].distance(x, mean), nats - np.log(2) * x[0].numel())


@pytest.mark.parametrize("name", EVERY)
def test_losses_sum_over_pixels_and_give_each_image_its_own(name, batch):
    x, output = batch
    loss = loss_of(name)
    one = torch.cat([loss.distance(x[i : i + 1], output[i : i + 1]) for i in range(len(x))])
    assert one.shape == (5,)
    torch.testing.assert_close(loss.distance(x, output), one)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "mae"])
def test_the_mean_of_the_output_minimises_the_loss_over_constant_outputs(name):
    """The output whose `mean` is the average pixel has zero gradient."""
    x = torch.tensor([0.0, 1.0, 1.0, 1.0]).view(4, 1, 1, 1)
    loss = loss_of(name)
    output = torch.logit(torch.tensor(0.75)) if name == "bce" else torch.tensor(0.75)
    output.requires_grad_()
    loss.distance(x, output.expand_as(x)).mean().backward()
    assert output.grad is not None
    assert abs(output.grad.item()) < 1e-6
    torch.testing.assert_close(loss.mean(output.detach()), torch.tensor(0.75))


def test_the_median_minimises_mae():
    x = torch.tensor([0.0, 0.2, 1.0]).view(3, 1, 1, 1)
    distances = [LOSSES["mae"].distance(x, torch.full_like(x, value)).mean().item() for value in (0.1, 0.2, 0.3, 0.4)]
    assert np.argmin(distances) == 1


@pytest.mark.parametrize("name", EVERY)
def test_losses_of_half_precision_outputs_are_computed_in_single(name, batch):
    x, output = batch
    half = output.bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        distance = loss_of(name).distance(x, half)
    assert distance.dtype == torch.float32
    torch.testing.assert_close(distance, loss_of(name).distance(x, half.float()))
