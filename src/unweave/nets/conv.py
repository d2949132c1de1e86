"""Convolutional encoders and decoders: table A.1 of the thesis, the same with the padding of its code, and dlib's.

All halve the image until a side is at most four pixels, or odd: four times at 64 × 64, three at 32, five at 128. If
that allows fewer than two halvings, as at 50 × 50, sides are halved and rounded down until one is below eight (25, 12,
6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import nn

from unweave.errors import UsageError
from unweave.nets.body import Body, Shape, glorot_normal, glorot_uniform, image_shape

HIDDEN = 256
SMALLEST = 4
LEAST = 16


def conv(shape: Shape, latents: int, width: float, depth: int = 1) -> Body:
    """Return the net of table A.1 of the thesis [Michlo2022]_: every kernel 4 × 4, stride 2, padding 1.

    Glorot normal weights and zero biases, as in the code of the thesis.
    """
    encoder, decoder, features = _pair(shape, latents, width, depth, kernels=(4, 4, 4, 4))
    return Body(encoder, decoder, features, glorot_normal)


def disent(shape: Shape, latents: int, width: float, depth: int = 1) -> Body:
    """Return `conv` with the padding of the thesis' code: two pixels, so 64 × 64 becomes 5 × 5 × 64 = 1600 features."""
    encoder, decoder, features = _pair(shape, latents, width, depth, kernels=(4, 4, 4, 4), more_padding=1)
    return Body(encoder, decoder, features, glorot_normal)


def dlib(shape: Shape, latents: int, width: float, depth: int = 1) -> Body:
    """Return disentanglement_lib's net [Locatello2019]_: from the third stage on, the encoder's kernels are 2 × 2.

    Glorot uniform weights and zero biases: TensorFlow 1's defaults.
    """
    encoder, decoder, features = _pair(shape, latents, width, depth, kernels=(4, 4, 2, 2))
    return Body(encoder, decoder, features, glorot_uniform)


def _pair(
    shape: Shape, latents: int, width: float, depth: int, kernels: Sequence[int], more_padding: int = 0
) -> tuple[nn.Module, nn.Module, int]:
    """Return encoder, decoder and the number of features; `more_padding` applies only to the encoder.

    There are `depth` - 1 convolutions of 3 × 3 after each that halves the image, and before each that doubles it.
    """
    height, breadth, channels = image_shape(shape)
    count = halvings(height, breadth)
    inner = (height >> count, breadth >> count)
    stages = [scaled(32 if stage < 2 else 64, width) for stage in range(count)]
    hidden = scaled(HIDDEN, width)
    flat = stages[-1] * inner[0] * inner[1]

    down: list[nn.Module] = []
    sides = (height, breadth)
    for stage, (before, after) in enumerate(zip([channels, *stages], stages, strict=False)):
        kernel = kernels[min(stage, len(kernels) - 1)]
        padding = (kernel - 2) // 2 + more_padding
        down += [nn.Conv2d(before, after, kernel, 2, padding), nn.ReLU(inplace=True), *_more(after, depth)]
        sides = tuple((side + 2 * padding - kernel) // 2 + 1 for side in sides)
    flattened = nn.Linear(stages[-1] * math.prod(sides), hidden)
    encoder = nn.Sequential(*down, nn.Flatten(), flattened, nn.ReLU(inplace=True))

    # The decoder mirrors the encoder: 64 -> 64, 32, 32, C at 64 × 64.
    up: list[nn.Module] = []
    ends = doubled(height, breadth, count)
    for before, after, sides in zip(stages[::-1], [*stages[-2::-1], channels], ends, strict=True):
        doubling = nn.ConvTranspose2d(before, after, 4, 2, 1, output_padding=odd(sides))
        up += [*_more(before, depth), doubling, nn.ReLU(inplace=True)]
    decoder = nn.Sequential(
        nn.Linear(latents, hidden),
        nn.ReLU(inplace=True),
        nn.Linear(hidden, flat),
        nn.ReLU(inplace=True),
        nn.Unflatten(1, (stages[-1], *inner)),
        *up[:-1],
    )
    return encoder, decoder, hidden


def _more(channels: int, depth: int) -> list[nn.Module]:
    """Return the convolutions that make a stage deeper, which keep the size of the image."""
    pairs = [(nn.Conv2d(channels, channels, 3, 1, 1), nn.ReLU(inplace=True)) for _ in range(depth - 1)]
    return [layer for pair in pairs for layer in pair]


def halvings(height: int, breadth: int) -> int:
    """Return how often a convolutional net halves an image: until a side is at most four pixels, or odd.

    If that is less than twice, sides are halved and rounded down until one is below eight.
    """
    count = 0
    while math.gcd(height, breadth) % 2 ** (count + 1) == 0 and min(height, breadth) >> count > SMALLEST:
        count += 1
    if count >= 2:
        return count
    if min(height, breadth) < LEAST:
        raise UsageError(
            f"a convolutional net needs sides of at least {LEAST} pixels, not {height} × {breadth}: "
            "resize the images, or use the net 'mlp'"
        )
    return int(math.log2(min(height, breadth) / SMALLEST))


def doubled(height: int, breadth: int, count: int) -> list[tuple[int, int]]:
    """Return height and width after each stage of a decoder, the last being those of the image."""
    return [(height >> stage, breadth >> stage) for stage in range(count - 1, -1, -1)]


def odd(sides: tuple[int, int]) -> tuple[int, int]:
    """Return, for each side, the pixel to add after doubling: 1 if the side is odd, otherwise 0."""
    return sides[0] % 2, sides[1] % 2


def scaled(units: int, width: float) -> int:
    """Return `units` times `width`, at least one."""
    return max(1, round(units * width))
