"""Disentanglement by the entropy of mutual information, without a learner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.concentration import concentration, shares
from unweave.metrics.information import Information, by_information
from unweave.metrics.inputs import whole_number
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled


@metric("Cao et al. 2022", "modularity")
def med(
    codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, top: int | None = None, categorical: Sequence[int] = ()
) -> Sampled[float]:
    r"""MED [Cao2022]_, in [0, 1]: is each latent's information about a single factor?

        R_jk = I(z_j; v_k) / sum over latents i of I(z_i; v_k)
        P_jk = R_jk / sum over factors m of R_jm
        MED  = sum over latents j of w_j (1 + sum over k of P_jk log P_jk / log K)

    with weights w_j proportional to the sum over k of R_jk, which sum to 1. It is the disentanglement of `dci`, with R
    in place of the importances of a predictor.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    bins
        Bins of equal width per latent, as in `mig`.
    top
        For codes with hundreds of latents: each latent belongs to the factor for which its R is largest, only the `top`
        latents of each factor with the largest bracket are kept, and the weights are scaled to sum to 1 over these.
    categorical
        Columns of codes, counted from 0, that hold categories: each value is a bin.

    Returns
    -------
    float
        The score.

    Notes
    -----
    A constant latent has no weight, and codes that are all constant score 0; with a single factor (K = 1)
    all other codes score 1. A factor with a single value is left out. Invariant to the order of latents, factors or
    rows and to the scale and, as in `mig`, the sign of a latent.

    References
    ----------
    .. [Cao2022] Cao et al., "An Empirical Study on Disentanglement of Negative-free Contrastive Learning", NeurIPS
       2022.

    Examples
    --------
    >>> from unweave.metrics import med
    >>> med([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[0, 0], [1, 0], [0, 1], [1, 1]])
    1.0
    """
    if top is not None:
        top = whole_number(top, "top", 1)

    def score(table: Information) -> np.ndarray:
        importance = shares(table.shared, axis=0)  # (d, k, ...)
        modular = concentration(importance)
        weight = importance.sum(axis=1)  # (d, ...)
        if top is not None:
            weight = weight * _picked(importance, modular, top)
        return (shares(weight, axis=0) * modular).sum(axis=0)

    return by_information(score, codes, factors, bins, categorical=categorical)


def _picked(importance: np.ndarray, modular: np.ndarray, top: int) -> np.ndarray:
    """Return which latents, (d, ...), are among the `top` most modular ones of the factor that they prefer."""
    order = np.argsort(-modular, axis=0, kind="stable")
    home = np.take_along_axis(importance.argmax(axis=1), order, axis=0)
    picked = np.zeros_like(modular)
    for factor in range(importance.shape[1]):
        here = home == factor
        kept = here & (np.cumsum(here, axis=0) <= top)
        picked += np.take_along_axis(kept, np.argsort(order, axis=0), axis=0)
    return picked
