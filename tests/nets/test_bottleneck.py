"""The Gaussian posterior against torch's distributions and closed forms."""

from __future__ import annotations

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from unweave.nets import Gaussian


@pytest.fixture
def posterior() -> Gaussian:
    generator = torch.Generator().manual_seed(0)
    return Gaussian(torch.randn(50, 4, generator=generator), torch.randn(50, 4, generator=generator))


def test_kl_is_that_of_the_two_normals(posterior):
    q = Normal(posterior.mean, (0.5 * posterior.log_variance).exp())
    torch.testing.assert_close(posterior.kl(), kl_divergence(q, Normal(0.0, 1.0)))


def test_kl_of_the_prior_is_zero():
    assert not Gaussian(torch.zeros(3, 2), torch.zeros(3, 2)).kl().any()


def test_samples_have_the_posteriors_moments():
    n = 200_000
    q = Gaussian(torch.tensor([[1.0, -2.0]]).expand(n, 2), torch.tensor([[0.0, 1.0]]).expand(n, 2))
    z = q.sample(torch.Generator().manual_seed(0))
    torch.testing.assert_close(z.mean(0), torch.tensor([1.0, -2.0]), atol=0.02, rtol=0)
    torch.testing.assert_close(z.var(0), torch.tensor([1.0, 2.718281828]), atol=0.03, rtol=0)
    assert torch.equal(z, q.sample(torch.Generator().manual_seed(0)))


def test_samples_carry_gradients(posterior):
    mean = posterior.mean.clone().requires_grad_()
    Gaussian(mean, posterior.log_variance).sample(torch.Generator()).sum().backward()
    assert mean.grad is not None
    assert (mean.grad == 1).all()


def test_equal_posteriors_have_no_divergence_however_small_their_variance():
    posterior = Gaussian(torch.zeros(1, 3), torch.tensor([[-95.0, -300.0, 2.0]]))
    assert posterior.divergence(posterior).tolist() == [[0, 0, 0]]
