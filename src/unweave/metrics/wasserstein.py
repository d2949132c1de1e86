"""The distance of codes from independent ones, for Gaussian codes."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.correlation import standardised
from unweave.metrics.inputs import check_codes
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import OneHot
from unweave.metrics.resampling import Sampled, by_rows


class WassersteinIndependence(NamedTuple):
    """The squared distance, in the squared units of the codes, and its share of their total variance."""

    distance: float
    normalised: float


@metric("Locatello et al. 2019", "independence", range=(0.0, inf), higher_is_better=False)
def wasserstein_independence(codes: ArrayLike, *, categorical: Sequence[int] = ()) -> Sampled[WassersteinIndependence]:
    r"""Squared Wasserstein-2 distance of Gaussian codes from independent ones: how dependent are the latents? From 0.

        distance = 2 tr S - 2 tr ( D^1/2 S D^1/2 )^1/2,    normalised = distance / tr S

    where S is the covariance of the codes and D its diagonal: the distance of N(0, S) from N(0, D) [Dowson1982]_, as
    [Locatello2019]_ compute it for posterior means and for samples of the posterior.

    Parameters
    ----------
    codes
        Codes (n, d).
    categorical
        Columns of codes, counted from 0, that hold categories: they become one-hot; covariances within one latent's
        columns do not count as dependence.

    Returns
    -------
    WassersteinIndependence
        distance, and normalised, which is below 2 (at most 2 - 2 / sqrt(d) for codes of one variance).

    Notes
    -----
    Codes that are all constant have 0. Latents of large variance weigh most. Invariant to the order of
    latents or rows and to the sign and shift of a latent; `normalised` also to a common scale of all latents.

    References
    ----------
    .. [Dowson1982] Dowson and Landau, "The Fréchet Distance between Multivariate Normal Distributions", Journal of
       Multivariate Analysis 1982.
    .. [Locatello2019] Locatello et al., "Challenging Common Assumptions in the Unsupervised Learning of Disentangled
       Representations", ICML 2019.

    Examples
    --------
    >>> from unweave.metrics import wasserstein_independence
    >>> wasserstein_independence([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]).normalised < 1e-15
    True
    """
    values = check_codes(codes)
    read = OneHot.of(values, categorical)
    return by_rows(_wasserstein if read(values) is values else lambda some: _of_blocks(some, read), values)


def _wasserstein(codes: np.ndarray) -> WassersteinIndependence:
    if (codes == codes[0]).all():
        return WassersteinIndependence(0.0, 0.0)
    deviations = codes - codes.mean(axis=0)
    unit = np.abs(deviations).max()  # so that fourth powers do not overflow
    variances = (deviations / unit).var(axis=0, ddof=1)
    columns = standardised(codes)
    eigenvalues, vectors = np.linalg.eigh(columns.T @ columns)
    # With correlations F^T F the eigenvalues of the root are the singular values of F D, whatever the scales in D.
    roots = np.linalg.svd(np.sqrt(np.maximum(eigenvalues, 0.0))[:, None] * vectors.T * variances, compute_uv=False)
    total = float(variances.sum())
    distance = max(0.0, 2 * total - 2 * float(roots.sum()))
    return WassersteinIndependence(distance * float(unit) ** 2, distance / total)


def _of_blocks(codes: np.ndarray, read: OneHot) -> WassersteinIndependence:
    """Return the distance if a latent may be several columns, whose covariances do not count as dependence."""
    columns = read(codes)
    if (columns == columns[0]).all():
        return WassersteinIndependence(0.0, 0.0)
    deviations = columns - columns.mean(axis=0)
    unit = np.abs(deviations).max()
    covariance = np.cov(deviations / unit, rowvar=False).reshape(columns.shape[1], -1)
    code = np.repeat(np.arange(codes.shape[1]), read.widths)
    sizes, axes = np.linalg.eigh(np.where(code[:, None] == code, covariance, 0.0))
    root = (axes * np.sqrt(np.maximum(sizes, 0.0))) @ axes.T
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ covariance @ root), 0.0))
    total = float(np.trace(covariance))
    distance = max(0.0, 2 * total - 2 * float(roots.sum()))
    return WassersteinIndependence(distance * float(unit) ** 2, distance / total)
