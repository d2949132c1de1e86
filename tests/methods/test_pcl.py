"""PCL: the logistic loss of its paper, pair by pair; what follows what; and no decoder."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from unweave.config import Config
from unweave.data import Dataset, Table, Vectors, load
from unweave.data.consecutive import draw_consecutive, require_consecutive
from unweave.data.restricted import Restricted
from unweave.data.subset import Subset
from unweave.errors import UsageError
from unweave.methods import PCL, Batch
from unweave.methods.pcl import regression
from unweave.nets import Net

SHAPE = (16, 16, 1)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def built(method: PCL) -> Any:
    model = Config(method, {"name": "own"}, Net("mlp", latents=3, width=0.02)).build(SHAPE, generator())
    with torch.no_grad():
        for parameter in regression(model).parameters():
            parameter.copy_(0.7 * torch.randn(parameter.shape, generator=generator(3)))
    return model


def weights_of(model: Any) -> Any:
    """Return the regression function, whose layers the type checker does not know."""
    return regression(model)


def absolute(model: Any, a: np.ndarray, b: np.ndarray) -> float:
    """Return the log-odds of one pair by the paper's form, with the sign of a Laplace density of changes."""
    now, before, shift, scale, place = weights_of(model).parts.offsets.detach().double().numpy()
    parts = [
        (scale[j] * a[j] + place[j]) ** 2 - abs((1 + now[j]) * a[j] + (before[j] - 1) * b[j] + shift[j])
        for j in range(len(a))
    ]
    return regression(model).constant.item() + sum(parts)


def network(model: Any, a: np.ndarray, b: np.ndarray) -> float:
    """Return the log-odds of one pair by a network for each latent, none of which sees another's codes."""
    first, _, second, _, last = weights_of(model).parts.layers
    units = len(first.weight) // len(a)
    total = regression(model).constant.item()
    for j in range(len(a)):
        rows = slice(j * units, (j + 1) * units)
        hidden = np.array([a[j], b[j]])
        for layer in (first, second):
            weight, bias = (part.detach().double().numpy() for part in (layer.weight[rows, :, 0], layer.bias[rows]))
            hidden = np.tanh(weight @ hidden + bias)
        total += float(last.weight[j, :, 0].detach().double().numpy() @ hidden + last.bias[j].item())
    return total


@pytest.mark.parametrize(("name", "odds"), [("absolute", absolute), ("network", network)])
def test_the_contrast_is_the_logistic_loss_written_out(name, odds):
    method = PCL(regression=name, loss="mse")
    model = built(method)
    x = torch.rand(8, 1, 16, 16, generator=generator(1))
    batch = Batch(x, 2)
    q, z = method.infer(model, batch, 0, generator(2))
    terms = method.terms(model, batch, q, z, 0)
    codes = model.encode(x).mean.detach().double().numpy()
    before, now = codes[:4], codes[4:]
    loss = 0.0
    for t in range(4):
        follows = odds(model, now[t], before[t])
        shuffled = odds(model, now[t], before[t - 1])
        loss -= math.log(1 / (1 + math.exp(-follows))) + math.log(1 - 1 / (1 + math.exp(-shuffled)))
    assert set(terms) == {"contrast"}
    assert terms["contrast"].item() == pytest.approx(loss / 4, rel=1e-5)


def test_it_begins_as_the_distance_and_chance_is_two_bits():
    model = Config(PCL(loss="mse"), {"name": "own"}, Net("mlp", latents=3, width=0.02)).build(SHAPE, generator())
    a, b = torch.randn(5, 3, generator=generator(1)), torch.randn(5, 3, generator=generator(2))
    torch.testing.assert_close(regression(model)(a, b), -(a - b).abs().sum(1))
    z = torch.zeros(8, 3)
    chance = PCL().terms(model, Batch(torch.zeros(8, 1, 16, 16), 2), model.encode(torch.zeros(8, 1, 16, 16)), z, 0)
    assert chance["contrast"].item() == pytest.approx(2 * math.log(2))


def test_rows_follow_each_other_where_there_is_no_grid():
    data = Vectors(np.random.default_rng(0).normal(size=(50, 3)))
    first, second = draw_consecutive(data, 500, np.random.default_rng(1))
    assert (second == first + 1).all()
    assert set(first) == set(range(49))


