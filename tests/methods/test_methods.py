"""Every method: its terms are the published objective, in nats; its settings are checked."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest
import torch

from unweave.config import Config
from unweave.data import load
from unweave.data.labels import Labels
from unweave.errors import UsageError
from unweave.fields import types_of
from unweave.methods import METHODS, VAE, Batch, BetaVAE, Method, OrthogonalJacobian, Schedule
from unweave.nets import Model, Net
from unweave.schedules import in_steps

SHAPE = (32, 32, 3)


@pytest.fixture
def model() -> Model:
    return Net("mlp", latents=5, width=0.02).build(SHAPE, torch.Generator().manual_seed(0))


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(6, 3, 32, 32, generator=torch.Generator().manual_seed(1)).round()


def noise() -> torch.Generator:
    return torch.Generator().manual_seed(2)


def terms_of(method: Method, model, x, step: int = 0) -> dict[str, torch.Tensor]:
    """The terms on a batch: x for each of the images that the method draws together."""
    method = in_steps(method, 1000)
    factors = torch.arange(method.group_size * len(x))[:, None] if method.labelled else None
    batch = Batch(torch.cat([x] * method.group_size), method.group_size, factors)
    return method.terms(model, batch, *method.infer(model, batch, step, noise()), step)


def test_terms_are_the_objective_written_out(model, x):
    terms = terms_of(BetaVAE(beta=3, loss="bce"), model, x)
    q = model.encode(x)
    z = q.mean + torch.exp(q.log_variance / 2) * torch.randn(6, 5, generator=noise())
    p = torch.sigmoid(model.decode(z))
    reconstruction = -(x * p.log() + (1 - x) * (1 - p).log()).sum() / 6
    kl = 0.5 * (q.mean**2 + q.log_variance.exp() - q.log_variance - 1).sum() / 6
    torch.testing.assert_close(terms["reconstruction"], reconstruction)
    torch.testing.assert_close(terms["kl"], 3 * kl)
    assert set(terms) == {"reconstruction", "kl"}


def test_a_beta_of_one_is_the_vae(model, x):
    vae, beta = (terms_of(method, model, x) for method in (VAE(loss="mse"), BetaVAE(beta=1, loss="mse")))
    assert {name: value.item() for name, value in vae.items()} == {k: v.item() for k, v in beta.items()}


def test_normalised_beta_scales_with_pixels_over_latents(model, x):
    plain = terms_of(BetaVAE(beta=0.5, loss="mse"), model, x)["kl"]
    normalised = terms_of(BetaVAE(beta=0.5, normalise_beta=True, loss="mse"), model, x)["kl"]
    torch.testing.assert_close(normalised, plain * (32 * 32 * 3) / 5)


def test_a_scheduled_beta_moves_with_the_step(model, x):
    scheduled = BetaVAE(beta=Schedule(1, 4, 300), loss="mse")
    for step, beta in ((0, 1.0), (100, 2.0), (300, 4.0), (10_000, 4.0)):
        kl = terms_of(BetaVAE(beta=beta, loss="mse"), model, x)["kl"]
        torch.testing.assert_close(terms_of(scheduled, model, x, step)["kl"], kl)


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_every_method_is_frozen_documented_and_trains(kind: type[Method], x):
    method = kind(loss="mse").resolve(load("xysquares:size=32"), 1e-3)
    config = Config(method, {"name": "xysquares"}, Net("mlp", latents=5, width=0.02))
    model = config.build(SHAPE, torch.Generator().manual_seed(0))
    assert kind.__doc__
    assert "]_" in kind.__doc__, "a method cites its paper"
    with pytest.raises(FrozenInstanceError):
        method.loss = "bce"  # pyright: ignore[reportAttributeAccessIssue]
    terms = terms_of(method, model, x)
    assert ("reconstruction" in terms) == kind.decoder
    assert all(value.ndim == 0 for value in terms.values())
    torch.stack(list(terms.values())).sum().backward()
    for parameter in model.own_parameters():
        assert parameter.grad is not None
        assert torch.isfinite(parameter.grad).all()
    assert {spec.name for spec in fields(method)} >= {"loss"}


@pytest.mark.parametrize("beta", [-1.0, float("nan"), float("inf")])
def test_a_wrong_beta_is_refused(beta):
    with pytest.raises(UsageError, match="beta must be"):
        BetaVAE(beta=beta)


SETTINGS = {**METHODS, "labels": Labels, "jacobian": OrthogonalJacobian}
FIELDS = [(kind, name) for kind in SETTINGS.values() for name in types_of(kind)]


@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=[f"{kind.__name__}-{name}" for kind, name in FIELDS])
def test_a_value_of_another_type_is_refused_for_every_field(kind, name):
    types = types_of(kind)[name]
    wrong = [[8, 5], *([] if type(None) in types else [None]), *([] if str in types else ["a"])]
    wrong += [2.5] if float not in types else [True]
    for value in wrong:
        with pytest.raises(UsageError, match=f"{name} must be of type") as caught:
            kind(**{name: value})
        assert "\n" not in str(caught.value)


def test_numpy_numbers_become_pythons():
    settings: dict[str, Any] = {"count": np.int32(7), "noise": np.float32(0.5)}
    labels = Labels(**settings)
    assert (type(labels.count), type(labels.noise)) == (int, float)


def test_a_misspelt_loss_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean 'bce'"):
        VAE(loss="bc")
