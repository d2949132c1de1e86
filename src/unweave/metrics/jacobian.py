"""Whether the directions in which a decoder moves an image, one for each latent, are orthogonal."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.correlation import dependence
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled


@metric("Rolínek et al. 2019", "geometry")
def jacobian_orthogonality(jacobians: ArrayLike, *, dead: float = 1e-3) -> Sampled[float]:
    r"""Orthogonality of a decoder's Jacobian, in [0, 1]: does each latent move the image in its own direction?

        1 - mean over samples and pairs i < j of |cos(J_i, J_j)|

    where J_i, the i-th column of a sample's Jacobian (pixels, d), is the derivative of the image with respect to latent
    i.

    Parameters
    ----------
    jacobians
        Jacobians of the decoder, (samples, pixels, d). The score depends only on J^T J, so you can also pass the
        triangular factors (samples, d, d) of QR decompositions.
    dead
        A column no longer than this times the longest of the same Jacobian belongs to an unused latent and is left out.

    Returns
    -------
    float
        The score; 1 where there is no pair of columns.

    Notes
    -----
    [Rolinek2019]_ explain by orthogonal columns why a VAE disentangles; [Wei2021]_ add them as a penalty.
    The mean |cosine| is our choice, because it has no scale and is one number. Invariant to the order, sign and common
    scale of the codes.

    References
    ----------
    .. [Rolinek2019] Rolínek, Zietlow and Martius, "Variational Autoencoders Pursue PCA Directions (by Accident)", CVPR
       2019.
    .. [Wei2021] Wei et al., "Orthogonal Jacobian Regularization for Unsupervised Disentanglement in Image Generation",
       ICCV 2021.

    Examples
    --------
    >>> from unweave.metrics import jacobian_orthogonality
    >>> jacobian_orthogonality([[[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]])
    1.0
    """
    pairs = _each(jacobians, dead, _off_diagonal)
    score = float(_orthogonality(pairs.sum(axis=0)))
    return Sampled(score, len(pairs), lambda subsets: _orthogonality(subsets.astype(np.float64) @ pairs))


@metric("Gresele et al. 2021", "geometry", range=(0.0, inf), higher_is_better=False)
def ima_contrast(jacobians: ArrayLike, *, dead: float = 1e-3) -> Sampled[float]:
    r"""Independent-mechanism contrast [Gresele2021]_, in nats from 0 up: how far from orthogonal are the columns?

        mean over samples of ( sum over latents i of log ||J_i|| - 1/2 log det J^T J )

    Parameters
    ----------
    jacobians, dead
        As in `jacobian_orthogonality`.

    Returns
    -------
    float
        The contrast; 0 where all columns are orthogonal.

    Notes
    -----
    Parallel columns would make it infinite; here each exact dependence adds up to 13.8 nats (eigenvalues of the matrix
    of cosines below 1e-12 count as 1e-12). It has the invariances of `jacobian_orthogonality`.

    References
    ----------
    .. [Gresele2021] Gresele, von Kügelgen, Stimper, Schölkopf and Besserve, "Independent Mechanism Analysis, a New
       Concept?", NeurIPS 2021.

    Examples
    --------
    >>> from unweave.metrics import ima_contrast
    >>> round(ima_contrast([[[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]), 9)
    0.0
    """
    contrasts = _each(jacobians, dead, dependence)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return subsets.astype(np.float64) @ contrasts / subsets.sum(axis=1)

    return Sampled(float(contrasts.mean()), len(contrasts), rescore)


def _off_diagonal(cosines: np.ndarray) -> tuple[float, int]:
    """Return the sum of |cosine| over pairs of columns, and the number of pairs."""
    above = np.abs(cosines[np.triu_indices(len(cosines), 1)])
    return float(above.sum()), len(above)


def _orthogonality(pairs: np.ndarray) -> np.ndarray:
    """Return 1 - sum / number of `_off_diagonal`'s result (..., 2), 1 where there is no pair."""
    return np.clip(1 - pairs[..., 0] / np.maximum(pairs[..., 1], 1), 0.0, 1.0)


def _each(jacobians: ArrayLike, dead: float, measure: Callable[[np.ndarray], object]) -> np.ndarray:
    """Return a measure of the cosines between the columns in use of each sample's Jacobian."""
    checked = _check_jacobians(jacobians)
    if isinstance(dead, bool) or not isinstance(dead, int | float | np.number) or not 0 <= dead < 1:
        raise UsageError(f"dead must be a number from 0 to below 1, got {dead!r}")
    return np.array([measure(_cosines(jacobian, float(dead))) for jacobian in checked], dtype=np.float64)


def _cosines(jacobian: np.ndarray, dead: float) -> np.ndarray:
    """Return the cosines (c, c) between the columns in use of one Jacobian (pixels, d)."""
    jacobian = jacobian.astype(np.float64)  # one at a time: together they may be large
    largest = np.abs(jacobian).max()
    if not np.isfinite(largest):
        raise UsageError("jacobians hold NaN or an infinity")
    scaled = jacobian / (largest or 1.0)
    lengths = np.sqrt((scaled**2).sum(axis=0))
    living = lengths > dead * lengths.max()
    unit = scaled[:, living] / lengths[living]
    return unit.T @ unit


def _check_jacobians(jacobians: ArrayLike) -> np.ndarray:
    try:
        array = np.asarray(jacobians)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"jacobians cannot be read as one array: {str(error).splitlines()[0]}") from error
    if array.dtype.kind not in "biuf" or array.ndim != 3 or 0 in array.shape:
        raise UsageError(
            f"jacobians must be numbers of shape (samples, pixels, codes), got {array.dtype} of shape {array.shape}"
        )
    return array
