"""Shift-tolerant trunks of VGG16 and AlexNet [Ghildyal2022]_: dense pooling, then blur and subsampling.

References
----------
.. [Ghildyal2022] Ghildyal and Liu, "Shift-tolerant Perceptual Similarity Metric", ECCV 2022.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import nn
from torch.nn.functional import conv2d, pad

from unweave.encoders.initialising import initialise

VGG16 = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
"""The widths of the convolutions between two poolings."""
BORDER = 2
"""Pixels of reflection padding before the blur."""


class BlurredThinning(nn.Module):
    """Blur each channel by [1 2 1]' [1 2 1] / 16 and keep every second pixel."""

    filt: torch.Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        row = torch.tensor([1.0, 2.0, 1.0])
        self.register_buffer("filt", (row[:, None] * row / 16).repeat(channels, 1, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return maps of about half the height and width."""
        return conv2d(pad(x, (BORDER,) * 4, mode="reflect"), self.filt, stride=2, groups=x.shape[1])


class Trunk(nn.Module):
    """Five slices, each ending in a ReLU, with modules numbered as in the published weights."""

    def __init__(self, slices: Iterable[list[nn.Module]]) -> None:
        super().__init__()
        number = 0
        for position, parts in enumerate(slices, 1):
            layers = nn.Sequential()
            for part in parts:
                layers.add_module(str(number), part)
                number += 1
            self.add_module(f"slice{position}", layers)
        initialise(self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last maps of images (n, 3, H, W), averaged over space."""
        for layers in self.children():
            x = layers(x)
        return x.mean((2, 3))

    @staticmethod
    def renamed(weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Return only the trunk's weights, without those of the learnt distance on top of it."""
        return {name.removeprefix("net."): tensor for name, tensor in weights.items() if name.startswith("net.")}


def vgg16() -> Trunk:
    """Return VGG16 up to its last ReLU, 512 channels."""
    slices, inputs = [], 3
    for widths in VGG16:
        parts: list[nn.Module] = [nn.MaxPool2d(2, 1), BlurredThinning(inputs)] if slices else []
        for outputs in widths:
            parts += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU()]
            inputs = outputs
        slices.append(parts)
    return Trunk(slices)


def alexnet() -> Trunk:
    """Return AlexNet up to its last ReLU, 256 channels; its first convolution has no stride and is subsampled later."""
    return Trunk(
        [
            [nn.Conv2d(3, 64, 11, padding=2), BlurredThinning(64), nn.ReLU()],
            [nn.MaxPool2d(3, 1), BlurredThinning(64), nn.Conv2d(64, 192, 5, padding=2), nn.ReLU()],
            [nn.MaxPool2d(3, 1), BlurredThinning(192), nn.Conv2d(192, 384, 3, padding=1), nn.ReLU()],
            [nn.Conv2d(384, 256, 3, padding=1), nn.ReLU()],
            [nn.Conv2d(256, 256, 3, padding=1), nn.ReLU()],
        ]
    )
