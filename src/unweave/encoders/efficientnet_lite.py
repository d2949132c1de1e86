"""EfficientNet-Lite [Tan2019]_: EfficientNet without squeeze-and-excitation, with ReLU6, stem and head of one width.

References
----------
.. [Tan2019] Tan and Le, "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks", ICML 2019.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import pad

from unweave.encoders.initialising import initialise

STEM, HEAD = 32, 1280


class Stage(NamedTuple):
    """Blocks of one width; the first has the stride."""

    repeats: int
    kernel: int
    stride: int
    expansion: int
    width: int


STAGES = (
    Stage(1, 3, 1, 1, 16),
    Stage(2, 3, 2, 6, 24),
    Stage(2, 5, 2, 6, 40),
    Stage(3, 3, 2, 6, 80),
    Stage(3, 5, 1, 6, 112),
    Stage(4, 5, 2, 6, 192),
    Stage(1, 3, 1, 6, 320),
)
SCALES = {0: (1.0, 1.0), 1: (1.0, 1.1), 2: (1.1, 1.2)}
"""Multipliers of width and of depth, by the number of the variant."""
NAMES = (
    (r"^_conv_stem\.", "stem.conv."),
    (r"^_conv_head\.", "head.conv."),
    (r"^_bn0\.", "stem.norm."),
    (r"^_bn1\.", "head.norm."),
    (r"^_blocks\.", "blocks."),
    (r"\._expand_conv\.", ".expand.conv."),
    (r"\._bn0\.", ".expand.norm."),
    (r"\._depthwise_conv\.", ".depthwise.conv."),
    (r"\._bn1\.", ".depthwise.norm."),
    (r"\._project_conv\.", ".project.conv."),
    (r"\._bn2\.", ".project.norm."),
)
"""From the names of the published weights to those of the modules here."""


class SameConv(nn.Conv2d):
    """A convolution with TensorFlow's padding: outputs ceil(inputs / stride), with an odd padding pixel last."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the maps of `input` (n, C, H, W)."""
        (kernel, _), (stride, _) = self.kernel_size, self.stride
        sides = [max((math.ceil(n / stride) - 1) * stride + kernel - n, 0) for n in input.shape[2:]]
        height, width = ((n // 2, n - n // 2) for n in sides)
        return super().forward(pad(input, (*width, *height)) if any(sides) else input)


def unit(
    inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, active: bool = True
) -> nn.Sequential:
    """Return a convolution, its batch norm and, if `active`, ReLU6."""
    layers: list[tuple[str, nn.Module]] = [
        ("conv", SameConv(inputs, outputs, kernel, stride, groups=groups, bias=False)),
        ("norm", nn.BatchNorm2d(outputs, eps=1e-3)),
    ]
    return nn.Sequential(OrderedDict([*layers, *([("relu", nn.ReLU6())] if active else [])]))


class Block(nn.Module):
    """An inverted bottleneck: expanded, convolved channel by channel, projected, and added if shapes allow."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = inputs * expansion
        self.expand = unit(inputs, inner, 1) if expansion > 1 else nn.Identity()
        self.depthwise = unit(inner, inner, kernel, stride, groups=inner)
        self.project = unit(inner, outputs, 1, active=False)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return maps (n, outputs, H / stride, W / stride)."""
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.adds else y


class EfficientNetLite(nn.Module):
    """The network up to its pooled features (n, 1280), without the classifier."""

    def __init__(self, width: float, depth: float) -> None:
        super().__init__()
        self.stem = unit(3, STEM, 3, 2)
        blocks, inputs = [], STEM
        for number, stage in enumerate(STAGES):
            ends = number in (0, len(STAGES) - 1)  # their depth is never scaled
            outputs = rounded(stage.width * width)
            for k in range(stage.repeats if ends else math.ceil(stage.repeats * depth)):
                blocks.append(Block(inputs, outputs, stage.kernel, 1 if k else stage.stride, stage.expansion))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = unit(inputs, HEAD, 1)
        initialise(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the features of images (n, 3, H, W), averaged over space."""
        return self.head(self.blocks(self.stem(x))).mean((2, 3))

    @staticmethod
    def renamed(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return published weights under the names of the modules, without the classifier."""
        found = {}
        for name, tensor in weights.items():
            for old, new in NAMES:
                name = re.sub(old, new, name)
            if not name.startswith("_fc."):
                found[name] = tensor
        return found


def rounded(channels: float) -> int:
    """Return the multiple of eight nearest to `channels`, but not more than a tenth below it.

    >>> rounded(24 * 1.1), rounded(112 * 1.1)
    (24, 120)
    """
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest + 8 if nearest < 0.9 * channels else nearest


def efficientnet_lite(number: int) -> EfficientNetLite:
    """Return EfficientNet-Lite0, 1 or 2 with random weights."""
    return EfficientNetLite(*SCALES[number])
