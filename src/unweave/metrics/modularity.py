"""The modularity score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.information import Information, by_information
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled


@metric("Ridgeway & Mozer 2018", "modularity", shuffles=40, floor_rows=2_000, unsteady=("",))
def modularity(
    codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, categorical: Sequence[int] = ()
) -> Sampled[float]:
    r"""Modularity [Ridgeway2018]_, in [0, 1]: is each latent informative about a single factor?

        modularity = mean over latents j of 1 - (sum over factors k other than a of I_jk^2) / ( I_ja^2 (K - 1) )

    where I_jk = I(z_j; v_k) in nats, and a is the factor, of K, about which latent j is most informative.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    bins
        Bins of equal width per latent, as in `mig`.
    categorical
        Columns of codes, counted from 0, that hold categories: each value is a bin.

    Returns
    -------
    float
        The score.

    Notes
    -----
    A constant latent counts 0 in the mean; with a single factor (K = 1), every latent that is informative
    about it counts 1. A factor with a single value is left out. Only the division of a latent's information among
    factors matters, not its amount. Invariant to the order of latents, factors or rows and to the scale and, as in
    `mig`, the sign of a latent.

    References
    ----------
    .. [Ridgeway2018] Ridgeway and Mozer, "Learning Deep Disentangled Embeddings with the F-Statistic Loss", NeurIPS
       2018.

    Examples
    --------
    >>> from unweave.metrics import modularity
    >>> modularity([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[0, 0], [1, 0], [0, 1], [1, 1]])
    1.0
    """
    return by_information(_mean_modularity, codes, factors, bins, categorical=categorical)


def _mean_modularity(table: Information) -> np.ndarray:
    squared = table.shared**2
    most = squared.max(axis=1)  # (d, ...)
    others = np.maximum(squared.sum(axis=1) - most, 0.0)
    knows = most > 0
    ratio = np.divide(others, most * max(1, squared.shape[1] - 1), out=np.ones_like(most), where=knows)
    return (1 - np.minimum(ratio, 1.0)).mean(axis=0)
