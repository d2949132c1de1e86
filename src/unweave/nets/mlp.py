"""Fully connected encoder and decoder, for vectors, small images and quick trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from torch import nn

from unweave.nets.body import Body, Shape, glorot_uniform, tensor_shape
from unweave.nets.conv import scaled

HIDDEN = 1200


def mlp(shape: Shape, latents: int, width: float, depth: int = 1) -> Body:
    """Return the fully connected nets of [Higgins2017]_: encoder 1200-1200 ReLU, decoder 1200-1200-1200 tanh.

    `depth` multiplies the number of these layers.
    """
    values, hidden = math.prod(shape), scaled(HIDDEN, width)
    down, up = [values, *[hidden] * (2 * depth)], [latents, *[hidden] * (3 * depth)]
    encoder = nn.Sequential(nn.Flatten(), *_layers(down, lambda: nn.ReLU(inplace=True)))
    decoder = nn.Sequential(
        *_layers(up, nn.Tanh),
        nn.Linear(hidden, values),
        nn.Unflatten(1, tensor_shape(shape)),
    )
    return Body(encoder, decoder, hidden, glorot_uniform)


def _layers(sizes: list[int], activation: Callable[[], nn.Module]) -> Iterator[nn.Module]:
    for before, after in pairwise(sizes):
        yield nn.Linear(before, after)
        yield activation()
