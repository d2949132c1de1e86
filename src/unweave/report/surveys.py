"""What the latents of a run carry, measured on random images, and whether that is anything at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.report.protocols import Floats, RunLike

UNUSED_KL = 0.01
"""Mean KL in nats below which a latent carries nothing worth looking at."""
UNUSED_VARIANCE = 1e-6
"""The same of a latent that is a point, and has no KL: the variance of its code over images."""
FEW_VALUES = 12
"""A latent that takes no more values than this is a quantised one: each of its values is looked at."""
CHUNK = 256
"""Images held at once while surveying a run."""


@dataclass(frozen=True)
class Survey:
    """Codes and factors of random images, and the mean KL of every latent over them, where there is a posterior."""

    codes: Floats  # (n, latents)
    factors: NDArray[np.int64]  # (n, factors)
    kl: Floats | None  # (latents,), in nats; None of codes that are points

    @property
    def carried(self) -> Floats:
        """What a latent carries, (latents,): its mean KL in nats or, of a point, the variance of its code."""
        return self.codes.var(axis=0) if self.kl is None else self.kl

    @property
    def order(self) -> NDArray[np.int64]:
        """The latents, most informative first; equal ones by their number."""
        return np.argsort(-self.carried, kind="stable")

    @property
    def used(self) -> NDArray[np.int64]:
        """The latents that carry anything, most informative first."""
        least = UNUSED_VARIANCE if self.kl is None else UNUSED_KL
        return self.order[self.carried[self.order] >= least]

    def values(self, latent: int, columns: int) -> Floats:
        """Return the values to look at of a latent that is a point, in order.

        All that it takes, where they are few; otherwise even steps between its 1 % and 99 % quantiles.
        """
        taken = np.unique(self.codes[:, latent])
        if len(taken) <= FEW_VALUES:
            return taken
        low, high = np.quantile(self.codes[:, latent], [0.01, 0.99])
        return np.linspace(low, high, columns)


def survey(run: RunLike, *, samples: int = 512, seed: int = 0) -> Survey:
    """Encode distinct random images and measure what each latent carries.

    The KL divergence of a latent's posterior N(m, v) from the prior N(0, 1), averaged over the images:
    (m² + v - log v - 1) / 2 nats. Codes that are points have none.
    """
    rng = np.random.default_rng(seed)
    indices = rng.choice(len(run.data), size=min(samples, len(run.data)), replace=False)
    parts = [indices[start : start + CHUNK] for start in range(0, len(indices), CHUNK)]
    posteriors = [run.posterior(run.data.images(part)) for part in parts]
    means = np.concatenate([mean for mean, _ in posteriors]).astype(np.float64)
    found = [spread for _, spread in posteriors if spread is not None]
    if not found:
        return Survey(means, run.data.values(indices), None)
    logs = np.concatenate(found).astype(np.float64)
    kl = 0.5 * (means**2 + np.exp(logs) - logs - 1)
    return Survey(means, run.data.values(indices), kl.mean(axis=0))


def collapse(seen: Survey) -> str | None:
    """Return a sentence or two about a model none of whose latents carries anything, with what to try; else None."""
    if len(seen.used):
        return None
    if seen.kl is None:
        return (
            "This model has collapsed: no latent varies, so that all images have the same code. "
            "Try more steps, a lower learning rate (--lr) or another seed."
        )
    return (
        f"This model has collapsed: no latent carries anything (none has a mean KL of {UNUSED_KL} nats), so that all "
        "images have the same code. Try a lower weight of the KL term (beta), a warm-up of it (such as --beta 0:4@50%) "
        "or more steps."
    )
