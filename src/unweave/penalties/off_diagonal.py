"""Sums outside the diagonal of matrices."""

from __future__ import annotations

import torch
from torch import Tensor


def off_diagonal_squares(matrices: Tensor) -> Tensor:
    """Return the sum of squares outside the diagonals of matrices (…, a, b): never negative, unlike a difference."""
    diagonal = torch.eye(*matrices.shape[-2:], dtype=torch.bool, device=matrices.device)
    return matrices.masked_fill(diagonal, 0).square().sum()
