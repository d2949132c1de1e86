"""The parts of an architecture: an encoder, a decoder, and the initialisation of their weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unweave.errors import UsageError

Shape = tuple[int, ...]
"""Height, width and channels of an image, or the number of a vector's features."""

Draw = Callable[[Tensor, torch.Generator], Tensor]
"""Fills a weight tensor in place from a generator."""


@dataclass(frozen=True)
class Body:
    """An encoder from images or vectors to features, and a decoder from codes back; not yet initialised."""

    encoder: nn.Module  # (n, C, H, W) or (n, D) -> (n, features)
    decoder: nn.Module  # (n, latents) -> (n, C, H, W) or (n, D)
    features: int
    draw: Draw


Builder = Callable[..., Body]
"""Makes a body from the shape of an input, a number of latents and a width; keyword-only parameters are options."""


def tensor_shape(shape: Shape) -> Shape:
    """Return the shape of one input as a tensor: channels first, or the features of a vector."""
    return (shape[-1], *shape[:-1])


def image_shape(shape: Shape) -> tuple[int, int, int]:
    """Return height, width and channels; for vectors, raise a `UsageError`."""
    if len(shape) != 3:
        raise UsageError(f"a convolutional net takes images, not vectors of {shape[0]:,} features: use the net 'mlp'")
    return shape[0], shape[1], shape[2]


def glorot_normal(weight: Tensor, generator: torch.Generator) -> Tensor:
    """Draw from N(0, 2 / (fan_in + fan_out)) [Glorot2010]_."""
    return nn.init.xavier_normal_(weight, generator=generator)


def glorot_uniform(weight: Tensor, generator: torch.Generator) -> Tensor:
    """Draw from U(-a, a) with a = sqrt(6 / (fan_in + fan_out)) [Glorot2010]_."""
    return nn.init.xavier_uniform_(weight, generator=generator)


def fan_in_uniform(weight: Tensor, generator: torch.Generator) -> Tensor:
    """Draw from U(-a, a) with a = 1 / sqrt(fan_in): the default of torch and of equinox."""
    return nn.init.kaiming_uniform_(weight, a=math.sqrt(5), generator=generator)
