"""The joint entropy minus the mutual information gap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.gaps import top_gap
from unweave.metrics.information import ROUNDING, Information, bin_or_number, information
from unweave.metrics.inputs import bin_count, check, varying
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import check_categorical
from unweave.metrics.resampling import Sampled, by_rows, mean_over_factors

REPLICATES = 100


@metric("Do & Tran 2020", "compactness")
def jemmig(codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, categorical: Sequence[int] = ()) -> Sampled[float]:
    r"""JEMMIG [Do2020]_, normalised, in [0, 1]: does a single latent encode each factor, and nothing else?

        JEMMIG = mean over factors k of 1 - ( H(z_a, v_k) - I(z_a; v_k) + I(z_b; v_k) ) / ( H(v_k) + log bins )

    where z_a and z_b are the most and second most informative latents about v_k. If a categorical latent has more
    values than there are bins, `bins` is the number of its values.

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
        The score. 1 is best, as for the other metrics: it is 1 minus the paper's normalised score.

    Notes
    -----
    H(z_a, v_k) - I(z_a; v_k) is what the latent tells beyond the factor, plus what it misses of it. If
    several latents are equally informative, z_a is the one with the least entropy. With a single latent the gap is to
    0. A constant latent tells nothing beyond a factor and so scores log bins / (H(v_k) + log bins), not 0. A factor
    with a single value is left out. Invariant to the order of latents, factors or rows and to the scale and, as in
    `mig`, the sign of a latent.

    References
    ----------
    .. [Do2020] Do and Tran, "Theory and Evaluation Metrics for Learning Disentangled Representations", ICLR 2020.

    Examples
    --------
    >>> from unweave.metrics import jemmig
    >>> jemmig([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]])
    1.0
    """
    values, labels = check(codes, factors)
    columns = check_categorical(categorical, values.shape[1])
    given = bin_count(bins)
    bins = bin_or_number(values, given, columns)[1]

    def per_factor(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
        return _per_factor(information(bin_or_number(codes, given, columns)[0], bins, factors), bins)

    # The entropy of a latent depends on the bin edges: each half-sample has its own.
    return mean_over_factors(by_rows(per_factor, values, labels[:, varying(labels)], replicates=REPLICATES))


def _per_factor(table: Information, bins: int) -> np.ndarray:
    joint = table.code[:, None] + table.factor - table.shared  # H(z_j, v_k), (d, k)
    best = table.shared >= table.shared.max(axis=0) - ROUNDING
    excess = np.where(best, joint, np.inf).min(axis=0) - top_gap(table.shared)
    return 1 - np.clip(excess / (table.factor + math.log(bins)), 0.0, 1.0)  # clips rounding only
