"""The interventional robustness score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.information import bin_codes
from unweave.metrics.inputs import bin_count, check, varying
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled, by_rows


@metric("Suter et al. 2019", "robustness")
def irs(codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, quantile: float = 0.99) -> Sampled[float]:
    r"""Interventional robustness [Suter2019]_, in [0, 1]: are latents constant while their factor is fixed?

        IRS = sum_j w_j s_j / sum_j w_j,    w_j = max |z_j - mean(z_j)|,
        s_j = max over factors k of ( 1 - mean over values v of q( |z_j - mean(z_j | v_k = v)| : v_k = v ) / w_j )

    where q is a quantile of the deviations among the rows with that value.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    bins
        A factor with more values than this is cut into that many bins of equal width.
    quantile
        The paper's maximum is 1; disentanglement_lib takes 0.99.

    Returns
    -------
    float
        The score.

    Notes
    -----
    A constant latent is left out; if all are constant, the score is 0. A latent that deviates more within
    the values of every factor than overall has s_j = 0. A factor with a single value is left out. Invariant to the
    order of latents, factors and rows, to the sign and shift of a latent, and to a common scale; the scale of one
    latent is its weight.

    References
    ----------
    .. [Suter2019] Suter, Miladinović, Schölkopf and Bauer, "Robustly Disentangled Causal Mechanisms: Validating Deep
       Representations for Interventional Robustness", ICML 2019.

    Examples
    --------
    >>> from unweave.metrics import irs
    >>> irs([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]])
    1.0
    """
    values, labels = check(codes, factors)
    labels = labels[:, varying(labels)]
    bins = bin_count(bins)
    if isinstance(quantile, bool) or not isinstance(quantile, int | float) or not 0 < quantile <= 1:
        raise UsageError(f"quantile must be a number above 0 and up to 1, got {quantile!r}")
    groups = np.stack([_groups(factor, bins) for factor in labels.T], axis=1)
    return by_rows(lambda some, of: _irs(some, of, quantile), values, groups, replicates=50)


def _groups(factor: np.ndarray, bins: int) -> np.ndarray:
    """Return a factor's values (n,) numbered from 0, or their bins where they are more than `bins`."""
    distinct, numbered = np.unique(factor, return_inverse=True)
    return numbered if len(distinct) <= bins else bin_codes(factor[:, None].astype(np.float64), bins)[:, 0]


def _irs(codes: np.ndarray, groups: np.ndarray, quantile: float) -> float:
    codes = codes[:, (codes != codes[0]).any(axis=0)]
    if codes.shape[1] == 0:
        return 0.0
    largest = np.abs(codes - codes.mean(axis=0)).max(axis=0)  # (d,)
    deviations = np.stack([_deviation(codes, group, quantile) for group in groups.T])  # (k, d)
    scores = np.clip(1 - (deviations / largest).min(axis=0), 0.0, 1.0)
    return float((scores * largest).sum() / largest.sum())


def _deviation(codes: np.ndarray, group: np.ndarray, quantile: float) -> np.ndarray:
    """Return, for each latent (d,), the mean over groups of the quantile of its deviations from the group's mean."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order])) + 1
    of_group = []
    for inside in np.split(codes[order], starts):
        spread = inside - inside[0]  # so that equal codes deviate by exactly 0
        spread = np.abs(spread - spread.mean(axis=0))
        of_group.append(_quantile(spread, quantile))
    return np.mean(of_group, axis=0)


def _quantile(values: np.ndarray, quantile: float) -> np.ndarray:
    """Return the quantile of each column, interpolated as in np.quantile but with less overhead."""
    place = quantile * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    ordered = np.partition(values, (below, above), axis=0)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
