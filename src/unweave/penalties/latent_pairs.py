"""Pairs of latents, for penalties that compare two at a time."""

from __future__ import annotations

import torch
from torch import Tensor


def draw_pairs(latents: int, count: int | None, generator: torch.Generator | None) -> Tensor:
    """Return `count` distinct pairs of latents (2, count) on the CPU; at most all pairs, and all if it is None."""
    every = torch.triu_indices(latents, latents, offset=1)
    if count is None:
        return every
    order = torch.randperm(every.shape[1], generator=generator)
    return every[:, order[:count].sort().values]
