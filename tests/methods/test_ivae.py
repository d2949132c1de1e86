"""The iVAE: its KL term is the paper's, against integrals; its prior has a row for each value of u."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import unweave
from unweave.config import Config
from unweave.data import Table, Vectors, load
from unweave.errors import UsageError
from unweave.methods import IVAE, VAE, Batch
from unweave.methods.ivae import ConditionalPrior, conditional_prior
from unweave.nets import Gaussian, Net

SHAPE = (32, 32, 3)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def built(method: IVAE) -> tuple[IVAE, Any]:
    method = replace(method.resolve(load("xysquares:size=32"), 1e-3), loss="mse")
    model = Config(method, {"name": "xysquares"}, Net("mlp", latents=3, width=0.02)).build(SHAPE, generator())
    with torch.no_grad():
        for parameter in conditional_prior(model).parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator(3)))
    return method, model


def test_the_divergence_is_the_integral_of_its_definition():
    q = Gaussian(torch.tensor([[0.3, -1.0]]), torch.tensor([[0.2, -1.5]]))
    p = Gaussian(torch.tensor([[-0.4, 0.5]]), torch.tensor([[-0.7, 0.9]]))
    z = np.linspace(-30, 30, 200_001)

    def density(mean: float, log_variance: float) -> np.ndarray:
        variance = np.exp(log_variance)
        return np.exp(-((z - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)

    for j in range(2):
        one, other = (density(float(g.mean[0, j]), float(g.log_variance[0, j])) for g in (q, p))
        there = one > 1e-300
        integral = np.trapezoid(np.where(there, one * (np.log(one + 1e-300) - np.log(other + 1e-300)), 0), z)
        assert float(q.divergence(p)[0, j]) == pytest.approx(integral, rel=1e-5)


@pytest.mark.parametrize("means", [False, True])
def test_the_terms_are_the_objective_written_out(means):
    method, model = built(IVAE(beta=0.7, auxiliary="y_R,x_G", means=means))
    space = load("xysquares:size=32").factors
    x = torch.rand(5, 3, 32, 32, generator=generator(1))
    factors = torch.from_numpy(space.from_index(np.array([3, 400, 5000, 77777, 200_000]) % len(space)))
    batch = Batch(x, factors=factors)
    q, z = method.infer(model, batch, 0, generator(2))
    assert isinstance(q, Gaussian)
    terms = method.terms(model, batch, q, z, 0)
    prior = conditional_prior(model)
    logs = prior.log_variance.detach().double().numpy()
    places = np.zeros_like(logs) if prior.mean is None else prior.mean.detach().double().numpy()
    places = places - places.mean(0)
    spread = (np.exp(logs) + places**2).mean(0)
    size = space.sizes[space.axis("x_G")]
    kl = 0.0
    assert isinstance(q, Gaussian)
    for row, code, log in zip(factors.numpy(), q.mean.tolist(), q.log_variance.tolist(), strict=True):
        u = row[space.axis("y_R")] * size + row[space.axis("x_G")]
        for j in range(3):
            variance, mean = np.exp(logs[u, j]) / spread[j], places[u, j] / np.sqrt(spread[j])
            kl += 0.5 * (np.exp(log[j]) / variance + (code[j] - mean) ** 2 / variance - 1 + np.log(variance) - log[j])
    assert terms["kl"].item() == pytest.approx(0.7 * kl / 5, rel=1e-4)
    reconstruction = (x - model.decode(z)).square().sum() / 5
    torch.testing.assert_close(terms["reconstruction"], reconstruction)
    assert set(terms) == {"reconstruction", "kl"}


def test_the_mixture_over_u_has_mean_0_and_variance_1():
    prior = ConditionalPrior([(0, 4), (2, 3)], latents=5, means=True)
    with torch.no_grad():
        for parameter in prior.parameters():
            parameter.copy_(2 * torch.randn(12, 5, generator=generator()))
    table = prior.table()
    torch.testing.assert_close(table.mean.mean(0), torch.zeros(5), atol=1e-6, rtol=0)
    torch.testing.assert_close((table.log_variance.exp() + table.mean.square()).mean(0), torch.ones(5))


def test_values_that_never_occur_have_no_part_in_the_scale():
    """u is 5, 10 or 15: after any training, the mixture over these three has variance 1."""
    u = np.repeat([5, 10, 15], 20)
    data = Vectors(np.random.default_rng(0).normal(size=(60, 4)), u[:, None], names=["u"])
    method = IVAE(means=True, loss="mse").resolve(data, 1e-3)
    assert (method.columns, method.values) == ("0:16", "5,10,15")
    assert method.resolve(data, 1e-3) == method
    model = Config(method, data.description, Net("mlp", latents=2, width=0.02)).build((4,), generator())
    prior = conditional_prior(model)
    with torch.no_grad():
        for parameter in prior.parameters():
            parameter.copy_(2 * torch.randn(3, 2, generator=generator(1)))
    p = prior(torch.from_numpy(u[:, None]))
    torch.testing.assert_close((p.log_variance.exp() + p.mean.square()).mean(0), torch.ones(2))
    torch.testing.assert_close(p.mean[::20], prior.table().mean)


def test_values_that_are_held_out_have_no_row():
    data = load("xysquares-restricted:size=32,exclude=x_R=0|y_R=1&x_R=2")
    sizes = [data.factors.sizes[data.factors.axis(name)] for name in ("y_R", "x_R")]
    method = IVAE(auxiliary="y_R, x_R,").resolve(data, 1e-3)
    assert method.auxiliary == "y_R,x_R"
    expected = [y * sizes[1] + x for y in range(sizes[0]) for x in range(1, sizes[1]) if (y, x) != (1, 2)]
    assert method.values == ",".join(map(str, expected))


def test_what_is_read_from_the_data_cannot_be_given():
    with pytest.raises(UsageError, match="ivae takes columns from the data set"):
        IVAE(columns="7:9").resolve(load("xysquares:size=32"), 1e-3)
    with pytest.raises(UsageError, match="ivae takes values from the data set"):
        IVAE(values="1,2").resolve(load("xysquares:size=32"), 1e-3)


def test_one_value_of_u_is_the_vae():
    image = np.zeros((40, 16, 16, 1), np.uint8)
    image[:, :, :, 0] = np.arange(40)[:, None, None]
    data = Table(image, np.stack([np.zeros(40, int), np.arange(40)], 1), names=["one", "other"], sizes=[1, 40])
    method = IVAE(auxiliary="one", loss="mse").resolve(data, 1e-3)
    assert (method.auxiliary, method.columns) == ("one", "0:1")
    model = Config(method, {"name": "own"}, Net("mlp", latents=3, width=0.02)).build((16, 16, 1), generator())
    x = torch.rand(6, 1, 16, 16, generator=generator(1))
    batch = Batch(x, factors=torch.zeros(6, 2, dtype=torch.long))
    with torch.no_grad():
        conditional_prior(model).log_variance.fill_(1.3)  # the scale is fixed, whatever is learnt
    q, z = method.infer(model, batch, 0, generator(2))
    ours, theirs = method.terms(model, batch, q, z, 0), VAE(loss="mse").terms(model, batch, q, z, 0)
    torch.testing.assert_close(ours, theirs)


def test_u_is_read_off_the_data_set_and_recorded(tmp_path):
    data = load("xysquares:size=32")
    method = IVAE().resolve(data, 1e-3)
    assert method.auxiliary == data.factors.names[0]
    assert method.columns == f"0:{data.factors.sizes[0]}"
    assert method.resolve(data, 1e-3) == method
    run = unweave.train(
        IVAE(auxiliary="x_B"), data=data, out=tmp_path / "run", steps=3, batch=4, net="mlp", width=0.02, latents=3
    )
    again = unweave.Run.open(run.path)
    assert again.settings.method == run.settings.method
    prior = conditional_prior(again.model)
    assert prior.log_variance.shape == (data.factors.sizes[data.factors.axis("x_B")], 3)


def test_what_cannot_be_u_is_refused():
    images = np.random.default_rng(0).integers(0, 255, (30, 16, 16, 1), dtype=np.uint8)
    real = Table(images, np.random.default_rng(1).normal(size=(30, 1)), names=["angle"])
    with pytest.raises(UsageError, match="needs factors, but"):
        IVAE().resolve(Table(images), 1e-3)
    with pytest.raises(UsageError, match="'angle' is real-valued: bin it"):
        IVAE(auxiliary="angle").resolve(real, 1e-3)
    with pytest.raises(UsageError, match="a factor with classes"):
        IVAE().resolve(real, 1e-3)
    with pytest.raises(UsageError, match="no factor is called 'colour'"):
        IVAE(auxiliary="colour").resolve(load("xysquares:size=32"), 1e-3)
    with pytest.raises(UsageError, match="use fewer factors"):
        IVAE(auxiliary=",".join(load("xysquares").factors.names)).resolve(load("xysquares"), 1e-3)
    with pytest.raises(UsageError, match="depends on the data set"):
        IVAE().companion(3)
