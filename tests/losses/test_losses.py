"""Reconstruction losses against the sums written out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Normal

from unweave.losses import LOSSES


@pytest.fixture
def batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(5, 3, 8, 8, generator=generator), torch.randn(5, 3, 8, 8, generator=generator)


def test_bce_is_the_bernoulli_log_likelihood(batch):
    x, logits = batch
    x = x.round()
    expected = -Bernoulli(logits=logits).log_prob(x).sum((1, 2, 3)).mean()
    torch.testing.assert_close(LOSSES["bce"].distance(x, logits), expected)


def test_mse_is_the_gaussian_log_likelihood_of_variance_one_half_up_to_a_constant(batch):
    x, mean = batch
    nats = -Normal(mean, np.sqrt(0.5)).log_prob(x).sum((1, 2, 3)).mean()
    constant = 0.5 * np.log(np.pi) * x[0].numel()
    torch.testing.assert_close(LOSSES["mse"].distance(x, mean), nats - constant)


def test_losses_sum_over_pixels_and_average_over_the_batch(batch):
    x, output = batch
    for loss in LOSSES.values():
        one = torch.stack([loss.distance(x[i : i + 1], output[i : i + 1]) for i in range(len(x))])
        torch.testing.assert_close(loss.distance(x, output), one.mean())


def test_the_mean_of_the_output_minimises_the_loss_over_constant_outputs():
    """For every loss, the output whose `mean` is the average pixel has zero gradient."""
    x = torch.tensor([0.0, 1.0, 1.0, 1.0]).view(4, 1, 1, 1)
    best = {"bce": torch.logit(torch.tensor(0.75)), "mse": torch.tensor(0.75)}
    for name, loss in LOSSES.items():
        output = best[name].clone().requires_grad_()
        loss.distance(x, output.expand_as(x)).backward()
        assert output.grad is not None
        assert abs(output.grad.item()) < 1e-6
        torch.testing.assert_close(loss.mean(output.detach()), torch.tensor(0.75))
