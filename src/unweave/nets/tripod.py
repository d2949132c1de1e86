"""The networks of Tripod: residual blocks, and a decoder that is modulated by codes."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from unweave.nets.body import Body, Shape, fan_in_uniform, image_shape
from unweave.nets.conv import doubled, halvings, scaled
from unweave.nets.modulated import ModulatedDecoder, Modulation, Steered, SteeredResidual

FIRST, LAST = 32, 512
CONDITION = 256
EPS = 1e-5
START = 1.0
"""Initial value of the constant picture."""


class Residual(nn.Module):
    """Two normalised convolutions with a skip connection, which adjusts the number of channels if necessary."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*_normalised(before, after), *_normalised(after, after))
        self.skip = nn.Identity() if before == after else nn.Conv2d(before, after, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return x plus the output of the layers."""
        return self.skip(x) + self.layers(x)


def tripod(shape: Shape, latents: int, width: float) -> Body:
    """Return encoder and decoder of [Hsu2024]_, after the authors' code, for images of any size.

    Encoder: each stage has two residual blocks of two 3 × 3 convolutions, and a 2 × 2 convolution of stride 2; then the
    mean over pixels and 512 units. Decoder: 256 and 256 units; each stage has two modulated residual blocks, doubles
    the picture, and ends with a 3 × 3 convolution.
    """
    height, breadth, channels = image_shape(shape)
    count = halvings(height, breadth)
    inner = (height >> count, breadth >> count)
    sizes = [scaled(min(FIRST << stage, LAST), width) for stage in range(count + 1)]
    units, features = scaled(CONDITION, width), scaled(LAST, width)

    down: list[nn.Module] = []
    for stage, (size, after) in enumerate(pairwise(sizes)):
        down += [Residual(size if stage else channels, size), Residual(size, size), nn.Conv2d(size, after, 2, 2)]
    encoder = nn.Sequential(*down, nn.AdaptiveAvgPool2d(1), nn.Flatten(), *_dense(sizes[-1], features))

    # At 64 × 64 the decoder's stages are 512, 256, 128, 64: those of the encoder without its first.
    widths = sizes[:0:-1]
    up = [
        Steered([_block(size, units), _block(size, units), nn.Upsample(sides), nn.Conv2d(size, after, 3, 1, 1)])
        for size, after, sides in zip(widths, [*widths[1:], channels], doubled(height, breadth, count), strict=True)
    ]
    condition = nn.Sequential(*_dense(latents, units), *_dense(units, units))
    return Body(encoder, ModulatedDecoder(condition, up, (widths[0], *inner), START), features, fan_in_uniform)


def _block(channels: int, units: int) -> SteeredResidual:
    layers: list[nn.Module] = []
    for _ in range(2):
        styles = nn.Linear(units, 2 * channels)
        layers += [nn.Conv2d(channels, channels, 3, 1, 1), Modulation(styles, offset=1.0, eps=EPS), _gelu()]
    return SteeredResidual(layers)


def _normalised(before: int, after: int) -> list[nn.Module]:
    return [nn.Conv2d(before, after, 3, 1, 1), nn.GroupNorm(after, after, eps=EPS), _gelu()]


def _dense(before: int, after: int) -> list[nn.Module]:
    return [nn.Linear(before, after), nn.LayerNorm(after), _gelu()]


def _gelu() -> nn.Module:
    return nn.GELU(approximate="tanh")
