"""Groups of 2, 3 and 5 images: averages by quadrature and loops, the adaptive rule, and many images."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

import unweave
from unweave.data import Table
from unweave.errors import UsageError
from unweave.methods import GVAE, MLVAE, AdaGVAE, AdaMLVAE, Batch
from unweave.nets import Gaussian

LATENTS, N = 4, 3
SIZES = [2, 3, 5]
AVERAGING = [(GVAE, AdaGVAE), (MLVAE, AdaMLVAE)]


def posteriors(size: int, seed: int = 0) -> Gaussian:
    mean, log_variance = torch.randn(2, size * N, LATENTS, generator=torch.Generator().manual_seed(seed)).double()
    return Gaussian(mean, log_variance)


def average(kind: type, means: list[float], variances: list[float]) -> tuple[float, float]:
    """The moments of the average: a mean of both, or by quadrature those of the k-th root of the densities' product."""
    k = len(means)
    if kind in (GVAE, AdaGVAE):
        return sum(means) / k, sum(variances) / k
    grid = np.linspace(-40, 40, 400_001)
    log_density = np.sum([-((grid - m) ** 2) / (2 * v) for m, v in zip(means, variances, strict=True)], axis=0) / k
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    mean = float(grid @ density)
    return mean, float((grid - mean) ** 2 @ density)


def gradients(value: torch.Tensor, q: Gaussian) -> tuple[torch.Tensor, ...]:
    return torch.autograd.grad(value.sin().sum(), (q.mean, q.log_variance), retain_graph=True, materialize_grads=True)


def check(kind: type, q: Gaussian, found: Gaussian, size: int, shared: list[list[bool]]) -> None:
    """Compare with the averages, one group and latent at a time."""
    variance = q.log_variance.exp()
    for i in range(N):
        rows = [i + N * member for member in range(size)]
        for j in range(LATENTS):
            expected = average(kind, q.mean[rows, j].tolist(), variance[rows, j].tolist())
            for row in rows:
                own = (q.mean[row, j].item(), variance[row, j].item())
                moments = (found.mean[row, j].item(), found.log_variance[row, j].exp().item())
                assert moments == pytest.approx(expected if shared[i][j] else own, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("known", "guessing"), AVERAGING)
def test_where_all_images_agree_the_group_is_averaged(known, guessing, size):
    q = posteriors(size)
    factors = torch.randint(2, (size * N, 3), generator=torch.Generator().manual_seed(4))
    factors[:, 0] = torch.arange(N).repeat(size)  # the first factor is shared by all, whatever the others are
    factors[-1, 1] = factors[N - 1, 1] + 1  # one image is enough to differ
    found = known(group=size).posterior(q, Batch(torch.empty(0), size, factors), 0)
    values = factors.tolist()
    shared = [
        [len({values[i + N * m][j] for m in range(size)}) == 1 if j < 3 else True for j in range(LATENTS)]
        for i in range(N)
    ]
    assert not shared[N - 1][1]
    check(known, q, found, size, shared)


