"""The adaptive triplet autoencoder."""

from __future__ import annotations

from dataclasses import dataclass

from unweave.methods.ada_triplet import AdaptiveTriplet
from unweave.methods.tae import TAE


@dataclass(frozen=True)
class AdaTAE(AdaptiveTriplet, TAE):
    r"""Ada-TAE [Michlo2022]_, section 5.4: reconstruction + scale * adaptive triplet loss of deterministic codes."""
