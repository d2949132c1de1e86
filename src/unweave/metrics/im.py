"""The I_m score of a sample, as if codes and factors were Gaussian."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.gaussian.im import MOST_FACTORS, im_score
from unweave.metrics.correlation import standardised
from unweave.metrics.inputs import check, varying
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled, by_rows

RIDGE = 1e-9
"""Variance of the noise that keeps information finite, where that of each latent and factor is 1."""


@metric("Vu et al. 2024", "compactness", range=(0.0, inf), continuous=True, categories="none")
def im(codes: ArrayLike, factors: ArrayLike) -> Sampled[float]:
    r"""I_m [Vu2024]_ of a sample, in nats from 0 up: does each latent encode its own group of factors?

        I_m = max over assignments of factors to groups, one for each latent, of
              sum over i of I(z_i; v_Si) - sum over i < j of I(v_Si; v_Sj)

    with the information of Gaussians with the sample's correlations.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k), at most 12; values are numbers and may be continuous.

    Returns
    -------
    float
        The score, in nats. It grows with the number of factors. `unweave.gaussian.im_score` gives the groups too.

    Notes
    -----
    A constant latent has no information; a factor with a single value is left out. Exact dependence would
    give infinite information: noise of variance 1e-9 is added to standardised codes and factors, so that a latent that
    the factors determine counts about 10 nats. Invariant to the order of latents, factors or rows and to the sign,
    scale and shift of a latent.

    References
    ----------
    .. [Vu2024] Vu, Wei and Wan, "Investigating Disentanglement in beta-VAE within a Linear Gaussian Setting", talk,
       2024.

    Examples
    --------
    >>> from unweave.metrics import im
    >>> round(im([[0.0], [1.0], [0.0], [1.0]], [[0], [1], [0], [1]]), 1)
    10.0
    """
    values, labels = _prepare(codes, factors)
    s = labels.shape[1]
    return by_rows(_im, values, labels, replicates=200 if s <= 8 else 20 if s <= 10 else 5)


def _prepare(codes: ArrayLike, factors: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    values, labels = check(codes, factors, continuous=True)
    labels = labels[:, varying(labels)]
    if labels.shape[1] > MOST_FACTORS:
        raise UsageError(f"I_m goes through all partitions of at most {MOST_FACTORS} factors, got {labels.shape[1]}")
    return values, labels.astype(np.float64)


def _im(codes: np.ndarray, factors: np.ndarray) -> float:
    varies = (factors != factors[0]).any(axis=0)
    if not varies.any():  # constant within a subset
        return 0.0
    z, v = standardised(codes), standardised(factors[:, varies])
    sigma_x = (1 + RIDGE) * np.eye(z.shape[1])  # only its diagonal counts
    sigma_v = v.T @ v + RIDGE * np.eye(v.shape[1])
    return im_score(sigma_x, z.T @ v, sigma_v).value
