"""The networks of QLAE and Tripod: layers and sizes as published, modulation by its formula, what a decoder shows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import unweave
from unweave.nets import Model, Net
from unweave.nets.modulated import ModulatedDecoder, Modulation

LATENTS = 12


def build(name: str, shape=(64, 64, 3), width: float = 1.0) -> Model:
    return Net(name, LATENTS, width).build(shape, torch.Generator().manual_seed(0), "point")


def decoder_of(model: Model) -> ModulatedDecoder:
    assert isinstance(model.decoder, ModulatedDecoder)
    return model.decoder


def layers(module: nn.Module, kind: type[nn.Module]) -> list:
    return [layer for layer in module.modules() if isinstance(layer, kind)]


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_qlae_has_three_convolutions_a_stage():
    model = build("qlae")
    down = layers(model.encoder, nn.Conv2d)
    assert [c.out_channels for c in down] == [size for size in (32, 64, 128, 256) for _ in range(3)]
    assert [(c.kernel_size[0], c.stride[0]) for c in down] == [(3, 1), (3, 1), (4, 2)] * 4
    up = [c for c in model.decoder.modules() if isinstance(c, nn.Conv2d | nn.ConvTranspose2d)]
    assert [c.out_channels for c in up] == [size for size in (256, 128, 64, 32) for _ in range(3)] + [3]
    assert [(c.kernel_size[0], c.stride[0]) for c in up] == [(3, 1), (3, 1), (4, 2)] * 4 + [(3, 1)]


def test_qlae_has_as_many_weights_as_its_layers():
    """Counted by hand from the published widths; convolutions have no biases, normalisations two numbers a channel."""
    model = build("qlae")
    encoder, before = 0, 3
    for size in (32, 64, 128, 256):
        encoder += 9 * before * size + 9 * size**2 + 16 * size**2 + 3 * 2 * size
        before = size
    encoder += (256 * 4 * 4 + 1) * 256 + (256 + 1) * 256
    decoder, before = 256 * 4 * 4 + (LATENTS + 1) * 256 + (256 + 1) * 256, 256
    for size in (256, 128, 64, 32):
        decoder += 9 * before * size + 9 * size**2 + 16 * size**2 + 3 * (256 + 1) * 2 * size
        before = size
    decoder += 9 * 32 * 3
    assert (count(model.encoder), count(model.decoder)) == (encoder, decoder)


def test_tripod_has_as_many_weights_as_its_layers():
    model = build("tripod")
    encoder, before = 0, 3
    for size in (32, 64, 128, 256):
        first = (9 * before + 1) * size + (9 * size + 1) * size + 4 * size  # two convolutions, two normalisations
        second = 2 * (9 * size + 1) * size + 4 * size
        skip = (before + 1) * size if before != size else 0
        encoder += first + skip + second + (4 * size + 1) * 2 * size
        before = 2 * size
    encoder += (512 + 1) * 512 + 2 * 512
    decoder = 512 * 4 * 4 + (LATENTS + 1) * 256 + (256 + 1) * 256 + 4 * 256
    for size, after in ((512, 256), (256, 128), (128, 64), (64, 3)):
        decoder += 4 * ((9 * size + 1) * size + (256 + 1) * 2 * size) + (9 * size + 1) * after
    assert (count(model.encoder), count(model.decoder)) == (encoder, decoder)


def test_a_modulation_is_its_formula():
    generator = torch.Generator().manual_seed(0)
    x, condition = torch.randn(2, 3, 4, 5, generator=generator), torch.randn(2, 6, generator=generator)
    styles = nn.Linear(6, 6)
    found = Modulation(styles, offset=1.0, eps=1e-6)(x, condition).detach().numpy()
    given = (condition @ styles.weight.T + styles.bias).detach().numpy()
    for image in range(2):
        for channel in range(3):
            pixels = x[image, channel].numpy()
            normalised = (pixels - pixels.mean()) / np.sqrt(pixels.var() + 1e-6)
            expected = (1 + given[image, channel]) * normalised + given[image, 3 + channel]
            np.testing.assert_allclose(found[image, channel], expected, atol=1e-5)


@pytest.mark.parametrize(("name", "value"), [("qlae", 0.1), ("tripod", 1.0)])
def test_the_decoder_starts_from_a_constant_picture_and_normalisations_from_one(name, value):
    model = build(name, (32, 32, 1), width=0.1)
    decoder = decoder_of(model)
    assert not decoder.moves.any()
    assert decoder.value == value
    assert (decoder.moves.shape[1:]) == (4, 4)
    for layer in model.modules():
        if isinstance(layer, nn.GroupNorm | nn.LayerNorm):
            assert (layer.weight == 1).all()
            assert not layer.bias.any()


@pytest.mark.parametrize("name", ["qlae", "tripod"])
def test_hidden_are_the_conditions_and_every_stage_but_the_last(name):
    model = build(name, width=0.05)
    decoder = decoder_of(model)
    seen: list[Tensor] = []
    for part in [decoder.condition, *decoder.stages]:
        part.register_forward_hook(lambda module, inputs, output: seen.append(output.clone()))
    z = torch.randn(2, LATENTS, generator=torch.Generator().manual_seed(1))
    images = model.decode(z)
    assert torch.equal(images, seen.pop())
    assert [tuple(layer.shape[2:]) for layer in seen] == [(), (8, 8), (16, 16), (32, 32)]
    hidden = decoder.hidden(z)
    assert len(hidden) == 4
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(hidden, seen[:4], strict=True))


@pytest.mark.parametrize("name", ["qlae", "tripod"])
def test_every_latent_reaches_the_image(name):
    model = build(name, (32, 32, 3), width=0.2)
    z = torch.randn(1, LATENTS, generator=torch.Generator().manual_seed(0), requires_grad=True)
    model.decode(z).square().sum().backward()
    assert z.grad is not None
    assert (z.grad != 0).all()


@pytest.mark.parametrize("name", ["qlae", "tripod"])
def test_they_learn(name, tmp_path):
    options = {"steps": 24, "batch": 6, "width": 0.1, "threads": 1, "log_every": 4, "out": tmp_path / "run"}
    run = unweave.train(name, data="xysquares:size=32", net=name, **options)
    loss = run.log()["reconstruction"].to_numpy()
    assert loss[-1] < 0.9 * loss[0]


@pytest.mark.parametrize("name", ["qlae", "tripod"])
def test_half_precision_is_near(name):
    model = build(name, (32, 32, 1), width=0.1)
    x = torch.rand(2, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    exact = model.decode(model.encode(x).mean)
    with torch.autocast("cpu", torch.bfloat16):
        near = model.decode(model.encode(x).mean)
    assert (near.float() - exact).norm() < 0.1 * exact.norm()
