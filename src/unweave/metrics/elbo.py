"""The two terms of the evidence lower bound of a Gaussian posterior."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.inputs import check_codes
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled

LARGEST_LOG = 700.0
"""Larger log variances raise a `UsageError`: their exponentials would overflow."""
LIMITS = (0.0, -inf, -inf), (inf, inf, inf)
"""Of rate, distortion and bound."""


class Elbo(NamedTuple):
    """Rate, distortion and the evidence lower bound, in nats: means over samples."""

    rate: float
    """KL divergence of the posteriors from the prior."""
    distortion: float
    """Reconstruction loss."""
    bound: float


@metric("Kingma & Welling 2014", "likelihood", range=(-inf, inf), higher_is_better=None, categories="none")
def elbo(means: ArrayLike, log_variances: ArrayLike, reconstruction: ArrayLike) -> Sampled[Elbo]:
    r"""Terms of the evidence lower bound [Kingma2014]_, in nats: what do codes cost, and what is lost?

        rate       = mean over samples of sum over latents of 1/2 ( mu^2 + e^lv - lv - 1 )
        distortion = mean over samples of the reconstruction loss
        bound      = - distortion - rate

    for posteriors of mean mu and log variance lv and the standard normal prior.

    Parameters
    ----------
    means, log_variances
        Of the posteriors, (n, d) each.
    reconstruction
        The negative log-likelihood of each sample, (n,), summed over pixels.

    Returns
    -------
    Elbo
        rate, distortion and bound.

    Notes
    -----
    The rate, from 0 up, is the KL divergence without the weight of the objective: a run's log shows β times
    it. It is 0 where every posterior is the prior. Invariant to the order of latents or rows and to the sign of a mean.

    References
    ----------
    .. [Kingma2014] Kingma and Welling, "Auto-Encoding Variational Bayes", ICLR 2014.

    Examples
    --------
    >>> from unweave.metrics import elbo
    >>> elbo([[0.0, 1.0], [0.0, -1.0]], [[0.0, 0.0], [0.0, 0.0]], reconstruction=[3.0, 5.0])
    Elbo(rate=0.5, distortion=4.0, bound=-4.5)
    """
    terms = _terms(means, log_variances, reconstruction)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return subsets.astype(np.float64) @ terms / subsets.sum(axis=1, keepdims=True)

    return Sampled(Elbo(*terms.mean(axis=0).tolist()), len(terms), rescore, limits=LIMITS)


def kl_per_code(means: ArrayLike, log_variances: ArrayLike) -> np.ndarray:
    """Return the KL divergence of each latent's posterior from the prior, in nats: which latents are used, and how
    much.

    Parameters
    ----------
    means, log_variances
        Of the posteriors, (n, d) each.

    Returns
    -------
    numpy.ndarray
        Means over samples, (d,). Their sum is the rate of `elbo`.

    Examples
    --------
    >>> from unweave.metrics import kl_per_code
    >>> kl_per_code([[0.0, 1.0], [0.0, -1.0]], [[0.0, 0.0], [0.0, 0.0]]).tolist()
    [0.0, 0.5]
    """
    return _kl(means, log_variances).mean(axis=0)


def _kl(means: ArrayLike, log_variances: ArrayLike) -> np.ndarray:
    """Return the divergence of every sample's posterior from the standard normal in every latent, (n, d)."""
    mu, logs = check_codes(means, "means"), check_codes(log_variances, "log variances")
    if mu.shape != logs.shape:
        raise UsageError(f"means have shape {mu.shape} but log variances have {logs.shape}")
    if logs.max() > LARGEST_LOG:
        raise UsageError(f"log variances go up to {logs.max():g}: beyond {LARGEST_LOG:g} their exponentials overflow")
    return np.maximum(0.5 * (mu**2 + np.expm1(logs) - logs), 0.0)


def _terms(means: ArrayLike, log_variances: ArrayLike, reconstruction: ArrayLike) -> np.ndarray:
    """Return the terms of every sample, (n, 3)."""
    kl = _kl(means, log_variances).sum(axis=1)
    loss = np.asarray(reconstruction)
    if loss.shape != kl.shape:
        raise UsageError(f"reconstruction must hold a loss for each of the {len(kl)} samples, got shape {loss.shape}")
    loss = check_codes(loss[:, None], "reconstruction losses")[:, 0]
    return np.stack([kl, loss, -loss - kl], axis=1)
