"""The networks against the published tables: layers, sizes, parameter counts, initialisation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from unweave.errors import UsageError
from unweave.nets import NETS, Gaussian, Model, Net
from unweave.nets.conv import halvings


def build(name: str = "conv", shape=(64, 64, 3), latents: int = 10, width: float = 1.0, seed: int = 0) -> Model:
    return Net(name, latents, width).build(shape, torch.Generator().manual_seed(seed))


def layers(module: nn.Module, kind: type[nn.Module]) -> list:
    return [layer for layer in module.modules() if isinstance(layer, kind)]


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize(
    ("shape", "latents"), [((64, 64, 1), 10), ((32, 32, 3), 1), ((128, 128, 1), 1), ((48, 64, 3), 10)]
)
def test_every_net_maps_images_to_posteriors_and_back(name, shape, latents):
    model = build(name, shape, latents, width=0.05)
    images = np.random.default_rng(0).integers(0, 256, (2, *shape), dtype=np.uint8)
    x = model.pixels(images)
    q = model.encode(x)
    assert isinstance(q, Gaussian)
    assert q.mean.shape == q.log_variance.shape == (2, latents)
    assert model.decode(q.mean).shape == x.shape == (2, shape[2], shape[0], shape[1])


def test_conv_is_the_table_of_the_thesis():
    """Table A.1: four 4 × 4 convolutions of 32, 32, 64, 64 channels, 256, and the mirror image."""
    model = build("conv", (64, 64, 3), latents=9)
    down, up = layers(model.encoder, nn.Conv2d), layers(model.decoder, nn.ConvTranspose2d)
    assert [(c.in_channels, c.out_channels) for c in down] == [(3, 32), (32, 32), (32, 64), (64, 64)]
    assert [(c.in_channels, c.out_channels) for c in up] == [(64, 64), (64, 32), (32, 32), (32, 3)]
    assert {c.kernel_size for c in [*down, *up]} == {(4, 4)}
    assert {c.stride for c in [*down, *up]} == {(2, 2)}
    assert [(c.in_features, c.out_features) for c in layers(model.encoder, nn.Linear)] == [(1024, 256)]
    assert [(c.in_features, c.out_features) for c in layers(model.decoder, nn.Linear)] == [
        (9, 256),
        (256, 1024),
    ]


@pytest.mark.parametrize(("side", "flat"), [(64, 1600), (32, 1600), (128, 1600), (48, 64 * 4 * 4)])
def test_disent_is_conv_padded_by_two(side, flat):
    """As in the thesis' code: 64, 33, 17, 9, 5 pixels, so that 5 × 5 × 64 = 1600 numbers go to 256."""
    model, plain = build("disent", (side, side, 3)), build("conv", (side, side, 3))
    assert {c.padding for c in layers(model.encoder, nn.Conv2d)} == {(2, 2)}
    assert [(c.in_features, c.out_features) for c in layers(model.encoder, nn.Linear)] == [(flat, 256)]
    shapes = [[p.shape for p in each.decoder.parameters()] for each in (model, plain)]
    assert shapes[0] == shapes[1]


def test_dlib_is_the_net_of_disentanglement_lib():
    model = build("dlib", (64, 64, 1))
    down = layers(model.encoder, nn.Conv2d)
    assert [c.kernel_size[0] for c in down] == [4, 4, 2, 2]
    assert [c.out_channels for c in down] == [32, 32, 64, 64]
    # Counted by hand from the published layers (weights and biases) for one channel and ten latents.
    encoder = (16 + 1) * 32 + (16 * 32 + 1) * 32 + (4 * 32 + 1) * 64 + (4 * 64 + 1) * 64 + (1024 + 1) * 256
    heads = 2 * (256 + 1) * 10
    decoder = (10 + 1) * 256 + (256 + 1) * 1024
    decoder += (16 * 64 + 1) * 64 + (16 * 64 + 1) * 32 + (16 * 32 + 1) * 32 + (16 * 32 + 1) * 1
    assert sum(p.numel() for p in model.parameters()) == encoder + heads + decoder


def test_mlp_is_the_fully_connected_pair():
    model = build("mlp", (64, 64, 1))
    widths = [(c.in_features, c.out_features) for c in layers(model, nn.Linear)]
    encoder, heads = [(4096, 1200), (1200, 1200)], [(1200, 10), (1200, 10)]
    assert widths == [*encoder, *heads, (10, 1200), (1200, 1200), (1200, 1200), (1200, 4096)]


@pytest.mark.parametrize(("name", "uniform"), [("dlib", True), ("conv", False)])
def test_weights_have_glorots_variance_and_biases_are_zero(name, uniform):
    model = build(name)
    for label, parameter in model.named_parameters():
        if label.endswith("bias"):
            assert not parameter.any()
            continue
        area = parameter[0, 0].numel() if parameter.ndim == 4 else 1
        variance = 2 / ((parameter.shape[0] + parameter.shape[1]) * area)
        if parameter.numel() > 2000:
            assert parameter.var().item() == pytest.approx(variance, rel=0.1), label
        bound = math.sqrt(3 * variance)
        assert (parameter.abs().max().item() <= bound) == uniform or parameter.numel() < 2000, label