def segments() -> Vectors:
    rows = np.random.default_rng(0).normal(size=(1000, 3))
    return Vectors(rows, np.arange(1000)[:, None] // 200, names=["segment"])


@pytest.mark.parametrize("data", [Subset(segments(), images=100), Restricted(segments(), exclude="segment=3")])
def test_rows_that_are_held_out_neither_follow_nor_are_followed(data: Subset | Restricted):
    first, second = draw_consecutive(data, 20_000, np.random.default_rng(0))
    possible = [i for i in data.allowed if i + 1 in set(data.allowed)]
    assert (second == first + 1).all()
    rows, counts = np.unique(first, return_counts=True)
    assert rows.tolist() == possible
    expected = 20_000 / len(possible)
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_rows_without_a_pair_are_refused():
    rows = segments()
    alone: Dataset = Restricted(rows, keep="segment=0|segment=1")
    for images in (1, 2):  # the two rows that the seed draws are not neighbours
        with pytest.raises(UsageError, match="draws no two consecutive rows"):
            PCL().check(Subset(alone, images=images), 3)
    with pytest.raises(UsageError, match="draws no two consecutive rows"):
        draw_consecutive(Subset(alone, images=2), 5, np.random.default_rng(0))


def test_a_walk_moves_every_factor_a_little_and_keeps_the_distribution():
    data = load("xysquares:size=32")
    rng = np.random.default_rng(0)
    first, second = draw_consecutive(data, 60_000, rng, step=2)
    a, b = data.values(first), data.values(second)
    assert np.abs(a - b).max() == 2
    for k, size in enumerate(data.factors.sizes):
        # One of five steps is 0. Of the others, 1 + 2 of each direction lead over the edge, from the last two values.
        unmoved = (1 + 6 / size) / 5
        assert ((a - b)[:, k] == 0).mean() == pytest.approx(
            unmoved, abs=5 * math.sqrt(unmoved * (1 - unmoved) / 60_000)
        )
        counts = np.bincount(b[:, k], minlength=size)
        assert (np.abs(counts - 60_000 / size) < 5 * np.sqrt(60_000 / size)).all()


def test_a_walk_never_leads_to_what_is_held_out():
    data = load("xysquares-restricted:size=32,exclude=x_R=0")
    first, second = draw_consecutive(data, 5_000, np.random.default_rng(0))
    assert (data.values(first)[:, data.factors.axis("x_R")] > 0).all()
    assert (data.values(second)[:, data.factors.axis("x_R")] > 0).all()
    assert (first != second).any()


def test_a_walk_keeps_the_distribution_of_a_correlated_set():
    data = load("xysquares-correlated:size=32,pair=x_R+y_R,strength=0.1")
    first, second = draw_consecutive(data, 60_000, np.random.default_rng(0))
    axes = [data.factors.axis(name) for name in ("x_R", "y_R")]
    size = data.factors.sizes[axes[0]]
    places = np.linspace(0, 1, size)
    expected = np.exp(-((places[:, None] - places) ** 2) / (2 * 0.1**2))
    expected *= 60_000 / expected.sum()
    for images in (first, second):
        found = np.zeros((size, size))
        np.add.at(found, tuple(data.values(images)[:, axes].T), 1)
        assert (np.abs(found - expected) <= 5 * np.sqrt(expected) + 3).all()
    assert (first != second).mean() > 0.3


def test_time_that_is_not_there_is_refused():
    vectors = Vectors(np.random.default_rng(0).normal(size=(50, 3)))
    with pytest.raises(UsageError, match="needs factors"):
        require_consecutive(vectors, "walk")
    with pytest.raises(UsageError, match="in the order of its factors"):
        require_consecutive(load("xysquares:size=32"), "rows")
    with pytest.raises(UsageError, match="no row follows another"):
        PCL().check(Table(np.zeros((1, 16, 16, 1), np.uint8)), 3)
    with pytest.raises(UsageError, match="source of time"):
        PCL(time="clock")
    with pytest.raises(UsageError, match="step must be at least 1"):
        PCL(step=0)
    with pytest.raises(UsageError, match="regression"):
        PCL(regression="linear")
