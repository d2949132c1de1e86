"""The Ada-TVAE, with triplets ordered by factors or by pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.losses import loss_of
from unweave.methods.ada_triplet import AdaptiveTriplet
from unweave.methods.adaptive import DIFFERENCES
from unweave.methods.base import Batch
from unweave.methods.beta_vae import BetaVAE
from unweave.methods.triplets import Triplets
from unweave.nets import Posterior

CHUNK = 64
"""Pairs of images compared at once."""


@dataclass(frozen=True)
class AdaptiveTripletVAE(AdaptiveTriplet, BetaVAE):
    """A beta-VAE with the adaptive triplet loss."""

    difference: Annotated[str, OneOf(DIFFERENCES)] = "absolute"
    """Difference between two posteriors: absolute (of their means), symmetric-kl or kl."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.difference not in DIFFERENCES:
            raise unknown("difference of posteriors", self.difference, DIFFERENCES)

    def delta(self, anchor: Posterior, negative: Posterior) -> Tensor:
        """Return how far apart the latents of anchors and negatives are."""
        return DIFFERENCES[self.difference](anchor, negative)


@dataclass(frozen=True)
class AdaTVAE(AdaptiveTripletVAE, Triplets):
    r"""Ada-TVAE [Michlo2022]_, eq. 5.22: beta-VAE + scale * adaptive triplet loss of the means of (a, p, n)."""


@dataclass(frozen=True)
class UnsupervisedAdaTVAE(AdaptiveTripletVAE):
    r"""Unsupervised Ada-TVAE [Michlo2022]_, section 5.5: Ada-TVAE on triplets of a batch ordered by their pixels."""

    min_batch: ClassVar[int] = 3

    triplets: int = 512
    """Number of triplets built from each batch."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.triplets < 1:
            raise UsageError(f"triplets must be at least 1, not {self.triplets}")

    def split(self, batch: Batch, q: Posterior, step: int) -> list[Posterior]:
        """Return the posteriors of anchors, positives and negatives, ordered by the reconstruction loss, eq. 5.24."""
        a, p, n = distinct_triples(len(batch.x), self.triplets, batch.choices).to(batch.x.device)
        swap = self.unlikeness(batch.x, a, p) > self.unlikeness(batch.x, a, n)
        rows = (a, torch.where(swap, n, p), torch.where(swap, p, n))
        return [q.rows(row) for row in rows]

    @torch.no_grad()
    def unlikeness(self, x: Tensor, rows: Tensor, others: Tensor) -> Tensor:
        """Return the reconstruction loss between images of x, with the others taken as decoder outputs."""
        loss = loss_of(self.loss)
        output = loss.inverse(x)
        parts = zip(rows.split(CHUNK), others.split(CHUNK), strict=True)
        return torch.cat([loss.distance(x[i], output[j]) for i, j in parts])


def distinct_triples(images: int, count: int, choices: torch.Generator) -> Tensor:
    """Return positions (3, count) in a batch, with three different positions in each column."""
    a, p, n = (torch.randint(images - k, (count,), generator=choices) for k in range(3))
    p = p + (p >= a)
    low, high = torch.minimum(a, p), torch.maximum(a, p)
    n = n + (n >= low)
    return torch.stack([a, p, n + (n >= high)])
