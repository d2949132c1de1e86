"""Losses that compare images (n, C, H, W) pixel by pixel: for each of them -log p(x|z) in nats, up to a constant."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

PIXELS = (1, 2, 3)
"""The axes of an image."""


def bce(x: Tensor, logits: Tensor) -> Tensor:
    """Bernoulli: -sum_i x_i log s(l_i) + (1 - x_i) log(1 - s(l_i)), with s the logistic function."""
    return functional.binary_cross_entropy_with_logits(logits.float(), x, reduction="none").sum(PIXELS)


def mse(x: Tensor, mean: Tensor) -> Tensor:
    """Gaussian of variance one half: sum_i (x_i - m_i)^2."""
    return functional.mse_loss(mean.float(), x, reduction="none").sum(PIXELS)


def mae(x: Tensor, mean: Tensor) -> Tensor:
    """Laplace of scale one: sum_i |x_i - m_i|."""
    return functional.l1_loss(mean.float(), x, reduction="none").sum(PIXELS)


def sigmoid(logits: Tensor) -> Tensor:
    """Return the mean of a Bernoulli pixel."""
    return torch.sigmoid(logits)


def identity(mean: Tensor) -> Tensor:
    """Return the mean of a Gaussian pixel: the output itself."""
    return mean
