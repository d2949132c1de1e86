"""Detect a model that uses none of its latents, or hardly any, and the message for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

UNUSED_KL = 0.01
"""Mean KL in nats below which a latent counts as unused."""
UNUSED_VARIANCE = 1e-6
"""The same for point codes, which have no KL: the variance of the latent over images."""
ACTIVE_VARIANCE = 0.01
"""Variance of its posterior mean over images above which a latent is an active unit [Burda2016]_; the prior's is 1."""


def carried(means: np.ndarray, log_variances: np.ndarray | None, categories: Sequence[int] = ()) -> np.ndarray:
    """Return the information in each latent, (latents,): its mean KL in nats or, for point codes, its variance.

    The KL divergence of a posterior N(m, v) from the prior N(0, 1) is (m² + v - log v - 1) / 2 nats. For a categorical
    latent it is the entropy of its category over images, in nats; `categories` is as in `Run.categories`.
    """
    means = means.astype(np.float64)
    if log_variances is None:
        carries = means.var(axis=0)
    else:
        logs = log_variances.astype(np.float64)
        carries = (0.5 * (means**2 + np.exp(logs) - logs - 1)).mean(axis=0)
    for latent in np.flatnonzero(categories):
        shares = np.unique(means[:, latent], return_counts=True)[1] / len(means)
        carries[latent] = (shares * np.log(1 / shares)).sum()
    return carries


def used(carries: np.ndarray, points: bool, categories: Sequence[int] = ()) -> np.ndarray:
    """Return which latents are used."""
    least = np.full(len(carries), UNUSED_VARIANCE if points else UNUSED_KL)
    least[np.flatnonzero(categories)] = UNUSED_KL
    return carries >= least


def collapse(means: np.ndarray, carries: np.ndarray, points: bool, categories: Sequence[int] = ()) -> str | None:
    """Return a message for a model with no used or no active latent, with what to try; otherwise None.

    Parameters
    ----------
    means
        Posterior means (n, latents) of images, or codes that are points.
    carries
        The information in each latent, (latents,): see `carried`.
    points
        Whether the codes are points. A point code that varies is active.
    categories
        The number of categories of each latent, 0 for a numeric one (the default). A used categorical latent is active.

    Returns
    -------
    str or None
        One or two sentences.
    """
    in_use = used(carries, points, categories)
    if in_use.any():
        categorical = np.flatnonzero(categories)
        return None if points or in_use[categorical].any() or _any_active(means) else NEARLY
    if points:
        return (
            "This model has collapsed: no latent varies, so all images have the same code. "
            "Try more steps, a lower learning rate (--lr) or another seed."
        )
    return (
        f"This model has collapsed: no latent carries information (all have a mean KL below {UNUSED_KL} nats), so all "
        "images have the same code. Try a lower weight of the KL term (beta), a warm-up of it (such as --beta 0:4@50%) "
        "or more steps."
    )


def _any_active(means: np.ndarray) -> bool:
    """Return whether any latent is active; True for a single image, which cannot show it."""
    return len(means) < 2 or bool((means.astype(np.float64).var(axis=0, ddof=1) > ACTIVE_VARIANCE).any())


NEARLY = (
    "This model has nearly collapsed: no latent is active (all posterior means have a variance of at most "
    f"{ACTIVE_VARIANCE} over images), so all images have almost the same code. Try lower weights of its penalties "
    "(beta, gamma) or more steps."
)
