"""Whether a model uses any of its latents, and what to say where it does not."""

from __future__ import annotations

import numpy as np

UNUSED_KL = 0.01
"""Mean KL in nats below which a latent carries nothing worth looking at."""
UNUSED_VARIANCE = 1e-6
"""The same of a latent that is a point, and has no KL: the variance of its code over images."""


def carried(means: np.ndarray, log_variances: np.ndarray | None) -> np.ndarray:
    """Return what each latent carries, (latents,), over images: its mean KL in nats or, of a point, its variance.

    The KL divergence of a posterior N(m, v) from the prior N(0, 1) is (m² + v - log v - 1) / 2 nats.
    """
    means = means.astype(np.float64)
    if log_variances is None:
        return means.var(axis=0)
    logs = log_variances.astype(np.float64)
    return (0.5 * (means**2 + np.exp(logs) - logs - 1)).mean(axis=0)


def used(carries: np.ndarray, points: bool) -> np.ndarray:
    """Return which latents carry anything."""
    return carries >= (UNUSED_VARIANCE if points else UNUSED_KL)


def collapse(carries: np.ndarray, points: bool) -> str | None:
    """Return a sentence or two about a model none of whose latents carries anything, with what to try; else None."""
    if used(carries, points).any():
        return None
    if points:
        return (
            "This model has collapsed: no latent varies, so that all images have the same code. "
            "Try more steps, a lower learning rate (--lr) or another seed."
        )
    return (
        f"This model has collapsed: no latent carries anything (none has a mean KL of {UNUSED_KL} nats), so that all "
        "images have the same code. Try a lower weight of the KL term (beta), a warm-up of it (such as --beta 0:4@50%) "
        "or more steps."
    )
