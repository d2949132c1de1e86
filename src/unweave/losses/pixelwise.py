"""Losses that compare value by value: the sum of -log p(x|z) in nats, up to a constant.

Values are the pixels of images (n, C, H, W) or the features of vectors (n, D).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def total(values: Tensor) -> Tensor:
    """Return the sum (n,) over all axes but the first."""
    return values.sum(tuple(range(1, values.ndim)))


def bce(x: Tensor, logits: Tensor) -> Tensor:
    """Bernoulli: -sum_i x_i log s(l_i) + (1 - x_i) log(1 - s(l_i)), with s the logistic function."""
    return total(functional.binary_cross_entropy_with_logits(logits.float(), x, reduction="none"))


def mse(x: Tensor, mean: Tensor) -> Tensor:
    """Gaussian of variance one half: sum_i (x_i - m_i)^2."""
    return total(functional.mse_loss(mean.float(), x, reduction="none"))


def mae(x: Tensor, mean: Tensor) -> Tensor:
    """Laplace of scale one: sum_i |x_i - m_i|."""
    return total(functional.l1_loss(mean.float(), x, reduction="none"))


def sigmoid(logits: Tensor) -> Tensor:
    """Return the mean of a Bernoulli pixel."""
    return torch.sigmoid(logits)


def logit(values: Tensor) -> Tensor:
    """Return the logits of Bernoulli pixels with these means; 0 and 1 are moved by a millionth."""
    return torch.logit(values, eps=1e-6)
