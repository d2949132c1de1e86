"""Decoders that are modulated by codes: a constant picture is shaped stage by stage, as by the styles of StyleGAN."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional


class Modulation(nn.Module):
    """Instance normalisation whose scale and shift are computed from a condition [Huang2017]_.

    `styles` turns conditions (n, units) into (n, 2 * channels); `offset` is added to the scale.
    """

    def __init__(self, styles: nn.Module, offset: float, eps: float) -> None:
        super().__init__()
        self.styles = styles
        self.offset = offset
        self.eps = eps

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Return (offset + scale) * (x - mean) / deviation + shift, with moments over the pixels of each channel."""
        scale, shift = self.styles(condition)[:, :, None, None].chunk(2, 1)
        return functional.group_norm(x, x.shape[1], eps=self.eps) * (self.offset + scale) + shift


class Steered(nn.ModuleList):
    """A sequence of layers; those that take a condition get it."""

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Return the output of the last layer."""
        for layer in self:
            x = layer(x, condition) if isinstance(layer, Steered | Modulation) else layer(x)
        return x


class SteeredResidual(Steered):
    """A sequence of layers with a skip connection."""

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """Return x plus the output of the last layer."""
        return x + super().forward(x, condition)


class ModulatedDecoder(nn.Module):
    """Turns codes into conditions, which shape a learnt constant picture into images, by stages [Karras2019]_."""

    def __init__(
        self, condition: nn.Module, stages: Iterable[Steered], start: tuple[int, int, int], value: float
    ) -> None:
        super().__init__()
        self.condition = condition
        self.stages = nn.ModuleList(stages)
        # The parameter is the offset from the initial picture: all parameters but weight matrices start at zero.
        self.moves = nn.Parameter(torch.empty(start))
        self.value = value

    def hidden(self, z: Tensor) -> list[Tensor]:
        """Return the conditions, and the output of every stage but the last, for codes (n, latents)."""
        return self._walk(z)[:-1]

    def forward(self, z: Tensor) -> Tensor:
        """Return images (n, C, H, W)."""
        return self._walk(z)[-1]

    def _walk(self, z: Tensor) -> list[Tensor]:
        condition = self.condition(z)
        found, x = [condition], (self.value + self.moves).expand(len(z), -1, -1, -1)
        for stage in self.stages:
            x = stage(x, condition)
            found.append(x)
        return found
