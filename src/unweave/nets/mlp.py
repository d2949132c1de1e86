"""Fully connected encoder and decoder, for vectors, small images and quick trials."""

from __future__ import annotations

import math

from torch import nn

from unweave.nets.body import Body, Shape, glorot_uniform, tensor_shape
from unweave.nets.conv import scaled

HIDDEN = 1200


def mlp(shape: Shape, latents: int, width: float) -> Body:
    """Return the fully connected pair of [Higgins2017]_: 1200-1200 ReLU, and back 1200-1200-1200 tanh."""
    values, hidden = math.prod(shape), scaled(HIDDEN, width)
    encoder = nn.Sequential(
        nn.Flatten(),
        nn.Linear(values, hidden),
        nn.ReLU(inplace=True),
        nn.Linear(hidden, hidden),
        nn.ReLU(inplace=True),
    )
    decoder = nn.Sequential(
        nn.Linear(latents, hidden),
        nn.Tanh(),
        nn.Linear(hidden, hidden),
        nn.Tanh(),
        nn.Linear(hidden, hidden),
        nn.Tanh(),
        nn.Linear(hidden, values),
        nn.Unflatten(1, tensor_shape(shape)),
    )
    return Body(encoder, decoder, hidden, glorot_uniform)
