"""Losses with a learnt spread of each value around its mean: full negative log-likelihoods in nats.

The decoder's output is (n, 2, …): one number for each value, and a parameter of the spread, which is learnt for each
pixel or feature and is the same for all codes.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from unweave.losses.pixelwise import total
from unweave.variances import inverse_variance


def gaussian(x: Tensor, output: Tensor) -> Tensor:
    """Gaussian: sum_i [(x_i - m_i)^2 / v_i + log v_i + log 2 pi] / 2, with the learnt parameter log v_i."""
    mean, log_variance = output.float().unbind(1)
    distance = (x - mean).square() * inverse_variance(log_variance)
    return total(distance + log_variance + math.log(2 * math.pi)) / 2


def first(output: Tensor) -> Tensor:
    """Return the decoder's output for each value, without the spread."""
    return output[:, 0]


def with_unit_spread(values: Tensor) -> Tensor:
    """Return the output for these values with a spread parameter of 0: a variance, or a dispersion, of 1."""
    return torch.stack([values, torch.zeros_like(values)], 1)
