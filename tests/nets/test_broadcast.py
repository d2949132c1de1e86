"""The spatial broadcast decoder against loops, and what it does when the picture's coordinates move."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from unweave.errors import UsageError
from unweave.nets import Model, Net
from unweave.nets.broadcast import BroadcastDecoder
from unweave.nets.hidden import hidden_activations


def build(shape=(16, 20, 3), latents: int = 4, width: float = 0.2, depth: int = 1) -> Model:
    return Net("broadcast", latents, width, depth).build(shape, torch.Generator().manual_seed(0))


def decoder_of(model: Model) -> BroadcastDecoder:
    assert isinstance(model.decoder, BroadcastDecoder)
    return model.decoder


def convolved(picture: np.ndarray, layer: nn.Conv2d) -> np.ndarray:
    """A 3 × 3 convolution of (channels, H, W), one pixel at a time, with zeros around the picture."""
    weight, bias = layer.weight.detach().numpy().astype(float), layer.bias
    assert bias is not None
    channels, height, breadth = picture.shape
    padded = np.zeros((channels, height + 2, breadth + 2))
    padded[:, 1:-1, 1:-1] = picture
    found = np.empty((len(weight), height, breadth))
    for i in range(height):
        for j in range(breadth):
            window = padded[:, i : i + 3, j : j + 3]
            found[:, i, j] = (weight * window).sum((1, 2, 3)) + bias.detach().numpy()
    return found


def test_it_is_what_loops_over_pixels_make_of_a_code_and_of_coordinates():
    model = build()
    z = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)
    found = model.decode(torch.from_numpy(z)).detach().numpy()
    layers = [layer for layer in model.decoder.modules() if isinstance(layer, nn.Conv2d)]
    for row in range(2):
        picture = np.empty((6, 16, 20))
        for i in range(16):
            for j in range(20):
                picture[:, i, j] = [*z[row], -1 + 2 * i / 15, -1 + 2 * j / 19]
        for layer in layers[:-1]:
            picture = np.maximum(convolved(picture, layer), 0)
        np.testing.assert_allclose(found[row], convolved(picture, layers[-1]), atol=1e-5)


@pytest.mark.parametrize(("depth", "border"), [(1, 3), (2, 5)])
@pytest.mark.parametrize("shift", [(0, 3), (4, 0), (2, 5)])
def test_where_coordinates_move_the_picture_moves_with_them(shift, depth, border):
    """All that a pixel knows of its place are its coordinates: move these, and the same picture is drawn elsewhere.

    A border of one pixel for each convolution is left out, for it sees the zeros around the picture.
    """
    decoder = decoder_of(build((24, 24, 3), depth=depth)).double()
    z = torch.randn(2, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    places = decoder.places(z)
    pixel = 2 / 23
    moved = places - pixel * torch.tensor(shift, dtype=torch.float64)[:, None, None]
    with torch.no_grad():
        before, after = decoder.render(z, places), decoder.render(z, moved)
    down, across = shift
    inside = slice(border, -border)
    kept = before[:, :, : 24 - down, : 24 - across][:, :, inside, inside]
    found = after[:, :, down:, across:][:, :, inside, inside]
    torch.testing.assert_close(found, kept, atol=1e-10, rtol=0)
    assert (before - after).abs().max() > 1e-3  # it did move


def test_without_coordinates_every_pixel_inside_is_the_same():
    decoder = decoder_of(build((24, 24, 3)))
    z = torch.randn(2, 4, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        picture = decoder.render(z, torch.zeros(2, 24, 24))[:, :, 3:-3, 3:-3]
        drawn = decoder(z)[:, :, 3:-3, 3:-3]
    assert picture.flatten(2).std(2).max() < 1e-6
    assert drawn.flatten(2).std(2).min() > 1e-3


def test_its_layers_and_weights_are_counted_by_hand():
    model = build((64, 64, 3), latents=10, width=1.0)
    layers = [layer for layer in model.decoder.modules() if isinstance(layer, nn.Conv2d)]
    assert [(c.in_channels, c.out_channels) for c in layers] == [(12, 64), (64, 64), (64, 3)]
    assert {(c.kernel_size, c.stride) for c in layers} == {((3, 3), (1, 1))}
    weights = (9 * 12 + 1) * 64 + (9 * 64 + 1) * 64 + (9 * 64 + 1) * 3
    assert sum(p.numel() for p in model.decoder.parameters()) == weights
    deep = [layer for layer in build(depth=3).decoder.modules() if isinstance(layer, nn.Conv2d)]
    assert len(deep) == 2 * 3 + 1


def test_every_code_reaches_every_pixel_and_hidden_layers_are_seen():
    model = build()
    z = torch.randn(2, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    model.decode(z).square().sum().backward()
    assert z.grad is not None
    assert (z.grad != 0).all()
    assert all(p.grad is not None and p.grad.any() for p in model.decoder.parameters())
    with torch.no_grad():
        hidden = hidden_activations(model.decoder, z, torch.clone)
    assert [tuple(layer.shape) for layer in hidden.values()] == [(2, 13, 16, 20)] * 2


def test_vectors_are_refused():
    with pytest.raises(UsageError, match="takes images, not vectors of 7 features"):
        build((7,))
