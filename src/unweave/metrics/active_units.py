"""How many latents a model uses."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.metrics.inputs import check_codes
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import OneHot
from unweave.metrics.resampling import Sampled


@metric("Burda et al. 2016", "capacity", range=(0.0, inf), higher_is_better=None)
def active_units(codes: ArrayLike, *, threshold: float = 0.01, categorical: Sequence[int] = ()) -> Sampled[float]:
    r"""Active units [Burda2016]_, from 0 to the number of latents: how many latents does the model use?

        the number of latents j with Var(z_j) > threshold

    where z are posterior means. The variance is over samples and divides by n - 1.

    Parameters
    ----------
    codes
        Posterior means (n, d). Not samples: those of an unused latent have the variance of the prior.
    threshold
        The least variance of an active latent, in units of the prior, whose variance is 1.
    categorical
        Columns of codes, counted from 0, that hold categories: their variance is that of a one-hot vector, 1 minus the
        sum of the categories' squared shares.

    Returns
    -------
    float
        A count.

    Notes
    -----
    A constant latent is never active. The score does not change with the order of latents or rows, nor with
    the sign and shift of a latent; it does with its scale.

    References
    ----------
    .. [Burda2016] Burda, Grosse and Salakhutdinov, "Importance Weighted Autoencoders", ICLR 2016.

    Examples
    --------
    >>> from unweave.metrics import active_units
    >>> active_units([[1.0, 0.01], [-1.0, 0.02], [1.0, 0.01]])
    1.0
    """
    values = check_codes(codes)
    read = OneHot.of(values, categorical)
    deviations = _deviations(read(values), threshold)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        kept = subsets.astype(np.float64)
        n = kept.sum(axis=1, keepdims=True)
        squares = kept @ deviations**2 - (kept @ deviations) ** 2 / n
        return _count(read.total(squares / np.maximum(n - 1, 1)), threshold)

    count = float(_count(read.total(deviations.var(axis=0, ddof=1)), threshold))
    return Sampled(count, len(deviations), rescore, limits=(0.0, float(values.shape[1])))


def _deviations(values: np.ndarray, threshold: float) -> np.ndarray:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float | np.number) or not 0 <= threshold < np.inf:
        raise UsageError(f"threshold must be a number from 0 up, got {threshold!r}")
    # Rounding would give a constant column a variance.
    return np.where((values != values[0]).any(axis=0), values - values.mean(axis=0), 0.0)


def _count(variances: np.ndarray, threshold: float) -> np.ndarray:
    return (variances > threshold).sum(axis=-1).astype(np.float64)
