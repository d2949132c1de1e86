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
    r"""Total correlation of Gaussian codes [Watanabe1960]_, in nats from 0 up: how dependent are the codes?

        TC = 1/2 ( sum over codes j of log S_jj - log det S )

    where S is the covariance of the codes: the divergence between a Gaussian of covariance S and the product of its
    margins, as [Locatello2019]_ compute it for posterior means and for samples of the posterior.

    Parameters
    ----------
    codes
        Codes (n, d).
    categorical
        Columns of codes, counted from 0, that hold categories: S has a row for each category but one, and in the place
        of S_jj is the determinant of theirs.

    Returns
    -------
    float
        The score, in nats. 0 means uncorrelated, not independent.

    Notes
    -----
    A constant code is left out. Codes that determine each other have infinite total correlation; here it is finite, as
    eigenvalues of the correlation matrix below 1e-12 count as 1e-12: about 13.8 nats for each exact linear dependence,
    of which there are always some with fewer rows than codes. Unchanged by the order of codes or rows, and by the sign,
    scale and shift of a code.

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
    # Of a code's categories the last one is what is left of the others: with it, they would determine each other.
    last = np.append(code[varies][1:] != code[varies][:-1], True) & (read.widths > 1)[code[varies]]
    kept = np.flatnonzero(varies)[~last]
    columns, code = standardised(columns[:, kept]), code[kept]
    correlations = columns.T @ columns
    within = [dependence(correlations[np.ix_(code == j, code == j)]) for j in np.flatnonzero(read.widths > 1)]
    return max(0.0, dependence(correlations) - sum(within))
