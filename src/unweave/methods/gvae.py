"""VAEs for groups whose shared factors are known: G-VAE and ML-VAE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unweave.data import Dataset
from unweave.errors import UsageError
from unweave.methods.base import Batch
from unweave.methods.shared_posteriors import SharedPosteriors, mean_posterior, product_posterior
from unweave.nets import Gaussian


@dataclass(frozen=True)
class KnownFactorsVAE(SharedPosteriors):
    """A beta-VAE that averages the posteriors of a group, except in the latents of factors that differ.

    Latent j stands for factor j, which differs unless all images agree. Further latents are shared by every group.
    """

    labelled: ClassVar[bool] = True

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` if the data set is not a full grid, or has more factors than there are latents."""
        super().check(data, latents)
        count = len(data.factors.names)
        if count > latents:
            raise UsageError(f"'{data.name}' has {count} factors, so this method needs {count} latents, not {latents}")

    def same(self, members: Sequence[Gaussian], batch: Batch, step: int) -> Tensor:
        """Return all latents except those of factors that differ."""
        assert batch.factors is not None, "the batch is labelled"
        factors = torch.stack(batch.factors.chunk(len(members)))  # (group, n, k)
        same = torch.ones_like(members[0].mean, dtype=torch.bool)
        same[:, : factors.shape[2]] = (factors == factors[0]).all(0)
        return same


@dataclass(frozen=True)
class GVAE(KnownFactorsVAE):
    r"""G-VAE [Hosoya2019]_: beta-VAE on groups, with q = N(mean of m, mean of v) in latents of shared factors."""

    def average(self, members: Sequence[Gaussian]) -> tuple[Tensor, Tensor]:
        """Return the means of the means and of the variances."""
        return mean_posterior(members)


@dataclass(frozen=True)
class MLVAE(KnownFactorsVAE):
    r"""ML-VAE [Bouchacourt2018]_: beta-VAE on groups, with q ∝ (q1 q2 … qk)^(1/k) in latents of shared factors.

    This is the normalised geometric mean, as in disentanglement_lib; the paper's product has k times its precision.
    """

    def average(self, members: Sequence[Gaussian]) -> tuple[Tensor, Tensor]:
        """Return the means weighted by the precisions, and the mean precision."""
        return product_posterior(members)
