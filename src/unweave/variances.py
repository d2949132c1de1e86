"""Inverse variances of normal distributions, always finite."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def inverse_variance(log_variance: Tensor) -> Tensor:
    """Return exp(-log_variance), or a large finite number where it would overflow.

    An infinite one would make the distance between equal values NaN. The limit leaves room for the product with a
    squared difference.
    """
    limit = 0.9 * math.log(torch.finfo(log_variance.dtype).max)
    return (-log_variance).clamp(max=limit).exp()
