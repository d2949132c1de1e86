"""JointVAE: its terms by the paper's formulas in loops, its relaxed samples, its codes, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import unweave
from unweave.data.labels import Labels
from unweave.errors import UsageError
from unweave.methods import Batch, JointVAE, Schedule
from unweave.nets import Joint, Model, Net
from unweave.nets.categorical import JointHead

SHAPE = (32, 32, 3)
METHOD = JointVAE(
    gamma=7, categorical_gamma=5, capacity=3.0, categorical_capacity=1.0, categorical=2, categories=4, loss="mse"
)


def model_of(method: JointVAE = METHOD, latents: int = 5) -> Model:
    net = Net("mlp", latents=latents, width=0.02)
    generator = torch.Generator().manual_seed(0)
    return net.build(SHAPE, generator, method.bottleneck, method.adversary, **method.bottleneck_options)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.rand(6, 3, 32, 32, generator=torch.Generator().manual_seed(1))


def terms_of(method: JointVAE, x: torch.Tensor, step: int = 0) -> dict[str, torch.Tensor]:
    model = model_of(method)
    q, z = method.infer(model, Batch(x), step, torch.Generator().manual_seed(2))
    return method.terms(model, Batch(x), q, z, step)


def kl_terms(x: torch.Tensor) -> tuple[float, float]:
    """The divergences of the Gaussian and the categorical latents by loops over images, latents and categories."""
    model = model_of()
    head = model.bottleneck
    assert isinstance(head, JointHead)
    features = model.encoder(x)
    means, logs = head.numbers.mean(features).tolist(), head.numbers.log_variance(features).tolist()
    logits = np.array(head.logits(features).tolist()).reshape(6, 2, 4)
    numbers = sum(
        0.5 * (m * m + math.exp(s) - s - 1) for row in zip(means, logs, strict=True) for m, s in zip(*row, strict=True)
    )
    categories = 0.0
    for image in logits:
        for latent in image:
            p = np.exp(latent) / np.exp(latent).sum()
            categories += sum(value * math.log(value / 0.25) for value in p)
    return numbers / 6, categories / 6


def test_each_kl_term_is_held_to_its_capacity(x):
    terms, (numbers, categories) = terms_of(METHOD, x), kl_terms(x)
    assert terms["capacity"].item() == pytest.approx(7 * abs(numbers - 3.0), rel=1e-4)
    assert terms["categorical_capacity"].item() == pytest.approx(5 * abs(categories - 1.0), rel=1e-4)
    assert set(terms) == {"reconstruction", "capacity", "categorical_capacity"}


def test_capacities_grow_and_that_of_categories_ends_at_what_they_can_hold(x):
    grown = JointVAE(
        gamma=7,
        categorical_gamma=5,
        capacity=Schedule(0, 10, 100),
        categorical_capacity=Schedule(0, 50, 100),
        categorical=2,
        categories=4,
        loss="mse",
    )
    numbers, categories = kl_terms(x)
    for step, number_room, category_room in (
        (0, 0, 0),
        (4, 0.4, 2.0),
        (50, 5, 2 * math.log(4)),
        (500, 10, 2 * math.log(4)),
    ):
        terms = terms_of(grown, x, step)
        assert terms["capacity"].item() == pytest.approx(7 * abs(numbers - number_room), rel=1e-4)
        assert terms["categorical_capacity"].item() == pytest.approx(5 * abs(categories - category_room), rel=1e-4)


def test_diagnostics_are_the_kl_terms(x):
    model = model_of()
    q, z = METHOD.infer(model, Batch(x), 0, torch.Generator())
    found = METHOD.diagnostics(model, q, z, 0)
    numbers, categories = kl_terms(x)
    assert found["kl"].item() == pytest.approx(numbers, rel=1e-4)
    assert found["categorical_kl"].item() == pytest.approx(categories, rel=1e-4)


def test_the_decoder_is_given_numbers_and_relaxed_one_hot_vectors(x):
    model = model_of()
    q, z = METHOD.infer(model, Batch(x), 0, torch.Generator().manual_seed(2))
    assert isinstance(q, Joint)
    assert z.shape == (6, 3 + 2 * 4)
    relaxed = z[:, 3:].unflatten(1, (2, 4))
    torch.testing.assert_close(relaxed.sum(-1), torch.ones(6, 2))
    noise = torch.Generator().manual_seed(2)
    torch.empty(6, 3).normal_(generator=noise)  # of the numbers
    uniform_logs = torch.empty(6, 2, 4).exponential_(generator=noise)
    weights = (q.logits - uniform_logs.log()).div(0.67).exp()
    torch.testing.assert_close(relaxed, weights / weights.sum(-1, keepdim=True))


def test_samples_have_each_category_as_often_as_it_is_likely():
    logits = torch.tensor([0.1, 0.3, 0.6]).log().expand(20_000, 1, 3)
    from unweave.nets.categorical import relaxed

    drawn = relaxed(logits, 0.67, torch.Generator().manual_seed(0)).argmax(-1)
    np.testing.assert_allclose(np.bincount(drawn.flatten(), minlength=3) / 20_000, [0.1, 0.3, 0.6], atol=0.012)


def test_codes_hold_the_most_likely_category_and_are_decoded_as_one_hot(trained_and_opened):
    run, opened = trained_and_opened(JointVAE(categories=3, loss="mse"), steps=5, latents=4)
    assert opened.categories == (0, 0, 0, 3)
    images = opened.data.images(range(40))
    codes, logs = opened.posterior(images)
    assert logs is not None
    head = run.model.bottleneck
    assert isinstance(head, JointHead)
    with torch.inference_mode():
        logits = head.logits(run.model.encoder(run.model.pixels(images)))
    assert codes[:, 3].tolist() == logits.argmax(1).tolist()
    assert np.isneginf(logs[:, 3]).all()
    assert np.isfinite(logs[:, :3]).all()
    z = np.concatenate([codes[:, :3], np.eye(3, dtype=np.float32)[codes[:, 3].astype(int)]], axis=1)
    with torch.inference_mode():
        expected = run.model.images(run.model.decode(torch.from_numpy(z)))
    np.testing.assert_array_equal(opened.decode(codes), expected)
    np.testing.assert_array_equal(opened.decode(codes + np.array([0, 0, 0, 0.4])), expected)  # the nearest category


def test_two_kinds_of_image_get_a_category_each(tmp_path):
    """With nothing to say by numbers, the reconstruction alone teaches the category to tell them apart."""
    rng = np.random.default_rng(0)
    kinds, labels = rng.random((2, 8, 8, 1)) > 0.5, rng.integers(2, size=400)
    data = unweave.data.Table((kinds[labels] * 255).astype(np.uint8), labels[:, None])
    method = JointVAE(categories=2, capacity=0.0, categorical_gamma=0.0, loss="bce")
    run = unweave.train(method, data=data, steps=250, batch=32, net="mlp", width=0.1, latents=2, out=tmp_path)
    named = run.encode(data.images(range(400)))[:, 1]
    assert abs(np.corrcoef(named, labels)[0, 1]) == pytest.approx(1)


def test_wrong_settings_are_refused():
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"categorical": 0}, "categorical must be at least 1"),
        ({"categories": 1}, "categories must be at least 2"),
        ({"temperature": 0.0}, "temperature must be"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"categorical_gamma": -1.0}, "categorical_gamma must be"),
        ({"categorical_capacity": -1.0}, "categorical_capacity must be"),
    ]
    for settings, words in wrong:
        with pytest.raises(UsageError, match=words):
            JointVAE(**settings)


def test_a_net_without_a_number_is_refused(tmp_path):
    with pytest.raises(UsageError, match="needs a Gaussian latent: with"):
        unweave.train(JointVAE(categorical=2), data="xysquares:size=32", latents=2, steps=1, out=tmp_path / "run")


def test_labels_are_for_latents_that_are_numbers(tmp_path):
    with pytest.raises(UsageError, match="numeric latents, not 5"):
        unweave.train(
            JointVAE(), data="xysquares:size=32", latents=6, steps=1, labels=Labels(count=10), out=tmp_path / "run"
        )
