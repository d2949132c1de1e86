"""QLAE: its terms written out from the codes and the codebook, and what each of them moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import unweave
from unweave.errors import UsageError
from unweave.methods import Batch
from unweave.methods.qlae import QLAE
from unweave.nets import Model, Net
from unweave.nets.quantised import CodebookHead

SHAPE = (32, 32, 3)


@pytest.fixture
def model() -> Model:
    return Net("mlp", latents=5, width=0.02).build(SHAPE, torch.Generator().manual_seed(0), QLAE.bottleneck)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(6, 3, 32, 32, generator=torch.Generator().manual_seed(1)).round()


def terms_of(method: QLAE, model: Model, x: torch.Tensor) -> dict[str, torch.Tensor]:
    q, z = method.infer(model, Batch(x), 0, torch.Generator())
    return method.terms(model, Batch(x), q, z, 0)


def test_terms_are_the_papers_times_the_number_of_pixels(model, x):
    terms = terms_of(QLAE(quantisation=0.02, commitment=0.05, loss="bce"), model, x)
    head = model.bottleneck
    assert isinstance(head, CodebookHead)
    codes = head.mean(model.encoder(x)).tolist()
    book = head.codebook.tolist()
    values = [[min(book[j], key=lambda v, c=c: abs(v - c)) for j, c in enumerate(row)] for row in codes]
    gap = sum((c - v) ** 2 for row, found in zip(codes, values, strict=True) for c, v in zip(row, found, strict=True))
    assert terms["quantisation"].item() == pytest.approx(0.02 * 3072 * gap / 30, rel=1e-4)
    assert terms["commitment"].item() == pytest.approx(0.05 * 3072 * gap / 30, rel=1e-4)
    p = torch.sigmoid(model.decode(torch.tensor(values)))
    torch.testing.assert_close(terms["reconstruction"], -(x * p.log() + (1 - x) * (1 - p).log()).sum() / 6)


def assert_each_term_moves_its_part(terms: dict[str, torch.Tensor], book: Any, encoder: torch.nn.Module):
    """The quantisation moves the codebook only, the commitment and the reconstruction the encoder only."""
    parts = {"book": book, "encoder": next(encoder.parameters())}
    moved = {
        name: {
            part: torch.autograd.grad(terms[name], weight, allow_unused=True, retain_graph=True)[0] is not None
            for part, weight in parts.items()
        }
        for name in terms
    }
    assert moved["quantisation"] == {"book": True, "encoder": False}
    assert moved["commitment"] == {"book": False, "encoder": True}
    assert moved["reconstruction"] == {"book": False, "encoder": True}


def test_quantisation_moves_the_codebook_only_and_commitment_the_encoder_only(model, x):
    terms = terms_of(QLAE(loss="mse"), model, x)
    assert_each_term_moves_its_part(terms, model.bottleneck.moves, model.encoder)


def test_a_trained_run_has_codes_of_ten_values_and_opens_again(tmp_path):
    run = unweave.train(
        QLAE(), data="xysquares:size=32", steps=20, batch=8, net="mlp", width=0.05, out=tmp_path, device="cpu"
    )
    opened = unweave.Run.open(tmp_path)
    codes = opened.encode(opened.data.images(range(200)))
    head = run.model.bottleneck
    assert isinstance(head, CodebookHead)
    book = head.codebook.detach().numpy()
    assert all(set(codes[:, latent]) <= set(book[latent]) for latent in range(10))
    assert head.moves.any()


def test_the_number_of_values_is_a_field_and_kept_with_the_run(tmp_path):
    unweave.train(QLAE(values=3), data="xysquares:size=32", steps=2, batch=8, net="mlp", width=0.05, out=tmp_path)
    opened = unweave.Run.open(tmp_path)
    head = opened.model.bottleneck
    assert isinstance(head, CodebookHead)
    assert head.codebook.shape == (10, 3)
    assert len(np.unique(opened.encode(opened.data.images(range(50)))[:, 0])) <= 3


def test_wrong_weights_are_refused():
    with pytest.raises(UsageError, match="values must be at least 2"):
        QLAE(values=1)
    with pytest.raises(UsageError, match="quantisation must be"):
        QLAE(quantisation=-0.1)
    with pytest.raises(UsageError, match="commitment must be"):
        QLAE(commitment=float("nan"))
