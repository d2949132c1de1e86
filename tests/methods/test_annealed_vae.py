"""AnnealedVAE: the KL term is drawn to a capacity that grows with the steps."""

from __future__ import annotations

import pytest
import torch

from unweave.errors import UsageError
from unweave.methods.annealed_vae import AnnealedVAE
from unweave.methods.base import Method
from unweave.methods.beta_vae import BetaVAE
from unweave.nets import Gaussian, Net
from unweave.schedules import Schedule, in_steps

MODEL = Net("mlp", latents=3, width=0.02).build((32, 32, 1), torch.Generator().manual_seed(0))


@pytest.fixture
def q() -> Gaussian:
    generator = torch.Generator().manual_seed(1)
    return Gaussian(torch.randn(6, 3, generator=generator), torch.randn(6, 3, generator=generator))


def penalty(method: Method, q: Gaussian, step: int = 0) -> float:
    (value,) = method.penalty(MODEL, q, q.mean, step).values()
    return value.item()


def mean_kl(q: Gaussian) -> float:
    prior = torch.distributions.Normal(0.0, 1.0)
    posterior = torch.distributions.Normal(q.mean, (q.log_variance / 2).exp())
    return torch.distributions.kl_divergence(posterior, prior).sum().item() / len(q.mean)


def test_at_its_capacity_the_kl_term_costs_nothing(q):
    assert penalty(AnnealedVAE(capacity=mean_kl(q)), q) == pytest.approx(0, abs=1e-2)


@pytest.mark.parametrize("distance", [-0.5, 0.5])
def test_above_and_below_the_capacity_the_distance_is_paid(q, distance):
    method = AnnealedVAE(gamma=7, capacity=mean_kl(q) + distance)
    assert penalty(method, q) == pytest.approx(7 * 0.5, rel=1e-4)


def test_without_capacity_it_is_the_beta_vae(q):
    assert penalty(AnnealedVAE(gamma=4, capacity=0), q) == penalty(BetaVAE(beta=4), q)


def test_the_capacity_grows_from_zero_to_25_nats_in_a_third_of_the_run():
    prior = Gaussian(torch.zeros(2, 3), torch.zeros(2, 3))  # without divergence, so that all that is paid is C
    costs = [penalty(in_steps(AnnealedVAE(), 300_000), prior, step) for step in (0, 20_000, 100_000, 300_000)]
    assert costs == pytest.approx([0, 5_000, 25_000, 25_000])


def test_an_image_above_makes_up_for_one_below():
    q = Gaussian(torch.tensor([[0.0], [2.0]]), torch.zeros(2, 1))  # divergences 0 and 2
    assert penalty(AnnealedVAE(capacity=1), q) == 0


def test_the_kl_term_itself_is_watched(q):
    diagnostics = AnnealedVAE(gamma=7, capacity=3).diagnostics(MODEL, q, q.mean, 0)
    assert {name: value.item() for name, value in diagnostics.items()} == {"kl": pytest.approx(mean_kl(q))}


@pytest.mark.parametrize("bad", [{"gamma": -1}, {"capacity": -1}, {"capacity": Schedule(-1, 5, 10)}])
def test_negative_settings_are_refused(bad):
    with pytest.raises(UsageError, match="must be a number that is not negative"):
        AnnealedVAE(**bad)
