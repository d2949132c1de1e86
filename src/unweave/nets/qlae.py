"""The networks of QLAE: three convolutions per stage, and a decoder that is modulated by codes."""

from __future__ import annotations

from torch import nn

from unweave.nets.body import Body, Shape, fan_in_uniform, image_shape
from unweave.nets.conv import doubled, halvings, odd, scaled
from unweave.nets.modulated import ModulatedDecoder, Modulation, Steered

CHANNELS = (32, 64, 128, 256)
HIDDEN = 256
SLOPE = 0.2
EPS = 1e-6
START = 0.1
"""Initial value of the constant picture."""


def qlae(shape: Shape, latents: int, width: float) -> Body:
    """Return encoder and decoder of [Hsu2023]_, after the authors' code, for images of any size.

    Encoder: each stage has two 3 × 3 convolutions and a 4 × 4 convolution of stride 2, each normalised per image and
    channel; then 256 and 256 units. Decoder: 256 and 256 units, then the stages in reverse order, with a modulation
    after each convolution.
    """
    height, breadth, channels = image_shape(shape)
    count = halvings(height, breadth)
    inner = (height >> count, breadth >> count)
    stages = [scaled(CHANNELS[min(stage, len(CHANNELS) - 1)], width) for stage in range(count)]
    hidden = scaled(HIDDEN, width)

    down: list[nn.Module] = []
    for before, after in zip([channels, *stages], stages, strict=False):
        for layer in (_conv(before, after), _conv(after, after), nn.Conv2d(after, after, 4, 2, 1, bias=False)):
            down += [layer, nn.GroupNorm(after, after, eps=EPS), nn.LeakyReLU(SLOPE, inplace=True)]
    flat = stages[-1] * inner[0] * inner[1]
    encoder = nn.Sequential(*down, nn.Flatten(), *_dense(flat, hidden))

    ends = doubled(height, breadth, count)
    up = [
        _up(before, after, hidden, odd(sides))
        for before, after, sides in zip([stages[-1], *stages[:0:-1]], stages[::-1], ends, strict=True)
    ]
    up[-1].append(_conv(stages[0], channels))
    condition = nn.Sequential(*_dense(latents, hidden))
    return Body(encoder, ModulatedDecoder(condition, up, (stages[-1], *inner), START), hidden, fan_in_uniform)


def _up(before: int, after: int, units: int, more: tuple[int, int]) -> Steered:
    """Return a stage of the decoder, which doubles the sides of the picture and adds `more` pixels."""
    layers: list[nn.Module] = []
    widening = nn.ConvTranspose2d(after, after, 4, 2, 1, more, bias=False)
    for layer in (_conv(before, after), _conv(after, after), widening):
        # Scales and shifts are rectified, as in the authors' code.
        styles = nn.Sequential(nn.Linear(units, 2 * after), nn.ReLU(inplace=True))
        layers += [layer, nn.LeakyReLU(SLOPE, inplace=True), Modulation(styles, offset=0.0, eps=EPS)]
    return Steered(layers)


def _conv(before: int, after: int) -> nn.Conv2d:
    return nn.Conv2d(before, after, 3, padding=1, bias=False)


def _dense(before: int, hidden: int) -> list[nn.Module]:
    return [nn.Linear(before, hidden), nn.ReLU(inplace=True), nn.Linear(hidden, hidden), nn.ReLU(inplace=True)]
