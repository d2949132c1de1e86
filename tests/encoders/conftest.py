from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from unweave.data import Table


class Tiny(nn.Module):
    """A convolution, an activation that works in place, and a linear layer."""

    def __init__(self, channels: int = 3) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, 4, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)
        self.dropout = nn.Dropout(0.5)
        self.linear = nn.Linear(4, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(self.dropout(self.relu(self.conv(x)).mean((2, 3))))


@pytest.fixture
def tiny() -> Tiny:
    torch.manual_seed(123)
    return Tiny()


class Counting:
    """A function on images that counts those it is given."""

    def __init__(self) -> None:
        self.images = 0
        self.batches: list[int] = []

    def __call__(self, images: np.ndarray) -> np.ndarray:
        self.images += len(images)
        self.batches.append(len(images))
        return images.reshape(len(images), -1)[:, :4].astype(np.float32)


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def data() -> Table:
    rng = np.random.default_rng(0)
    return Table(rng.integers(0, 256, (40, 8, 8, 3), dtype=np.uint8), rng.integers(0, 3, (40, 2)), names=["a", "b"])
