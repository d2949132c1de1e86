"""The adaptive triplet loss, with triplets by factors and by pixels, against loops; its limits are the triplet loss."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

import unweave
from unweave.errors import UsageError
from unweave.methods import METHODS, Batch, Method, Schedule
from unweave.methods.ada_tae import AdaTAE
from unweave.methods.ada_tvae import AdaTVAE, UnsupervisedAdaTVAE, distinct_triples
from unweave.methods.adaptive import parts, symmetric_kl
from unweave.methods.beta_tvae import BetaTVAE
from unweave.methods.tae import TAE
from unweave.nets import Model, Net, Point

SHAPE = (32, 32, 3)
PIXELS = 32 * 32 * 3
PLAIN = {AdaTVAE: BetaTVAE, AdaTAE: TAE}


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def model_of(kind: type[Method]) -> Model:
    return Net("mlp", latents=5, width=0.02).build(SHAPE, seeded(0), kind.bottleneck)


@pytest.fixture
def batch() -> Batch:
    return Batch(torch.rand(12, 3, 32, 32, generator=seeded(1)), 3)


def terms_of(method: Method, model: Model, batch: Batch, step: int = 0) -> dict[str, torch.Tensor]:
    return method.terms(model, batch, *method.infer(model, batch, step, seeded(2)), step)


def ada_slowly(codes: list[list[float]], deltas: list[list[float]], omega: float, eta: float, p: int) -> float:
    """Equation 5.17 of Michlo (2022) with a margin of one, from 5.16, 5.19 and 5.21, one triplet at a time."""
    n, total = len(deltas), 0.0
    for i, delta in enumerate(deltas):
        threshold = (1 - eta) * min(delta) + eta * max(delta)
        near = far = 0.0
        for j, size in enumerate(delta):
            weight = omega if size < threshold else 1.0
            near += abs(codes[i][j] - codes[n + i][j]) ** p
            far += (weight * abs(codes[i][j] - codes[2 * n + i][j])) ** p
        total += max(0.0, 1 + near ** (1 / p) - far ** (1 / p))
    return total / n


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize(("omega", "eta"), [(0.5, 0.5), (0.0, 0.3), (0.9, 1.0)])
@pytest.mark.parametrize("kind", PLAIN)
def test_the_adaptive_triplet_term(kind, omega, eta, norm, batch):
    method = kind(omega=omega, eta=eta, norm=norm, margin=1, loss="mse")
    model = model_of(kind)
    codes = model.encode(batch.x).mean.tolist()
    deltas = [[abs(x - y) for x, y in zip(codes[i], codes[8 + i], strict=True)] for i in range(4)]
    slowly = ada_slowly(codes, deltas, omega, eta, int(norm[1]))
    assert terms_of(method, model, batch)["triplet"].item() == pytest.approx(PIXELS * slowly, rel=1e-4)


def test_shared_latents_may_be_guessed_from_divergences(batch):
    method = AdaTVAE(omega=0.25, difference="symmetric-kl", margin=1, loss="mse")
    model = model_of(AdaTVAE)
    q = model.encode(batch.x)
    deltas = symmetric_kl(parts(q, 3)[0], parts(q, 3)[2]).tolist()
    slowly = ada_slowly(q.mean.tolist(), deltas, omega=0.25, eta=0.5, p=1)
    assert terms_of(method, model, batch)["triplet"].item() == pytest.approx(PIXELS * slowly, rel=1e-4)


@pytest.mark.parametrize("kind", PLAIN)
def test_a_weight_of_one_or_a_threshold_of_zero_is_the_triplet_loss(kind, batch):
    model = model_of(kind)
    plain = terms_of(PLAIN[kind](loss="mse"), model, batch)
    for eta in (0.0, 0.5, 1.0):
        assert terms_of(kind(omega=1, eta=eta, loss="mse"), model, batch) == plain
    assert terms_of(kind(omega=0, eta=0, loss="mse"), model, batch) == plain
    assert terms_of(kind(omega=0, eta=0.5, loss="mse"), model, batch) != plain


def test_schedules_move_both(batch):
    model = model_of(AdaTVAE)
    moving = AdaTVAE(omega=Schedule(1, 0.5, 10), eta=Schedule(0, 0.5, 10), loss="mse")
    for step, omega, eta in ((0, 1.0, 0.0), (5, 0.75, 0.25), (10, 0.5, 0.5)):
        still = AdaTVAE(omega=omega, eta=eta, loss="mse")
        assert terms_of(moving, model, batch, step) == terms_of(still, model, batch, step)


def test_the_gradient_of_a_shared_latent_is_omega_times_smaller(batch):
    model = model_of(AdaTAE)
    codes = model.encode(batch.x).mean.detach()
    negatives = codes[8:].clone().requires_grad_()
    for omega in (1.0, 0.25):
        q = Point(torch.cat([codes[:8], negatives]))
        (gradient,) = torch.autograd.grad(AdaTAE(omega=omega).triplet(model, batch, q, 0), negatives)
        sizes = gradient.abs() / (PIXELS / 4)
        assert {round(size, 4) for size in sizes.flatten().tolist()} == {omega, 1.0}


def ordered_slowly(x: torch.Tensor, triple: torch.Tensor) -> list[tuple[int, int, int]]:
    """Triplets with the more similar image second, by summed squares."""
    result = []
    for a, p, n in triple.T.tolist():
        near, far = ((x[a] - x[other]).square().sum().item() for other in (p, n))
        result.append((a, p, n) if near <= far else (a, n, p))
    return result


def test_triplets_of_a_batch_are_ordered_by_pixels(batch):
    method = UnsupervisedAdaTVAE(omega=0.7, triplets=150, loss="mse")
    model = model_of(UnsupervisedAdaTVAE)
    q = model.encode(batch.x)
    ordered = method.split(replace(batch, choices=seeded(3)), q, step=3)
    order = ordered_slowly(batch.x, distinct_triples(12, 150, seeded(3)))
    for part, rows in zip(ordered, zip(*order, strict=True), strict=True):
        torch.testing.assert_close(part.mean, q.mean[list(rows)])
    codes = Point(torch.cat([part.mean for part in ordered]))
    supervised = AdaTVAE(omega=0.7, loss="mse").triplet(model, Batch(batch.x, 3), codes, 3)
    torch.testing.assert_close(method.triplet(model, replace(batch, choices=seeded(3)), q, 3), supervised)


@pytest.mark.parametrize("loss", ["mse", "bce"])
def test_black_and_white_images_are_ordered_by_pixels_that_differ(loss):
    x = torch.rand(6, 3, 8, 8, generator=seeded(4)).round()
    i, j = torch.cartesian_prod(torch.arange(6), torch.arange(6)).T
    unlike = UnsupervisedAdaTVAE(loss=loss).unlikeness(x, i, j)
    differ = torch.stack([(x[a] != x[b]).sum() for a, b in zip(i, j, strict=True)])
    torch.testing.assert_close(unlike / unlike.max(), differ / differ.max(), atol=1e-4, rtol=1e-3)


def test_places_are_three_different_ones_and_all_are_reached():
    choices = seeded(0)
    triple = distinct_triples(4, 4000, choices)
    assert all(len(set(column)) == 3 for column in triple.T.tolist())
    seen, counts = torch.unique(triple, dim=1, return_counts=True)
    assert seen.shape[1] == 24
    assert (counts - 4000 / 24).abs().max() < 5 * (4000 / 24) ** 0.5
    assert not torch.equal(triple, distinct_triples(4, 4000, choices))


@pytest.mark.parametrize("kind", [AdaTVAE, UnsupervisedAdaTVAE, AdaTAE])
def test_a_run_goes_on_as_if_it_had_not_stopped(kind, tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS, "tried", kind)
    method = kind(omega=Schedule(1, 0.5, 8), loss="mse")
    settings = {"data": "xysquares:size=32", "steps": 8, "batch": 4, "net": "mlp", "width": 0.02}

    class Stopped(Exception):
        pass

    def stop(row: dict[str, float]) -> None:
        if row["step"] >= 5:
            raise Stopped

    with pytest.raises(Stopped):
        unweave.train(method, **settings, out=tmp_path / "halted", checkpoint_every=4, log_every=1, on_result=stop)
    unweave.train(method, **settings, out=tmp_path / "halted", checkpoint_every=4, log_every=1, resume=True)
    unweave.train(method, **settings, out=tmp_path / "whole", checkpoint_every=4, log_every=1)
    halted, whole = (load_file(tmp_path / run / "weights.safetensors") for run in ("halted", "whole"))
    assert all(torch.equal(halted[name], value) for name, value in whole.items())


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (AdaTVAE, {"omega": 1.1}, "omega must be between 0 and 1"),
        (AdaTAE, {"eta": Schedule(0, 2, 5)}, "eta must be between 0 and 1, not 0:2@5"),
        (AdaTVAE, {"difference": "kld"}, "did you mean 'kl'"),
        (AdaTVAE, {"by": "pixels"}, "no order of triplets"),
        (UnsupervisedAdaTVAE, {"triplets": 0}, "triplets must be at least 1"),
    ],
)
def test_wrong_settings(kind, options, message):
    with pytest.raises(UsageError, match=message):
        kind(**options)
