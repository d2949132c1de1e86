"""Minimality of latents and sufficiency for factors, which do not assume independent factors."""

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
    r"""Minimality [Almudevar2024]_, in [0, 1]: does each latent carry no information beyond one factor?

        minimality = mean over latents j of max over factors k of I(z_j; v_k) / H(z_j)

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
    A latent may tell about other factors through correlation with its own: this costs nothing. What it
    tells beyond its factor, about other factors or noise, lowers the score. A constant latent is left out of the mean,
    and codes that are all constant score 0; a latent of noise stays in. A factor with a single value is left out.
    Invariant to the order of latents, factors or rows and to the scale and, as in `mig`, the sign of a latent.

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
    r"""Sufficiency [Almudevar2024]_, in [0, 1]: does some single latent determine each factor?

        sufficiency = mean over factors k of max over latents j of I(z_j; v_k) / H(v_k)

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
    Additional latents, of the same factor, of others or of noise, do no harm. Constant latents have no
    information; a factor with a single value is left out. Invariant to the order of latents, factors or rows and to the
    scale and, as in `mig`, the sign of a latent.

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
