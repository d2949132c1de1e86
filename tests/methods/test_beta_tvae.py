"""The β-TVAE and the triplet autoencoder: the triplet loss against a loop, and where its gradient goes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from unweave.data import Table
from unweave.errors import UsageError
from unweave.methods import Batch, BetaVAE, Method, Schedule
from unweave.methods.beta_tvae import BetaTVAE
from unweave.methods.tae import TAE
from unweave.nets import Model, Net

SHAPE = (32, 32, 3)
PIXELS = 32 * 32 * 3


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def model_of(method: Method) -> Model:
    return Net("mlp", latents=5, width=0.02).build(SHAPE, seeded(0), method.bottleneck)


@pytest.fixture
def batch() -> Batch:
    return Batch(torch.rand(12, 3, 32, 32, generator=seeded(1)), 3)


def terms_of(method: Method, model: Model, batch: Batch, step: int = 0) -> dict[str, torch.Tensor]:
    return method.terms(model, batch, *method.infer(model, batch, step, seeded(2)), step)


def triplet_slowly(codes: list[list[float]], p: int, soft: bool, margin: float) -> float:
    """Equations 5.1 and 5.2 of Michlo (2022), one triplet at a time."""
    n, losses = len(codes) // 3, []
    for i in range(n):
        anchor, positive, negative = codes[i], codes[n + i], codes[2 * n + i]
        near, far = (
            sum(abs(x - y) ** p for x, y in zip(anchor, other, strict=True)) ** (1 / p)
            for other in (positive, negative)
        )
        losses.append(math.log(1 + math.exp(near - far)) if soft else max(0.0, margin + near - far))
    return sum(losses) / n


@pytest.mark.parametrize("kind", [BetaTVAE, TAE])
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("soft", [False, True])
def test_the_triplet_term(kind, norm, soft, batch):
    method = kind(scale=0.5, margin=0.1, soft_margin=soft, norm=norm, loss="mse")
    model = model_of(method)
    codes = model.encode(batch.x).mean
    slowly = triplet_slowly(codes.tolist(), int(norm[1]), soft, margin=0.1)
    assert slowly > 0
    assert terms_of(method, model, batch)["triplet"].item() == pytest.approx(0.5 * PIXELS * slowly, rel=1e-4)
    plain = kind(scale=0.5, normalise_scale=False, margin=0.1, soft_margin=soft, norm=norm, loss="mse")
    assert terms_of(plain, model, batch)["triplet"].item() == pytest.approx(0.5 * slowly, rel=1e-4)


def test_the_other_terms_are_those_of_the_beta_vae(batch):
    method = BetaTVAE(beta=3, loss="mse")
    model = model_of(method)
    terms, plain = terms_of(method, model, batch), terms_of(BetaVAE(beta=3, loss="mse"), model, batch)
    assert {name: terms[name] for name in plain} == plain
    assert set(terms) == {"reconstruction", "kl", "triplet"}


def test_the_autoencoder_has_no_other_penalty(batch):
    method = TAE(loss="mse")
    model = model_of(method)
    terms = terms_of(method, model, batch)
    error = (model.decode(model.encode(batch.x).mean) - batch.x).square().sum() / 12
    torch.testing.assert_close(terms["reconstruction"], error)
    assert set(terms) == {"reconstruction", "triplet"}


@pytest.mark.parametrize("kind", [BetaTVAE, TAE])
def test_without_the_decoders_gradient_reconstruction_trains_the_decoder_alone(kind, batch):
    for through in (True, False):
        method = kind(decoder_gradient=through, loss="mse")
        model = model_of(method)
        terms = terms_of(method, model, batch)
        terms["reconstruction"].backward(retain_graph=True)
        assert all(weight.grad is not None for weight in model.decoder.parameters())
        assert all((weight.grad is not None) == through for weight in model.encoder.parameters())
        terms["triplet"].backward()
        assert all(weight.grad is not None for weight in model.encoder.parameters())


def test_a_scheduled_scale_and_margin(batch):
    method = TAE(scale=Schedule(0, 2, 10), margin=Schedule(0, 4, 10), loss="mse")
    model = model_of(method)
    still = TAE(scale=1, margin=2, loss="mse")
    assert terms_of(method, model, batch, step=5) == terms_of(still, model, batch)
    assert terms_of(method, model, batch, step=0)["triplet"] == 0


def test_triplets_are_drawn_as_asked():
    factors = [[i, j] for i in range(3) for j in range(9)][::2]
    data = Table(np.zeros((len(factors), 2, 2, 1), np.uint8), factors, names=["shape", "x"])
    method = BetaTVAE(by="category", category="shape")
    method.check(data, 10)
    a, p, n = (data.values(part)[:, 0] for part in method.draw(data, 300, np.random.default_rng(0)))
    assert ((a != p) <= (a != n)).all()
    assert ((a == p) & (a != n)).mean() > 0.3
    with pytest.raises(UsageError, match="no factor is called 'colour'"):
        TAE(category="colour").check(data, 10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": -1}, "scale must be"),
        ({"margin": float("nan")}, "margin must be"),
        ({"norm": "l3"}, "no distance between codes"),
        ({"by": "scaled"}, "no order of triplets"),
    ],
)
@pytest.mark.parametrize("kind", [BetaTVAE, TAE])
def test_wrong_settings(kind, options, message):
    with pytest.raises(UsageError, match=message):
        kind(**options)
