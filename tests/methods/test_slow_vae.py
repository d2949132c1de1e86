"""The SlowVAE: its closed form against quadrature, its limit against the β-VAE."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from unweave.errors import UsageError
from unweave.methods import Batch, BetaVAE
from unweave.methods.slow_vae import SlowVAE, mean_magnitude, transition_kl
from unweave.nets import Gaussian, Net


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def laplace_kl(mean: float, deviation: float, centre: float, rate: float) -> float:
    """KL of a Gaussian from a Laplace density around a centre, by the trapezoid rule."""
    z = np.linspace(mean - 10 * deviation, mean + 10 * deviation, 20_001)
    ratio = stats.norm.logpdf(z, mean, deviation) - stats.laplace.logpdf(z, centre, 1 / rate)
    return float(np.trapezoid(stats.norm.pdf(z, mean, deviation) * ratio, z))


def expected_kl(a: tuple[float, float], b: tuple[float, float], rate: float) -> float:
    """E over z ~ N(a) of KL(N(b) || Laplace(z)), by the trapezoid rule again."""
    z = np.linspace(a[0] - 10 * a[1], a[0] + 10 * a[1], 301)
    values = [laplace_kl(*b, float(point), rate) for point in z]
    return float(np.trapezoid(stats.norm.pdf(z, *a) * values, z))


@pytest.mark.parametrize(
    ("a", "b", "rate"), [((0.0, 1.0), (0.5, 0.3), 6.0), ((-1.0, 0.4), (2.0, 0.7), 1.0), ((0.2, 0.5), (0.2, 0.5), 3.0)]
)
def test_the_transition_is_both_expected_divergences(a, b, rate):
    first, second = (
        Gaussian(torch.tensor([[mean]]).double(), torch.tensor([[2 * math.log(deviation)]]).double())
        for mean, deviation in (a, b)
    )
    slowly = (expected_kl(a, b, rate) + expected_kl(b, a, rate)) / 2
    assert transition_kl(first, second, rate).item() == pytest.approx(slowly, abs=1e-5)
    torch.testing.assert_close(transition_kl(first, second, rate), transition_kl(second, first, rate))


def test_a_sure_first_code_gives_the_plain_divergence():
    # Its other direction is then infinite, so the parts are compared.
    mean, log_variance = torch.tensor([0.7, -2.0, 0.0]).double(), torch.tensor([-1.0, 0.3, 0.0]).double()
    magnitude = mean_magnitude(mean, log_variance)
    for m, v, value in zip(mean.tolist(), log_variance.tolist(), magnitude.tolist(), strict=True):
        assert value == pytest.approx(stats.foldnorm(abs(m) / math.exp(v / 2), scale=math.exp(v / 2)).mean())
        entropy = stats.norm(0, math.exp(v / 2)).entropy()
        assert laplace_kl(m, math.exp(v / 2), 0.0, 6.0) == pytest.approx(-entropy - math.log(3) + 6 * value, abs=1e-6)


@pytest.mark.parametrize("mean", [0.0, 1e-12, 0.001, 0.5])
@pytest.mark.parametrize("log_variance", [-92.0, -134.0, -180.0])
def test_a_variance_whose_inverse_overflows_gives_no_nan(mean: float, log_variance: float):
    m, v = torch.tensor([mean], requires_grad=True), torch.tensor([log_variance], requires_grad=True)
    magnitude = mean_magnitude(m, v)
    magnitude.sum().backward()
    assert m.grad is not None
    assert v.grad is not None
    assert magnitude.item() == pytest.approx(m.item(), abs=1e-17)
    assert m.grad.item() == pytest.approx(float(mean > 0))
    assert v.grad.item() == pytest.approx(0, abs=1e-17)


def test_terms_and_the_beta_vae_as_a_limit():
    model = Net("mlp", latents=5, width=0.02).build((32, 32, 3), seeded(0))
    batch = Batch(torch.rand(6, 3, 32, 32, generator=seeded(1)), 2)

    def terms(method):
        return method.terms(model, batch, *method.infer(model, batch, 0, seeded(2)), 0)

    plain, slow = terms(BetaVAE(beta=2, loss="mse")), terms(SlowVAE(beta=4, gamma=0, loss="mse"))
    assert plain["reconstruction"] == slow["reconstruction"]
    torch.testing.assert_close(plain["kl"], slow["kl"])
    assert slow["transition"] == 0

    full = terms(SlowVAE(gamma=10, rate=2, loss="mse"))
    q = model.encode(batch.x)
    assert isinstance(q, Gaussian)
    a, b = Gaussian(q.mean[:3], q.log_variance[:3]), Gaussian(q.mean[3:], q.log_variance[3:])
    torch.testing.assert_close(full["transition"], 5 * transition_kl(a, b, 2).sum() / 3)
    torch.testing.assert_close(full["kl"], q.kl().sum() / 12)


def test_the_authors_count_the_cross_entropy_twice():
    """Their code: gamma ((cross-entropy there + cross-entropy back) - entropy), a mean over pairs and over images."""
    model = Net("mlp", latents=5, width=0.02).build((32, 32, 3), seeded(0))
    batch = Batch(torch.rand(6, 3, 32, 32, generator=seeded(1)), 2)
    method = SlowVAE(gamma=10, rate=2, double_cross_entropy=True, loss="mse")
    q, z = method.infer(model, batch, 0, seeded(2))
    assert isinstance(q, Gaussian)
    mean, deviation = q.mean.detach().numpy(), (q.log_variance / 2).exp().detach().numpy()
    entropy = stats.norm(0, deviation).entropy().sum(1).mean()
    total = np.sqrt(deviation[:3] ** 2 + deviation[3:] ** 2)
    magnitude = stats.foldnorm(np.abs(mean[:3] - mean[3:]) / total, scale=total).mean()
    crossed = (2 * magnitude - np.log(2 / 2)).sum(1).mean()
    found = method.penalty(model, q, z, 0)["transition"].item()
    assert found == pytest.approx(10 / 2 * (2 * crossed - entropy), rel=1e-5)


def test_gradients_are_finite_where_two_codes_are_the_same():
    mean, log_variance = torch.zeros(1, 2, requires_grad=True), torch.full((1, 2), -30.0, requires_grad=True)
    q = Gaussian(mean, log_variance)
    transition_kl(q, q, 6.0).sum().backward()
    for tensor in (mean, log_variance):
        assert tensor.grad is not None
        assert torch.isfinite(tensor.grad).all()


@pytest.mark.parametrize("options", [{"rate": 0}, {"rate": -1}, {"gamma": -1}, {"beta": float("inf")}, {"changed": -1}])
def test_wrong_settings(options):
    with pytest.raises(UsageError, match="must"):
        SlowVAE(**options)
