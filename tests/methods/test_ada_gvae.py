"""Ada-GVAE and Ada-ML-VAE: what is averaged, and how, against loops over Gaussians."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

from unweave.data import Table
from unweave.errors import UsageError
from unweave.methods import Batch, BetaVAE, Method, Schedule
from unweave.methods.ada_gvae import AdaGVAE, AdaMLVAE, AdaptiveVAE
from unweave.methods.adaptive import shared
from unweave.nets import Gaussian, Net

KINDS = [AdaGVAE, AdaMLVAE]
LATENTS = 6
NOTHING = Batch(torch.empty(0), 2)
"""A batch for methods that look at posteriors alone."""


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def q() -> Gaussian:
    mean, log_variance = torch.randn(2, 8, LATENTS, generator=seeded(0), dtype=torch.float64)
    return Gaussian(mean, log_variance)


def averaged_slowly(kind: type[AdaptiveVAE], q: Gaussian, eta: float, difference: str) -> list[list[Normal]]:
    """The posteriors of pairs, one number at a time."""
    each = [
        [Normal(m, torch.exp(v / 2)) for m, v in zip(mean, log_variance, strict=True)]
        for mean, log_variance in zip(q.mean, q.log_variance, strict=True)
    ]
    n = len(each) // 2
    for i in range(n):
        there = [kl_divergence(a, b).item() for a, b in zip(each[i], each[n + i], strict=True)]
        back = [kl_divergence(b, a).item() for a, b in zip(each[i], each[n + i], strict=True)]
        apart = [abs(a.mean - b.mean).item() for a, b in zip(each[i], each[n + i], strict=True)]
        both = [(x + y) / 2 for x, y in zip(there, back, strict=True)]
        delta = {"symmetric-kl": both, "kl": there, "absolute": apart}[difference]
        threshold = (1 - eta) * min(delta) + eta * max(delta)
        for j in range(LATENTS):
            if delta[j] < threshold:
                each[i][j] = each[n + i][j] = average_of(kind, each[i][j], each[n + i][j])
    return each


def average_of(kind: type[AdaptiveVAE], a: Normal, b: Normal) -> Normal:
    if kind is AdaGVAE:
        return Normal((a.mean + b.mean) / 2, ((a.variance + b.variance) / 2).sqrt())
    variance = 2 * a.variance * b.variance / (a.variance + b.variance)
    return Normal((a.mean / a.variance + b.mean / b.variance) * variance / 2, variance.sqrt())


@pytest.mark.parametrize("difference", ["symmetric-kl", "kl", "absolute"])
@pytest.mark.parametrize("eta", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("kind", KINDS)
def test_shared_latents_are_averaged(kind, eta, difference, q):
    result = kind(eta=eta, difference=difference).posterior(q, NOTHING, 0)
    slowly = averaged_slowly(kind, q, eta, difference)
    mean = torch.tensor([[latent.mean for latent in row] for row in slowly], dtype=torch.float64)
    variance = torch.tensor([[latent.variance for latent in row] for row in slowly], dtype=torch.float64)
    torch.testing.assert_close(result.mean, mean)
    torch.testing.assert_close(result.log_variance.exp(), variance)
    same = result.mean[:4] == result.mean[4:]
    assert same.any()
    assert (same.sum(1) < LATENTS).all(), "the latent that differs most is never shared"


@pytest.mark.parametrize("count", [1, 3, LATENTS])
@pytest.mark.parametrize("kind", KINDS)
def test_with_the_number_of_changed_factors_known_that_many_latents_are_kept(kind, count, q):
    result = kind(changed=count, known_count=True, eta=0.1).posterior(q, NOTHING, 0)
    for row in range(4):
        a, b = (Normal(q.mean[i], torch.exp(q.log_variance[i] / 2)) for i in (row, row + 4))
        delta = kl_divergence(a, b) + kl_divergence(b, a)
        kept = sorted(delta.argsort()[LATENTS - count :].tolist())
        assert (result.mean[row] != result.mean[row + 4]).nonzero().flatten().tolist() == kept
        assert torch.equal(result.mean[row, kept], q.mean[row, kept])


def test_averages_by_hand():
    q = Gaussian(torch.tensor([[1.0, 0.0], [3.0, 9.0]]), torch.tensor([[1.0, 1.0], [3.0, 1.0]]).log())
    for kind, mean, variance in ((AdaGVAE, 2.0, 2.0), (AdaMLVAE, 1.5, 1.5)):
        result = kind().posterior(q, NOTHING, 0)
        torch.testing.assert_close(result.mean, torch.tensor([[mean, 0.0], [mean, 9.0]]))
        assert isinstance(result, Gaussian)
        torch.testing.assert_close(result.log_variance[:, 0], torch.full((2,), math.log(variance)))


def test_two_equal_bins_are_the_threshold_of_one_half(q):
    # disentanglement_lib puts the differences of a pair into two bins of one width, and averages the lower one.
    delta = np.array([[kl_divergence(Normal(0, 1), Normal(x, 1 + x)).item() for x in row] for row in q.mean.abs()])
    for row in delta:
        edges = np.linspace(row.min(), row.max(), 3)
        upper = np.digitize(row, edges[1:-1]) == 1
        np.testing.assert_array_equal(shared(torch.tensor(row[None]), 0.5)[0].numpy(), ~upper)


@pytest.mark.parametrize("kind", KINDS)
def test_with_nothing_shared_it_is_the_beta_vae(kind):
    model = Net("mlp", latents=5, width=0.02).build((32, 32, 3), seeded(0))
    batch = Batch(torch.rand(6, 3, 32, 32, generator=seeded(1)), 2)

    def terms(method: Method) -> dict[str, torch.Tensor]:
        return method.terms(model, batch, *method.infer(model, batch, 0, seeded(2)), 0)

    plain, moving = BetaVAE(beta=3, loss="mse"), kind(beta=3, eta=Schedule(0, 0.5, 9), loss="mse")
    assert terms(plain) == terms(kind(beta=3, eta=0, loss="mse")) == terms(moving)
    later = moving.infer(model, batch, 9, seeded(2))[0]
    assert not torch.equal(later.mean, model.encode(batch.x).mean)


def test_images_that_are_the_same_share_nothing_and_nothing_breaks():
    same = Gaussian(torch.ones(4, 3), torch.zeros(4, 3))
    for kind in KINDS:
        torch.testing.assert_close(kind().posterior(same, NOTHING, 0).mean, same.mean)


def test_pairs_are_drawn_as_asked():
    grid = Table(np.zeros((24, 2, 2, 1), np.uint8), [[i, j, k] for i in range(2) for j in range(3) for k in range(4)])
    a, b = (grid.values(part) for part in AdaGVAE(changed=2).draw(grid, 200, np.random.default_rng(0)))
    assert ((a != b).sum(1) == 2).all()
    AdaGVAE(changed=3).check(grid, 10)
    with pytest.raises(UsageError, match="3 factors that vary"):
        AdaGVAE(changed=4).check(grid, 10)
    with pytest.raises(UsageError, match="not a full grid"):
        AdaMLVAE().check(Table(np.zeros((2, 2, 2, 1), np.uint8), [[0, 0], [1, 1]]), 10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": 1.5}, "eta must be between 0 and 1"),
        ({"eta": float("nan")}, "eta must be between 0 and 1"),
        ({"eta": Schedule(0.5, -0.1, 3)}, "eta must be between 0 and 1, not 0.5:-0.1@3"),
        ({"difference": "absolut"}, "did you mean 'absolute'"),
        ({"changed": 0}, "at least 1 factor"),
        ({"known_count": True}, "known_count needs `changed`, the number of factors"),
        ({"rule": "lib"}, "no rule of pairs"),
        ({"beta": -1}, "beta must be"),
    ],
)
def test_wrong_settings(options, message):
    with pytest.raises(UsageError, match=message):
        AdaGVAE(**options)
