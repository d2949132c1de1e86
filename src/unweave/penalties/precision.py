"""The precision of penalties: in half precision their sums would be too coarse, and squares would overflow."""

from __future__ import annotations

import torch
from torch import Tensor


def at_least_single(tensor: Tensor) -> Tensor:
    """Return float16 and bfloat16 as float32; float32 and float64 stay as they are."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
