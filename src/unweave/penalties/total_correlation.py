"""The KL term split into three parts, including the total correlation, from a batch of Gaussian posteriors."""

from __future__ import annotations

import math
from typing import NamedTuple

from torch import Tensor

from unweave.penalties.checks import check_count, check_posteriors
from unweave.penalties.precision import at_least_single
from unweave.variances import inverse_variance

LOG_2PI = math.log(2 * math.pi)


class KLParts(NamedTuple):
    """The three parts of the mean KL(q(z|x) || N(0, I)), scalars in nats that add up to it."""

    information: Tensor
    """I(x; z)."""
    total_correlation: Tensor
    """KL(q(z) || prod_j q(z_j))."""
    dimension_kl: Tensor
    """sum_j KL(q(z_j) || N(0, 1))."""


def total_correlation(z: Tensor, mean: Tensor, log_variance: Tensor, *, data_size: int | None = None) -> Tensor:
    r"""Total correlation of the latents of Gaussian posteriors [Chen2018]_, in nats.

        KL(q(z) || prod_j q(z_j)) = E_q(z)[log q(z) - sum_j log q(z_j)],    q(z) = mean over images of q(z|x)

    At the sample z_k of image k, with n images in the batch and N in the data set, q is estimated by

        minibatch weighting     q(z_k) ≈ 1/n sum_i q(z_k|x_i)
        stratified sampling     q(z_k) ≈ 1/N q(z_k|x_k) + (N - 1) / (N (n - 1)) sum_{i≠k} q(z_k|x_i)

    and each q(z_j) in the same way.

    Parameters
    ----------
    z
        One sample of each posterior, floats (n, latents).
    mean, log_variance
        The posteriors q(z|x_i) = N(mean_i, diag(exp(log_variance_i))): (n, latents) each.
    data_size
        N, for stratified sampling. None: minibatch weighting. It may be below n if rows are drawn with replacement.

    Returns
    -------
    Tensor
        A scalar with a gradient.

    Notes
    -----
    Invariant to the order of rows and latents, and to shift and scale of a latent. The paper divides the weighted sum
    by N n: a constant without a gradient, which would add (latents - 1) log N here. Its stratified sum gives one random
    other image a different weight; this is the mean over that choice. Both estimates are biased by the batch. Memory
    and time grow with n^2 latents.

    References
    ----------
    .. [Chen2018] Chen, Li, Grosse and Duvenaud, "Isolating Sources of Disentanglement in Variational Autoencoders",
       NeurIPS 2018.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import total_correlation
    >>> line = torch.linspace(-2, 2, 64)[:, None]
    >>> narrow = torch.full((64, 2), -4.0)
    >>> bool(total_correlation(line.expand(64, 2), line.expand(64, 2), narrow) > 1)
    True
    """
    return kl_parts(z, mean, log_variance, data_size=data_size).total_correlation


def kl_parts(z: Tensor, mean: Tensor, log_variance: Tensor, *, data_size: int | None = None) -> KLParts:
    r"""Split the KL term of a VAE into three parts [Chen2018]_, in nats.

        mean KL(q(z|x) || N(0, I)) = I(x; z) + KL(q(z) || prod_j q(z_j)) + sum_j KL(q(z_j) || N(0, 1))

    The first two are estimated from the batch, as described in `total_correlation`. The KL term is exact, and the last
    part is the remainder.

    Parameters
    ----------
    z, mean, log_variance, data_size
        As in `total_correlation`.

    Returns
    -------
    KLParts
        `information`, `total_correlation` and `dimension_kl`: scalars with a gradient.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import kl_parts
    >>> draw = torch.Generator().manual_seed(0)
    >>> mean = torch.randn(32, 3, generator=draw)
    >>> parts = kl_parts(mean + torch.randn(32, 3, generator=draw), mean, torch.zeros(32, 3))
    >>> kl = 0.5 * mean.square().sum(1).mean()
    >>> bool(torch.isclose(sum(parts), kl))
    True
    """
    check_posteriors(mean, log_variance, z)
    if data_size is not None:
        data_size = check_count(data_size, "data_size", 2)
    z, mean, log_variance = at_least_single(z), at_least_single(mean), at_least_single(log_variance)
    densities = log_densities(z, mean, log_variance)
    weights = _log_weights(len(z), data_size, densities)
    own = densities.diagonal().sum(0).mean()  # log q(z|x)
    joint = (weights + densities.sum(2)).logsumexp(1).mean()  # log q(z)
    margins = (weights[:, :, None] + densities).logsumexp(1).sum(1).mean()  # sum_j log q(z_j)
    information, correlation = own - joint, joint - margins
    kl = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1)
    return KLParts(information, correlation, kl.sum(1).mean() - information - correlation)


def log_densities(z: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return log q(z_kj | x_i) for samples k, images i and latents j: (k, i, j)."""
    distance = (z[:, None] - mean).square() * inverse_variance(log_variance)
    return -0.5 * (distance + log_variance + LOG_2PI)


def _log_weights(n: int, data_size: int | None, like: Tensor) -> Tensor:
    """Return the log-weight of the posterior of image i in q(z) at the sample of image k: (k, i)."""
    if data_size is None:
        return like.new_full((n, n), -math.log(n))
    # A sample's own image counts once; the others of the batch represent the rest of the data set.
    own, others = 1 / data_size, (1 - 1 / data_size) / (n - 1)
    weights = like.new_full((n, n), others)
    return weights.fill_diagonal_(own).log()