@pytest.mark.parametrize("difference", ["symmetric-kl", "kl", "absolute"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", [AdaGVAE, AdaMLVAE])
def test_the_mean_difference_of_all_pairs_decides(kind, size, difference):
    q = posteriors(size, 1)
    found = kind(group=size, eta=0.4, difference=difference).posterior(q, Batch(torch.empty(0), size), 0)
    each = [[Normal(q.mean[i, j], math.exp(q.log_variance[i, j] / 2)) for j in range(LATENTS)] for i in range(size * N)]
    shared = []
    for i in range(N):
        group = [each[i + N * member] for member in range(size)]
        deltas = []
        for j in range(LATENTS):
            pairs = list(combinations([row[j] for row in group], 2))
            there = [kl_divergence(a, b).item() for a, b in pairs]
            both = [(kl_divergence(a, b) + kl_divergence(b, a)).item() / 2 for a, b in pairs]
            apart = [abs(a.mean - b.mean).item() for a, b in pairs]
            every = {"symmetric-kl": both, "kl": there, "absolute": apart}[difference]
            deltas.append(sum(every) / len(every))
        threshold = 0.6 * min(deltas) + 0.4 * max(deltas)
        shared.append([delta < threshold for delta in deltas])
    assert any(map(any, shared))
    check(kind, q, found, size, shared)


@pytest.mark.parametrize("kind", [AdaGVAE, AdaMLVAE])
def test_with_the_number_of_changed_factors_known_that_many_latents_are_kept(kind):
    q = posteriors(3, 2)
    found = kind(group=3, changed=2, known_count=True).posterior(q, Batch(torch.empty(0), 3), 0)
    same = found.mean.view(3, N, LATENTS)
    assert ((same == same[0]).all(0).sum(1) == LATENTS - 2).all()


@pytest.mark.parametrize(
    ("kind", "variance"), [(GVAE, 0.5 * 1 + 0.5 * 9), (MLVAE, 1 / (0.5 * 1 + 0.5 / 9))], ids=["G-VAE", "ML-VAE"]
)
def test_the_average_of_very_many_images(kind, variance):
    """Of images seen well (variance 1, around 2) and badly (9, around -2), as many of either, the limit is known."""
    size, generator = 4000, torch.Generator().manual_seed(0)
    well = torch.arange(size) % 2 == 0
    spread = torch.where(well, 1.0, 9.0)
    mean = torch.where(well, 2.0, -2.0) + 0.3 * torch.randn(size, generator=generator)
    q = Gaussian(mean[:, None], spread.log()[:, None])
    found = kind(group=size).posterior(q, Batch(torch.empty(0), size, torch.zeros(size, 1, dtype=torch.long)), 0)
    centre = 0.0 if kind is GVAE else (2 - 2 / 9) / (1 + 1 / 9)
    assert found.mean[0, 0].item() == pytest.approx(centre, abs=0.02)
    assert found.log_variance[0, 0].exp().item() == pytest.approx(variance, rel=1e-4)


@pytest.mark.parametrize("kind", [GVAE, MLVAE, AdaGVAE, AdaMLVAE])
def test_pairs_are_averaged_bit_for_bit_as_before_there_were_groups(kind):
    q = Gaussian(*(part.float().requires_grad_() for part in (posteriors(2).mean, posteriors(2).log_variance)))
    a, b = q.rows(slice(0, N)), q.rows(slice(N, 2 * N))
    if kind in (GVAE, AdaGVAE):
        mean = (a.mean + b.mean) / 2
        log_variance = torch.logaddexp(a.log_variance, b.log_variance) - math.log(2)
    else:
        weight = torch.sigmoid(b.log_variance - a.log_variance)
        mean = weight * a.mean + (1 - weight) * b.mean
        log_variance = math.log(2) - torch.logaddexp(-a.log_variance, -b.log_variance)
    found = kind().average([a, b])
    for value, expected in zip(found, (mean, log_variance), strict=True):
        assert torch.equal(value, expected)
        ours, before = (gradients(part, q) for part in (value, expected))
        assert all(map(torch.equal, ours, before))


def test_a_run_draws_groups_and_learns_from_them(tmp_path):
    """After a short training on groups of four, latents 0 and 1 follow factors 0 and 1."""
    rows = np.indices((8, 8)).reshape(2, -1).T
    images = np.zeros((64, 8, 8, 1), np.uint8)
    for image, (left, top) in zip(images, rows, strict=True):
        image[:, left] += 100
        image[top, :] += 100
    world = Table(images, rows)
    run = unweave.train(
        GVAE(beta=0.1, group=4),
        data=world,
        steps=400,
        batch=16,
        net="mlp",
        width=0.1,
        latents=3,
        threads=1,
        out=tmp_path,
    )
    codes = run.encode(images)
    assert max(codes[rows[:, k] == 3, k].var() / codes[:, k].var() for k in range(2)) < 0.2
    assert run.config["method"]["group"] == 4


def test_a_group_of_one_is_none():
    with pytest.raises(UsageError, match="group must be at least 2, not 1"):
        AdaGVAE(group=1)
