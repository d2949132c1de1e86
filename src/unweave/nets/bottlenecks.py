"""The table of bottlenecks: to add one, a layer, and a line here."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from unweave.nets.bottleneck import GaussianHead, PointHead
from unweave.nets.quantised import CodebookHead, GridHead

BOTTLENECKS: dict[str, Callable[..., nn.Module]] = {
    "gaussian": GaussianHead,
    "point": PointHead,
    "codebook": CodebookHead,
    "grid": GridHead,
}
"""From the number of features and of latents, and options, to the layer between encoder and decoder."""
