"""The total correlation of codes, as if they were Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.correlation import dependence, standardised
from unweave.metrics.inputs import check_codes
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import OneHot
from unweave.metrics.resampling import Sampled, by_rows


@metric("Locatello et al. 2019", "independence", range=(0.0, inf), higher_is_better=False)
def total_correlation(codes: ArrayLike, *, categorical: Sequence[int] = ()) -> Sampled[float]:
    r"""Total correlation of Gaussian codes [Watanabe1960]_, in nats from 0 up: how dependent are the latents?

        TC = 1/2 ( sum over latents j of log S_jj - log det S )

    where S is the covariance of the codes: the divergence between a Gaussian of covariance S and the product of its
    margins, as [Locatello2019]_ compute it for posterior means and for samples of the posterior.

    Parameters
    ----------
    codes
        Codes (n, d).
    categorical
        Columns of codes, counted from 0, that hold categories: S has a row for each category but one, and the
        determinant of their block replaces S_jj.

    Returns
    -------
    float
        The score, in nats. 0 means uncorrelated, not independent.

    Notes
    -----
    A constant latent is left out. Latents that determine each other have infinite total correlation. Here
    it stays finite, because eigenvalues of the correlation matrix below 1e-12 count as 1e-12: each exact linear
    dependence adds about 13.8 nats. With fewer rows than latents there is always one. Invariant to the order of latents
    or rows, and to the sign, scale and shift of a latent.

    References
    ----------
    .. [Watanabe1960] Watanabe, "Information Theoretical Analysis of Multivariate Correlation", IBM Journal of Research
       and Development 1960.
    .. [Locatello2019] Locatello et al., "Challenging Common Assumptions in the Unsupervised Learning of Disentangled
       Representations", ICML 2019.

    Examples
    --------
    >>> from unweave.metrics import total_correlation
    >>> round(total_correlation([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), 9)
    0.0
    """
    values = check_codes(codes)
    read = OneHot.of(values, categorical)
    return by_rows(lambda some: _total_correlation(some, read), values)


def _total_correlation(codes: np.ndarray, read: OneHot) -> float:
    columns, code = read(codes), np.repeat(np.arange(codes.shape[1]), read.widths)
    varies = (columns != columns[0]).any(axis=0)
    # A latent's last category follows from the others: with it, they would determine each other.
    last = np.append(code[varies][1:] != code[varies][:-1], True) & (read.widths > 1)[code[varies]]
    kept = np.flatnonzero(varies)[~last]
    columns, code = standardised(columns[:, kept]), code[kept]
    correlations = columns.T @ columns
    within = [dependence(correlations[np.ix_(code == j, code == j)]) for j in np.flatnonzero(read.widths > 1)]
    return max(0.0, dependence(correlations) - sum(within))
