"""A small convolutional autoencoder of images, as a function of its weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor
from torch.nn.functional import conv2d, conv_transpose2d, pad, relu

WIDTHS = (16, 32, 32, 32, 32, 32, 32)
"""Channels after each halving of the image."""
SMALLEST = 4
"""Halving stops at or before this height and width."""
KERNEL = 4

Shapes = dict[str, tuple[int, ...]]


def autoencoder_shapes(channels: int, depth: int) -> Shapes:
    """Return the shapes of all weights: `depth` convolutions that halve the image, and `depth` that double it."""
    widths = (channels, *WIDTHS[:depth])
    shapes: Shapes = {}
    for layer in range(depth):
        narrow, wide = widths[layer : layer + 2]
        shapes[f"down.{layer}.weight"] = (wide, narrow, KERNEL, KERNEL)
        shapes[f"down.{layer}.bias"] = (wide,)
        shapes[f"up.{layer}.weight"] = (wide, narrow, KERNEL, KERNEL)
        shapes[f"up.{layer}.bias"] = (narrow,)
    return shapes


def autoencoder_depth(height: int, width: int) -> int:
    """Return how often images of this size are halved."""
    return min(len(WIDTHS), max(1, math.ceil(math.log2(max(height, width) / SMALLEST))))


def initial_autoencoder(channels: int, depth: int, generator: torch.Generator) -> dict[str, Tensor]:
    """Return random weights that preserve the scale of values from layer to layer, and biases of 0."""
    return dict(_initial(autoencoder_shapes(channels, depth), generator))


def _initial(shapes: Shapes, generator: torch.Generator) -> Iterator[tuple[str, Tensor]]:
    for name, shape in shapes.items():
        if name.endswith("bias"):
            yield name, torch.zeros(shape)
            continue
        # At each pixel, a doubling convolution sums a quarter of its taps.
        inputs = shape[1] * KERNEL**2 if name.startswith("down") else shape[0] * KERNEL**2 / 4
        yield name, torch.randn(shape, generator=generator) * math.sqrt(2 / inputs)


def autoencode(images: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    """Return the output of an autoencoder for images (n, C, H, W), in the same shape; images are padded with zeros."""
    depth = len(weights) // 4
    height, width = images.shape[-2:]
    right, below = (-side % 2**depth for side in (width, height))
    hidden = pad(images, (0, right, 0, below))
    for layer in range(depth):
        hidden = relu(conv2d(hidden, *_layer(weights, f"down.{layer}"), stride=2, padding=1))
    for layer in reversed(range(depth)):
        hidden = conv_transpose2d(hidden, *_layer(weights, f"up.{layer}"), stride=2, padding=1)
        hidden = relu(hidden) if layer else hidden
    return hidden[..., :height, :width]


def _layer(weights: Mapping[str, Tensor], name: str) -> tuple[Tensor, Tensor]:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]
