"""The β-TVAE: a β-VAE whose codes keep the order of distances between factor values."""

from __future__ import annotations

from dataclasses import dataclass

from unweave.methods.beta_vae import BetaVAE
from unweave.methods.triplets import Triplets


@dataclass(frozen=True)
class BetaTVAE(Triplets, BetaVAE):
    r"""beta-TVAE [Michlo2022]_, eq. 5.12: beta-VAE + scale * triplet loss of the posterior means of (a, p, n)."""
