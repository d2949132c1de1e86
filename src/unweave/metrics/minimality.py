"""Minimality of codes and sufficiency for factors, which do not ask for independent factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.information import ROUNDING, Information, by_factor, by_information, known
from unweave.metrics.inputs import check
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import check_categorical, kept_categorical
from unweave.metrics.resampling import Sampled


@metric("Almudévar & Ortega 2024", "modularity")
def minimality(
    codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, categorical: Sequence[int] = ()
) -> Sampled[float]:
    r"""Minimality [Almudevar2024]_, in [0, 1]: does each code say nothing beyond one factor?

        minimality = mean over codes j of max over factors k of I(z_j; v_k) / H(z_j)

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    bins
        Bins of equal width per code, as in `mig`.
    categorical
        Columns of codes, counted from 0, that hold categories: each value is a bin.

    Returns
    -------
    float
        The score.

    Notes
    -----
    Other factors may be known through the one a code stands for: correlated factors cost nothing. What a code says
    beyond its factor, of other factors or of noise, does. A constant code is left out of the mean, and codes that are
    all constant score 0; a code of noise stays in. A factor with a single value is left out. Unchanged by the order of
    codes, factors or rows and by the scale and, as in `mig`, the sign of a code.

    References
    ----------
    .. [Almudevar2024] Almudévar and Ortega, "Rethinking Disentanglement under Dependent Factors of Variation", arXiv
       2408.07016, 2024.

    Examples
    --------
    >>> from unweave.metrics import minimality
    >>> minimality([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]])
    1.0
    """
    values, labels = check(codes, factors)
    varies = np.flatnonzero((values != values[0]).any(axis=0))
    kept = varies if len(varies) else np.arange(values.shape[1])
    left = kept_categorical(check_categorical(categorical, values.shape[1]), kept)
    return by_information(_mean_minimality, values[:, kept], labels, bins, categorical=left)


@metric("Almudévar & Ortega 2024", "explicitness")
def sufficiency(
    codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, categorical: Sequence[int] = ()
) -> Sampled[float]:
    r"""Sufficiency [Almudevar2024]_, in [0, 1]: is each factor wholly known by some one code?

        sufficiency = mean over factors k of max over codes j of I(z_j; v_k) / H(v_k)

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    bins
        Bins of equal width per code, as in `mig`.
    categorical
        Columns of codes, counted from 0, that hold categories: each value is a bin.

    Returns
    -------
    float
        The score.

    Notes
    -----
    Additional codes, of the same factor, of others or of noise, do no harm. Constant codes know nothing; a factor with
    a single value is left out. Unchanged by the order of codes, factors or rows and by the scale and, as in `mig`, the
    sign of a code.

    References
    ----------
    .. [Almudevar2024] Almudévar and Ortega, "Rethinking Disentanglement under Dependent Factors of Variation", arXiv
       2408.07016, 2024.

    Examples
    --------
    >>> from unweave.metrics import sufficiency
    >>> sufficiency([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]])
    1.0
    """
    return by_factor(lambda table: known(table).max(axis=0), codes, factors, bins, categorical)


def _mean_minimality(table: Information) -> np.ndarray:
    said = table.shared.max(axis=1)  # (d, ...)
    share = np.where(table.code > ROUNDING, said / np.maximum(table.code, ROUNDING), 0.0)
    return np.minimum(share, 1.0).mean(axis=0)  # cuts rounding only
