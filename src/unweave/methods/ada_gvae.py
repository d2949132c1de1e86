"""The adaptive VAEs for groups: Ada-GVAE and Ada-ML-VAE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from torch import Tensor

from unweave.errors import UsageError, unknown
from unweave.fields import OneOf, later
from unweave.methods.adaptive import DIFFERENCES, all_but_largest, mean_difference, require_fraction, shared
from unweave.methods.base import Batch
from unweave.methods.shared_posteriors import SharedPosteriors, mean_posterior, product_posterior
from unweave.nets import Gaussian
from unweave.schedules import Scheduled, value_at


@dataclass(frozen=True)
class AdaptiveVAE(SharedPosteriors):
    """A beta-VAE that averages the posteriors of a group in the latents that the group seems to share.

    With more than two images, the difference of a latent is the mean over all pairs of the group.
    """

    eta: Scheduled = 0.5
    """Threshold for shared latents, from 0 (smallest difference, none is shared) to 1 (largest difference)."""
    difference: Annotated[str, OneOf(DIFFERENCES)] = "symmetric-kl"
    """Difference between two posteriors: symmetric-kl, kl (of the first from the second, as published) or absolute."""
    known_count: bool = later(False)
    """Use the known number of changed factors: share all latents but the `changed` that differ most, and ignore eta."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fraction(self, "eta")
        if self.difference not in DIFFERENCES:
            raise unknown("difference of posteriors", self.difference, DIFFERENCES)
        if self.known_count and self.changed is None:
            raise UsageError("known_count needs `changed`, the number of factors that change within a pair")

    def same(self, members: Sequence[Gaussian], batch: Batch, step: int) -> Tensor:
        """Return the latents in which the posteriors are close."""
        delta = mean_difference(members, DIFFERENCES[self.difference])
        if self.known_count and self.changed is not None:
            return all_but_largest(delta, self.changed)
        return shared(delta, value_at(self.eta, step))


@dataclass(frozen=True)
class AdaGVAE(AdaptiveVAE):
    r"""Ada-GVAE [Locatello2020]_: beta-VAE on pairs, with q = N((m1 + m2)/2, (v1 + v2)/2) in the latents they share.

    Also [Michlo2022]_, eq. 2.10 to 2.16. v is the variance: variances are averaged, not standard deviations. For larger
    groups both are means over all images.
    """

    def average(self, members: Sequence[Gaussian]) -> tuple[Tensor, Tensor]:
        """Return the means of the means and of the variances."""
        return mean_posterior(members)


@dataclass(frozen=True)
class AdaMLVAE(AdaptiveVAE):
    r"""Ada-ML-VAE [Locatello2020]_: beta-VAE on pairs, with q1 q2 (normalised) in the latents they share.

    The product is that of [Bouchacourt2018]_ as implemented in disentanglement_lib, with the mean of both precisions:
    1/v = (1/v1 + 1/v2) / 2 and m/v = (m1/v1 + m2/v2) / 2. For larger groups both are means over all images.
    """

    def average(self, members: Sequence[Gaussian]) -> tuple[Tensor, Tensor]:
        """Return the means weighted by the precisions, and the mean precision."""
        return product_posterior(members)
