"""Hausdorff factorised support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unweave.errors import UsageError
from unweave.methods.base import Batch
from unweave.methods.beta_vae import BetaVAE
from unweave.nets import Model, Posterior
from unweave.schedules import Scheduled, value_at


@dataclass(frozen=True)
class HFS(BetaVAE):
    r"""HFS [Roth2023]_: beta-VAE + gamma sum_{i<j} max_{(a, b) in Z_i x Z_j} min_{z in Z} |(a, b) - (z_i, z_j)|^2.

    Z are the batch's posterior means, Z_i their values of latent i. Where every combination of two latents' values is
    in the batch, the term is zero, however unevenly they occur.
    """

    min_batch: ClassVar[int] = 2

    beta: Scheduled = 1.0
    """Weight of the KL term; a number, or a schedule such as 1:4@10000."""
    gamma: Scheduled = 1.0
    """Weight of the distance between the support of pairs of latents and the product of their supports."""
    delta: Scheduled = 0.0
    """Weight of a term that keeps codes from shrinking: sum_j max(0, 1 - deviation of latent j in the batch)."""
    pairs: int = 25
    """Pairs of latents a step, drawn at each step; all of them, if there are no more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_not_negative("gamma", "delta")
        if self.pairs < 1:
            raise UsageError(f"pairs must be at least 1, not {self.pairs}")

    def terms(self, model: Model, batch: Batch, q: Posterior, z: Tensor, step: int) -> dict[str, Tensor]:
        """Return the terms of the beta-VAE, the distance of supports and the scale term."""
        chosen = draw_pairs(model.latents, self.pairs, batch.choices).to(q.mean.device)
        terms = super().terms(model, batch, q, z, step)
        terms["support"] = value_at(self.gamma, step) * support_distances(q.mean, chosen).sum()
        if self.delta:
            terms["scale"] = value_at(self.delta, step) * shrinkage(q.mean)
        return terms


def draw_pairs(latents: int, count: int, choices: torch.Generator) -> Tensor:
    """Return `count` distinct pairs of latents (2, count), or all if there are no more."""
    every = torch.triu_indices(latents, latents, offset=1)
    order = torch.randperm(every.shape[1], generator=choices)
    return every[:, order[:count].sort().values]


def support_distances(codes: Tensor, pairs: Tensor) -> Tensor:
    """Return for each pair (i, j) the largest squared distance of a point of Z_i x Z_j from the nearest code.

    Only the two codes that make the farthest point, and the one nearest to it, have a gradient: they are found first,
    without one.
    """
    first, second = codes.T[pairs]  # (pairs, n) each
    a, b, c = _farthest(first.detach(), second.detach())
    return (first.gather(1, a) - first.gather(1, c)).square() + (second.gather(1, b) - second.gather(1, c)).square()


def _farthest(first: Tensor, second: Tensor) -> Tensor:
    """Return for each pair a and b of the point (first_a, second_b) farthest from all codes, and its nearest code c."""
    places = first.new_empty((3, len(first), 1), dtype=torch.long)
    for pair, (x, y) in enumerate(zip(first, second, strict=True)):  # one at a time: a pair takes n^3 numbers
        distances = (x[:, None] - x).square()[:, None] + (y[:, None] - y).square()  # (a, b, c)
        nearest, codes = distances.flatten(0, 1).min(1)
        point = nearest.argmax(0, keepdim=True)
        places[:, pair] = torch.stack([point // len(x), point % len(x), codes[point]])
    return places


def shrinkage(codes: Tensor) -> Tensor:
    """Return sum_j max(0, 1 - deviation of code j over the batch)."""
    deviation = (codes.var(0, correction=0) + 1e-6).sqrt()
    return (1 - deviation).clamp(min=0).sum()
