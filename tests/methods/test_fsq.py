"""FSQ: the paper's rounding written out, levels for each latent, and nothing but the reconstruction to train."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import unweave
from unweave.errors import UsageError
from unweave.methods import FSQ, Batch
from unweave.nets import Net
from unweave.nets.quantised import GridHead


def test_odd_levels_are_the_papers_rounding():
    """round(floor(L / 2) tanh(c)), in units of floor(L / 2)."""
    head = GridHead(2, 2, levels=[3, 7])
    torch.nn.init.eye_(head.mean.weight)
    torch.nn.init.zeros_(head.mean.bias)
    said = torch.randn(200, 2, generator=torch.Generator().manual_seed(0)) * 2
    q = head(said)
    expected = [
        [round(half * math.tanh(c)) / half for c, half in zip(row, (1, 3), strict=True)] for row in said.tolist()
    ]
    np.testing.assert_allclose(q.mean.detach(), expected, atol=1e-6)
    torch.testing.assert_close(q.kl(), torch.tensor([math.log(3), math.log(7)]).expand(200, 2))


def test_levels_are_those_of_the_latents_in_turn():
    head = GridHead(5, 5, levels=[2, 3])
    torch.nn.init.eye_(head.mean.weight)
    torch.nn.init.zeros_(head.mean.bias)
    codes = head(torch.linspace(-9, 9, 4001)[:, None].expand(-1, 5)).mean.detach().numpy()
    assert [np.unique(column).round(6).tolist() for column in codes.T] == [[-1, 1], [-1, 0, 1]] * 2 + [[-1, 1]]


def test_the_reconstruction_is_all_and_goes_straight_through():
    method = FSQ(levels="5,3", loss="mse")
    net = Net("mlp", latents=4, width=0.02)
    model = net.build((8, 8, 1), torch.Generator().manual_seed(0), method.bottleneck, **method.bottleneck_options)
    x = torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(1))
    q, z = method.infer(model, Batch(x), 0, torch.Generator())
    terms = method.terms(model, Batch(x), q, z, 0)
    assert set(terms) == {"reconstruction"}
    head: Any = model.bottleneck.mean
    halves = torch.tensor([2.0, 1, 2, 1])
    codes = (halves * torch.tanh(head(model.encoder(x)))).round() / halves
    torch.testing.assert_close(terms["reconstruction"], (x - model.decode(codes)).square().sum() / 6)
    terms["reconstruction"].backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in model.encoder.parameters())


def test_a_run_keeps_its_levels_and_its_latents_are_numbers(tmp_path):
    unweave.train(
        FSQ(levels="4,3"), data="xysquares:size=32", steps=3, batch=8, net="mlp", width=0.05, latents=3, out=tmp_path
    )
    opened = unweave.Run.open(tmp_path)
    assert opened.settings.method == FSQ(levels="4,3", loss=opened.settings.method.loss)
    assert opened.categories == (0, 0, 0)
    codes = opened.encode(opened.data.images(range(50)))
    assert all(len(np.unique(column)) <= most for column, most in zip(codes.T, (4, 3, 4), strict=True))


def test_wrong_levels_are_refused():
    for levels, words in (("8,1", "levels must be at least 2"), ("8;5", "comma-separated"), ("", "comma-separated")):
        with pytest.raises(UsageError, match=words):
            FSQ(levels=levels)
