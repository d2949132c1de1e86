"""What an architecture is: an encoder, a decoder, and how their weights are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

Shape = tuple[int, int, int]
"""Height, width and channels of an image."""

Draw = Callable[[Tensor, torch.Generator], Tensor]
"""Fills a weight tensor in place from a generator."""


@dataclass(frozen=True)
class Body:
    """An encoder from images to features and a decoder from codes to images, not yet initialised."""

    encoder: nn.Module  # (n, C, H, W) -> (n, features)
    decoder: nn.Module  # (n, latents) -> (n, C, H, W)
    features: int
    draw: Draw


Builder = Callable[[Shape, int, float], Body]
"""Makes a body from an image shape, a number of latents and a width."""


def glorot_normal(weight: Tensor, generator: torch.Generator) -> Tensor:
    """Draw from N(0, 2 / (fan_in + fan_out)) [Glorot2010]_."""
    return nn.init.xavier_normal_(weight, generator=generator)


def glorot_uniform(weight: Tensor, generator: torch.Generator) -> Tensor:
    """Draw from U(-a, a) with a = sqrt(6 / (fan_in + fan_out)) [Glorot2010]_."""
    return nn.init.xavier_uniform_(weight, generator=generator)


def fan_in_uniform(weight: Tensor, generator: torch.Generator) -> Tensor:
    """Draw from U(-a, a) with a = 1 / sqrt(fan_in): the default of torch and of equinox."""
    return nn.init.kaiming_uniform_(weight, a=math.sqrt(5), generator=generator)
