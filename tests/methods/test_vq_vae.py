"""VQ-VAE: nearest vectors by loops, the paper's terms, straight-through gradients, codes that are numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from unweave.errors import UsageError
from unweave.methods import VQVAE, Batch
from unweave.nets import Model, Net
from unweave.nets.vectors import VectorHead, Vectors

from .test_qlae import assert_each_term_moves_its_part

SHAPE = (32, 32, 3)


def model_of(method: VQVAE) -> Model:
    net = Net("mlp", latents=3, width=0.02)
    return net.build(SHAPE, torch.Generator().manual_seed(0), method.bottleneck, **method.bottleneck_options)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(6, 3, 32, 32, generator=torch.Generator().manual_seed(1)).round()


def nearest(model: Model, x: torch.Tensor) -> tuple[list[list[int]], float, np.ndarray]:
    """The numbers of the nearest vectors, the summed squared distances of an image to them, and the vectors."""
    head = model.bottleneck
    assert isinstance(head, VectorHead)
    books = head.vectors.detach().numpy()
    said = head.mean(model.encoder(x)).detach().numpy().reshape(len(x), 3, -1)
    places, total, found = [], 0.0, np.empty_like(said)
    for image, row in enumerate(said):
        places.append([])
        for latent, vector in enumerate(row):
            book = books[latent if len(books) > 1 else 0]
            distances = [sum((a - b) ** 2 for a, b in zip(vector, entry, strict=True)) for entry in book]
            places[-1].append(int(np.argmin(distances)))
            total += min(distances)
            found[image, latent] = book[places[-1][-1]]
    return places, total / len(x), found


@pytest.mark.parametrize("shared", [False, True])
def test_terms_are_the_papers(x, shared):
    method = VQVAE(quantisation=0.5, commitment=0.2, categories=5, size=4, shared=shared, loss="bce")
    model = model_of(method)
    q, z = method.infer(model, Batch(x), 0, torch.Generator())
    terms = method.terms(model, Batch(x), q, z, 0)
    places, gap, vectors = nearest(model, x)
    assert q.mean.tolist() == places
    assert terms["quantisation"].item() == pytest.approx(0.5 * gap, rel=1e-4)
    assert terms["commitment"].item() == pytest.approx(0.2 * gap, rel=1e-4)
    p = torch.sigmoid(model.decode(torch.from_numpy(vectors.reshape(6, 12))))
    torch.testing.assert_close(terms["reconstruction"], -(x * p.log() + (1 - x) * (1 - p).log()).sum() / 6)
    torch.testing.assert_close(q.kl(), torch.full((6, 3), math.log(5)))
    assert model.bottleneck.vectors.shape == (1 if shared else 3, 5, 4)


def test_what_each_term_moves(x):
    method = VQVAE(loss="mse")
    model = model_of(method)
    q, z = method.infer(model, Batch(x), 0, torch.Generator())
    terms = method.terms(model, Batch(x), q, z, 0)
    assert_each_term_moves_its_part(terms, model.bottleneck.vectors, model.encoder)


def test_gradients_of_the_reconstruction_go_straight_through():
    continuous = torch.randn(2, 3, 4, requires_grad=True)
    q = Vectors(torch.zeros(2, 3, dtype=torch.long), continuous, torch.zeros(2, 3, 4), 5)
    weights = torch.randn(2, 12)
    (gradient,) = torch.autograd.grad((q.sample(torch.Generator()) * weights).sum(), continuous)
    torch.testing.assert_close(gradient, weights.unflatten(1, (3, 4)))
    assert not q.sample(torch.Generator()).detach().any()


def test_a_run_has_numbers_of_vectors_for_codes_and_decodes_the_vectors(trained_and_opened):
    run, opened = trained_and_opened(VQVAE(categories=6, loss="mse"), steps=20, latents=4)
    assert opened.categories == (6, 6, 6, 6)
    assert not opened.has_posterior
    images = opened.data.images(range(60))
    codes = opened.encode(images)
    assert set(np.unique(codes)) <= set(range(6))
    head = run.model.bottleneck
    assert isinstance(head, VectorHead)
    books = head.vectors.detach().numpy()
    vectors = np.stack([books[latent][codes[:, latent].astype(int)] for latent in range(4)], axis=1)
    with torch.inference_mode():
        expected = run.model.images(run.model.decode(torch.from_numpy(vectors.reshape(60, -1))))
    np.testing.assert_array_equal(opened.decode(codes), expected)
    np.testing.assert_array_equal(opened.reconstruct(images), expected)


def test_codebooks_come_from_the_seed():
    first, same = (torch.as_tensor(model_of(VQVAE()).bottleneck.vectors) for _ in range(2))
    assert torch.equal(first, same)
    lengths = first.detach().norm(dim=2)
    assert 0.6 < lengths.mean() < 1.4
    assert len(first.detach().flatten(0, 1).unique(dim=0)) == 3 * 16


def test_wrong_settings_are_refused():
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"categories": 1}, "categories must be at least 2"),
        ({"size": 0}, "size must be at least 1"),
        ({"commitment": -1.0}, "commitment must be"),
        ({"quantisation": float("nan")}, "quantisation must be"),
    ]
    for settings, words in wrong:
        with pytest.raises(UsageError, match=words):
            VQVAE(**settings)