def test_initialisation_comes_from_the_generator_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = build(seed=5)
    assert torch.equal(before, torch.get_rng_state())
    second, third = build(seed=5), build(seed=6)
    states = [torch.cat([p.flatten() for p in model.parameters()]) for model in (first, second, third)]
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])


def test_the_decoder_depends_on_every_latent_and_reaches_every_pixel():
    model = build("conv", (32, 32, 3), latents=4)
    z = torch.randn(1, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    out = model.decode(z)
    out.square().sum().backward()
    assert z.grad is not None
    assert (z.grad != 0).all()
    moved = model.decode(z + 1) != out
    assert moved.all()


def test_pixels_are_standardised_and_come_back():
    model = build(shape=(32, 32, 3))
    images = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    plain = model.pixels(images)
    assert plain.is_contiguous(memory_format=torch.channels_last)
    np.testing.assert_allclose(plain.permute(0, 2, 3, 1).numpy(), images / 255, atol=1e-6)
    mean, deviation = [0.1, 0.5, 0.2], [0.5, 0.25, 2.0]
    model.set_pixel_scale(mean, deviation)
    expected = (images / 255 - np.array(mean)) / np.array(deviation)
    np.testing.assert_allclose(model.pixels(images).permute(0, 2, 3, 1).numpy(), expected, atol=1e-5)
    np.testing.assert_array_equal(model.images(model.pixels(images)), images)


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("sides", [(16, 16), (17, 31), (33, 64), (50, 50), (97, 97), (218, 178), (255, 256)])
def test_every_size_from_16_pixels_comes_back(net, sides):
    model = build(net, (*sides, 3), width=0.05)
    with torch.inference_mode():
        x = model.pixels(np.zeros((1, *sides, 3), np.uint8))
        assert model.encode(x).mean.shape == (1, model.latents)
        assert model.decode(torch.zeros(1, model.latents)).shape == x.shape


def test_how_often_sides_are_halved():
    assert [halvings(side, side) for side in (16, 32, 64, 128, 256, 48, 80, 100)] == [2, 3, 4, 5, 6, 4, 4, 2]
    assert [halvings(side, side) for side in (17, 31, 50, 98, 250)] == [2, 2, 3, 4, 5]
    assert halvings(218, 178) == 5


@pytest.mark.parametrize("shape", [(7, 7, 1), (65, 15, 3), (4, 4, 1)])
def test_images_that_are_too_small_are_refused(shape):
    with pytest.raises(UsageError, match="needs sides of at least 16 pixels"):
        build("conv", shape)
    assert build("mlp", shape, width=0.01).shape == shape


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "cnov"}, "did you mean 'conv'"),
        ({"name": "conv:depth=2"}, "the net 'conv' has no options, but 'conv:depth=2' gives some"),
        ({"latents": 0}, "at least one"),
        ({"width": -1.0}, "positive"),
    ],
)
def test_wrong_settings_are_one_clear_line(arguments, message):
    with pytest.raises(UsageError, match=message):
        Net(**arguments)


def test_width_scales_channels_and_units():
    half = build("conv", width=0.5)
    assert [c.out_channels for c in layers(half.encoder, nn.Conv2d)] == [16, 16, 32, 32]
    tiny = build("conv", width=0.001)
    assert [c.out_channels for c in layers(tiny.encoder, nn.Conv2d)] == [1, 1, 1, 1]


@pytest.mark.parametrize("name", ["additive:groups=1", "conv", "disent", "dlib", "mlp"])
@pytest.mark.parametrize("depth", [2, 3])
def test_a_deeper_net_has_more_layers_of_the_same_size(name, depth):
    shape = (32, 32, 3)
    plain, deep = (Net(name, 4, 0.1, depth=each).build(shape, torch.Generator().manual_seed(0)) for each in (1, depth))
    for part in ("encoder", "decoder"):
        kinds = (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)
        few, many = ([m for m in getattr(model, part).modules() if isinstance(m, kinds)] for model in (plain, deep))
        added = (2 if part == "encoder" else 3) if name == "mlp" else halvings(32, 32)
        assert len(many) == len(few) + added * (depth - 1)
    q = deep.encode(deep.pixels(np.zeros((2, *shape), np.uint8)))
    assert isinstance(q, Gaussian)
    assert deep.decode(q.mean).shape == (2, 3, 32, 32)


def test_depth_is_counted_by_hand():
    """A hidden layer of 120 units more in the encoder's and the decoder's each: 2 + 3 times 120 * 120 + 120."""
    counts = [
        sum(p.numel() for p in Net("mlp", 4, 0.1, depth=depth).build((8, 8, 1), torch.Generator()).parameters())
        for depth in (1, 2)
    ]
    assert counts[1] - counts[0] == 5 * (120 * 120 + 120)


@pytest.mark.parametrize("depth", [0, -1, 21, 1.5, True])
def test_a_depth_that_is_none(depth):
    with pytest.raises(UsageError, match="integer from 1 to 20"):
        Net("mlp", depth=depth)


def test_nets_of_one_depth():
    with pytest.raises(UsageError, match="these do: additive, broadcast, conv, disent, dlib, mlp"):
        Net("qlae", depth=2)
