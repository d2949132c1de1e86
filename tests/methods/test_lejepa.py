"""LeJEPA: agreement and normality of codes as the paper writes them, with every kind of views."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from unweave.config import Config
from unweave.data import Vectors, load
from unweave.errors import UsageError
from unweave.methods import Batch, LeJEPA
from unweave.nets import Net
from unweave.penalties.sigreg import draw_directions

SHAPE = (16, 16, 1)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def model_of(method: LeJEPA):
    return Config(method, {"name": "own"}, Net("mlp", latents=3, width=0.02)).build(SHAPE, generator())


def epps_pulley(codes: np.ndarray, directions: np.ndarray) -> float:
    """Return the mean over directions of n times the weighted squared distance of characteristic functions."""
    t = np.linspace(-5, 5, 17)
    normal = np.exp(-(t**2) / 2)
    found = []
    for direction in directions.T:
        empirical = np.mean([np.exp(1j * t * (direction @ code)) for code in codes], axis=0)
        found.append(len(codes) * np.trapezoid(np.abs(empirical - normal) ** 2 * normal, t))
    return float(np.mean(found))


def test_the_terms_are_the_objective_written_out():
    method = LeJEPA(weight=0.3, directions=7, loss="mse")
    model = model_of(method)
    x = torch.rand(10, 1, 16, 16, generator=generator(1))
    batch = Batch(x, 2, choices=generator(5))
    terms = method.terms(model, batch, *method.infer(model, batch, 0, generator(2)), 0)
    codes = model.encode(x).mean.detach().double().numpy()
    views = codes[:5], codes[5:]
    centre = (views[0] + views[1]) / 2
    agreement = np.mean([np.mean((view - centre) ** 2) for view in views])
    draw = generator(5)
    normality = [epps_pulley(view, draw_directions(3, 7, draw).double().numpy()) for view in views]
    assert set(terms) == {"alignment", "sigreg"}
    assert terms["alignment"].item() == pytest.approx(0.7 * agreement, rel=1e-5)
    assert terms["sigreg"].item() == pytest.approx(0.3 * np.mean(normality), rel=1e-4)


def test_noise_makes_two_views_of_one_image():
    method = LeJEPA(views="noise", noise=0.5, loss="mse")
    indices = method.draw(load("xysquares:size=32"), 20, np.random.default_rng(0))
    assert (indices[0] == indices[1]).all()
    model = model_of(method)
    x = torch.zeros(2000, 1, 16, 16)
    seen = []
    model.encoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    one = method.infer(model, Batch(x, 2, choices=generator(1)), 0, generator())[1]
    two = method.infer(model, Batch(x, 2, choices=generator(1)), 0, generator())[1]
    torch.testing.assert_close(one, two)
    assert seen[0].std().item() == pytest.approx(0.5, rel=0.01)
    assert not torch.equal(seen[0][:1000], seen[0][1000:])


def test_views_are_pairs_walks_or_neighbouring_rows():
    grid = load("xysquares:size=32")
    a, b = (grid.values(part) for part in LeJEPA(changed=1).draw(grid, 200, np.random.default_rng(0)))
    assert ((a != b).sum(1) == 1).all()
    a, b = (grid.values(part) for part in LeJEPA(views="walk").draw(grid, 200, np.random.default_rng(0)))
    assert np.abs(a - b).max() == 1
    rows = Vectors(np.random.default_rng(0).normal(size=(30, 2)))
    first, second = LeJEPA(views="rows").draw(rows, 200, np.random.default_rng(0))
    assert (second == first + 1).all()
    for views in ("rows", "noise"):
        LeJEPA(views=views).check(rows, 2)
    with pytest.raises(UsageError, match=r"use the views rows \(consecutive rows\) or noise"):
        LeJEPA().check(rows, 2)
    with pytest.raises(UsageError, match="not of time"):
        LeJEPA(views="rows").check(grid, 2)


@pytest.mark.parametrize(
    "wrong", [{"weight": 1.5}, {"weight": -0.1}, {"views": "crops"}, {"noise": 0.0}, {"directions": 0}, {"step": 0}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(UsageError):
        LeJEPA(**wrong)


@pytest.mark.parametrize(
    ("views", "field", "value"),
    [
        ("walk", "changed", 2),
        ("noise", "rule", "laplace"),
        ("rows", "always_shared", "shape"),
        ("noise", "step_rate", 2.0),
        ("rows", "step", 2),
        ("factors", "noise", 0.5),
    ],
)
def test_options_without_effect_are_refused(views, field, value):
    with pytest.raises(UsageError, match=f"{field} has no effect with the views '{views}'"):
        LeJEPA(views=views, **{field: value})
