"""FactorQVAE: its posterior, KL term and total correlation by loops, and what each of them moves."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
import torch

from unweave.errors import UsageError
from unweave.methods import Batch, FactorQVAE
from unweave.nets import Model, Net
from unweave.nets.relaxed import Relaxed, RelaxedHead
from unweave.penalties import shuffle_latents as shuffle

SHAPE = (16, 16, 3)
PIXELS = 16 * 16 * 3
METHOD = FactorQVAE(gamma=0.01, beta=0.02, values=6, adversary_units=16, loss="mse")


def model_of(method: FactorQVAE = METHOD) -> Model:
    net = Net("mlp", latents=3, width=0.02)
    generator = torch.Generator().manual_seed(0)
    return net.build(SHAPE, generator, method.bottleneck, method.adversary, **method.bottleneck_options)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(5, 3, 16, 16, generator=torch.Generator().manual_seed(1))


def test_the_codebook_starts_as_quantiles_of_a_normal():
    head = model_of().bottleneck
    assert isinstance(head, RelaxedHead)
    expected = [NormalDist().inv_cdf((place + 0.5) / 6) for place in range(6)]
    np.testing.assert_allclose(head.codebook.detach(), expected, atol=1e-6)


def test_terms_are_the_papers_times_the_number_of_pixels(x):
    model = model_of()
    head = model.bottleneck
    assert isinstance(head, RelaxedHead)
    q, z = METHOD.infer(model, Batch(x), 0, torch.Generator().manual_seed(3))
    terms = METHOD.terms(model, Batch(x), q, z, 0)
    said, book = head.mean(model.encoder(x)).tolist(), head.codebook.tolist()
    kl, values, weights = 0.0, np.empty((5, 3)), z.tolist()
    for image, row in enumerate(said):
        for latent, c in enumerate(row):
            chances = np.exp([-((c - e) ** 2) for e in book])
            chances /= chances.sum()
            kl += sum(p * math.log(p * 6) for p in chances)
            values[image, latent] = sum(w * e for w, e in zip(weights[image][latent], book, strict=True))
            assert sum(weights[image][latent]) == pytest.approx(1, rel=1e-5)
    assert terms["kl"].item() == pytest.approx(0.02 * PIXELS * kl / 15, rel=1e-4)
    decoded = model.decode(torch.tensor(values, dtype=torch.float32))
    torch.testing.assert_close(terms["reconstruction"], (x - decoded).square().sum() / 5)
    assert model.adversary is not None
    logits = model.adversary(z.flatten(1))
    odds = (logits[:, 0] - logits[:, 1]).mean().item()
    assert terms["total_correlation"].item() == pytest.approx(0.01 * PIXELS * odds, rel=1e-4)


def test_weights_are_relaxed_by_gumbel_noise(x):
    model = model_of()
    q, z = METHOD.infer(model, Batch(x), 0, torch.Generator().manual_seed(3))
    assert isinstance(q, Relaxed)
    noise = -torch.empty(5, 3, 6).exponential_(generator=torch.Generator().manual_seed(3)).log()
    expected = (q.logits + noise).exp()
    torch.testing.assert_close(z, expected / expected.sum(-1, keepdim=True))
    torch.testing.assert_close(q.sample(torch.Generator().manual_seed(3)), q.values(z))


def test_the_adversary_sees_weights_and_they_are_shuffled_by_latent(x):
    model = model_of()
    _, z = METHOD.infer(model, Batch(x), 0, torch.Generator().manual_seed(3))
    _, other = METHOD.infer(model, Batch(x), 0, torch.Generator().manual_seed(4))
    mixed = shuffle(other)
    for image in range(5):
        for latent in range(3):
            assert torch.equal(mixed[image, latent], other[(image + latent) % 5, latent])
    assert model.adversary is not None
    as_they_are = model.adversary(z.flatten(1)).softmax(1)[:, 0]
    of_shuffled = model.adversary(mixed.flatten(1)).softmax(1)[:, 1]
    expected = -0.5 * as_they_are.log().mean() - 0.5 * of_shuffled.log().mean()
    torch.testing.assert_close(METHOD.adversary_loss(model, z, lambda: other), expected)


def test_the_total_correlation_moves_encoder_and_codebook_and_not_the_adversary(x):
    model = model_of()
    q, z = METHOD.infer(model, Batch(x), 0, torch.Generator().manual_seed(3))
    METHOD.terms(model, Batch(x), q, z, 0)["total_correlation"].backward()
    assert model.adversary is not None
    assert all(weight.grad is None for weight in model.adversary.parameters())
    assert next(model.encoder.parameters()).grad is not None
    moves = model.bottleneck.moves
    assert isinstance(moves, torch.Tensor)
    assert moves.grad is not None


def test_codes_are_the_nearest_scalars(trained_and_opened):
    run, opened = trained_and_opened(FactorQVAE(values=5, adversary_units=8), steps=5, latents=3)
    assert opened.categories == (0, 0, 0)
    images = opened.data.images(range(30))
    codes, head = opened.encode(images), run.model.bottleneck
    assert isinstance(head, RelaxedHead)
    book = head.codebook.detach().numpy()
    with torch.inference_mode():
        said = head.mean(run.model.encoder(run.model.pixels(images))).numpy()
    expected = book[np.abs(said[:, :, None] - book).argmin(axis=2)]
    np.testing.assert_allclose(codes, expected, atol=1e-6)


def test_wrong_settings_are_refused():
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"values": 1}, "values must be at least 2"),
        ({"temperature": -1.0}, "temperature must be"),
        ({"beta": -1.0}, "beta must be"),
        ({"gamma": -1.0}, "gamma must be"),
    ]
    for settings, words in wrong:
        with pytest.raises(UsageError, match=words):
            FactorQVAE(**settings)
