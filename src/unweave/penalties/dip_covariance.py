"""The penalties of DIP-VAE: the covariance of codes should be that of the prior, the identity."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from unweave.penalties.checks import check_posteriors
from unweave.penalties.off_diagonal import off_diagonal_squares
from unweave.penalties.precision import at_least_single


class DIPCovariance(NamedTuple):
    """Distance of a covariance from the identity, as two scalars."""

    off_diagonal: Tensor
    """sum_{i≠j} C_ij^2."""
    diagonal: Tensor
    """sum_i (C_ii - 1)^2."""


def dip_covariance(mean: Tensor, log_variance: Tensor | None = None) -> DIPCovariance:
    r"""Distance of the covariance C of codes from the identity [Kumar2018]_, eq. 6 and 7.

        off_diagonal = sum_{i≠j} C_ij^2        diagonal = sum_i (C_ii - 1)^2

        DIP-I:   C = Cov[mean]                      without `log_variance`
        DIP-II:  C = Cov[mean] + E[diag(variance)]  with it: the covariance of samples

    Parameters
    ----------
    mean
        Posterior means, or any codes: floats (n, latents). Their covariance is divided by n.
    log_variance
        Log-variances of the posteriors, (n, latents), for DIP-II.

    Returns
    -------
    DIPCovariance
        `off_diagonal` and `diagonal`: scalars with a gradient. DIP-VAE adds lambda_od times the first and lambda_d
        times the second to the objective of a VAE.

    Notes
    -----
    Invariant to the order of rows and latents, and to shifts.

    References
    ----------
    .. [Kumar2018] Kumar, Sattigeri and Balakrishnan, "Variational Inference of Disentangled Latent Concepts from
       Unlabeled Observations", ICLR 2018.

    Examples
    --------
    >>> import torch
    >>> from unweave.penalties import dip_covariance
    >>> white = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> [part.item() for part in dip_covariance(white)]
    [0.0, 0.0]
    >>> [part.item() for part in dip_covariance(2 * white)]
    [0.0, 18.0]
    """
    check_posteriors(mean, log_variance)
    covariance = covariance_of(at_least_single(mean))
    if log_variance is not None:
        covariance = covariance + at_least_single(log_variance).exp().mean(0).diag()
    return DIPCovariance(off_diagonal_squares(covariance), (covariance.diagonal() - 1).square().sum())


def covariance_of(codes: Tensor) -> Tensor:
    """Return the covariance (latents, latents) of a batch's codes (n, latents), divided by n."""
    centred = codes - codes.mean(0)
    with torch.autocast(codes.device.type, enabled=False):  # a product in bfloat16 would be too coarse
        return centred.T @ centred / len(codes)
