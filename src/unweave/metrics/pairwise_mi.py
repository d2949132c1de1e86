"""The mean mutual information between two latents."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.information import bin_or_number, information
from unweave.metrics.inputs import bin_count, check_codes
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled


@metric("Locatello et al. 2019", "independence", range=(0.0, inf), higher_is_better=False)
def pairwise_mi(codes: ArrayLike, *, bins: int = 20, categorical: Sequence[int] = ()) -> Sampled[float]:
    r"""Mean mutual information between two latents, in nats from 0 up: how dependent are they?

        mean over pairs i < j of I(z_i; z_j)

    as [Locatello2019]_ compute it for posterior means and for samples of the posterior.

    Parameters
    ----------
    codes
        Codes (n, d).
    bins
        Bins of equal width per latent, from its least to its largest value.
    categorical
        Columns of codes, counted from 0, that hold categories: each value is a bin.

    Returns
    -------
    float
        The plug-in estimate. It is too large by about (bins - 1)^2 / 2n nats.

    Notes
    -----
    The pairs of a constant latent count 0; a single latent has no pair: 0. Invariant to the order of
    latents or rows and to the sign, scale and shift of a latent.

    References
    ----------
    .. [Locatello2019] Locatello et al., "Challenging Common Assumptions in the Unsupervised Learning of Disentangled
       Representations", ICML 2019.

    Examples
    --------
    >>> from unweave.metrics import pairwise_mi
    >>> round(pairwise_mi([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), 3)
    0.693
    """
    binned, bins = bin_or_number(check_codes(codes), bin_count(bins), categorical)
    score = float(_mean_information(binned, bins))
    return Sampled(score, len(binned), lambda subsets: _mean_information(binned, bins, subsets))


def _mean_information(binned: np.ndarray, bins: int, subsets: np.ndarray | None = None) -> np.ndarray:
    """Return the mean over pairs of codes: a single number, or one for each subset (r,)."""
    d = binned.shape[1]
    total = np.zeros(() if subsets is None else len(subsets))
    for j in range(1, d):
        total += information(binned[:, :j], bins, binned[:, [j]], subsets).shared.sum(axis=(0, 1))
    return total / max(1, d * (d - 1) // 2)
