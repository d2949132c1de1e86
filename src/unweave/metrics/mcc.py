"""The mean correlation coefficient of factors and the codes matched to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.correlation import standardised
from unweave.metrics.inputs import check, varying
from unweave.metrics.resampling import Sampled, by_rows

Kind = Literal["linear", "rank"]


def mcc(codes: ArrayLike, factors: ArrayLike, *, kind: Kind = "linear") -> float:
    r"""Mean correlation coefficient [Hyvarinen2016]_, in [0, 1]: is each factor, up to sign, a code of its own?

        MCC = max over one-to-one assignments a of the mean over factors k of |corr(z_a(k), v_k)|

    The correlation is Pearson's ("linear", in which a code must be a linear function of its factor) or Spearman's
    ("rank", monotonic; ties get their mean rank), of the factor's values as numbers. Used where identifiability is at
    stake [Khemakhem2020]_, [Klindt2021]_. A factor for which no code is left (d < k) counts 0, and so does a constant
    code; codes that are not matched do not count. A factor with a single value is left out. Unchanged by the order of
    codes, factors or rows and by the sign, scale and shift of a code; "rank" by any increasing function of it.

    >>> round(mcc([[0.0, 3.0], [1.0, 3.0], [0.0, 1.0], [1.0, 1.0]], [[0, 0], [0, 1], [1, 0], [1, 1]]), 9)
    1.0
    """
    score, values, labels = _prepare(codes, factors, kind)
    return score(values, labels)


def sample_mcc(codes: ArrayLike, factors: ArrayLike, *, kind: Kind = "linear") -> Sampled:
    """Return MCC and its values on subsets of the rows, each with an assignment, and ranks, of its own."""
    return by_rows(*_prepare(codes, factors, kind))


def _prepare(
    codes: ArrayLike, factors: ArrayLike, kind: Kind
) -> tuple[Callable[[np.ndarray, np.ndarray], float], np.ndarray, np.ndarray]:
    """Return the score, and the arrays of rows it is a function of."""
    if kind not in ("linear", "rank"):
        raise unknown("kind of MCC", str(kind), ("linear", "rank"))
    values, labels = check(codes, factors)
    labels = labels[:, varying(labels)].astype(np.float64)
    if kind == "linear":
        return _matched, values, labels
    return _rank_matched, _places(values), _places(labels)


def _matched(codes: np.ndarray, factors: np.ndarray) -> float:
    from scipy.optimize import linear_sum_assignment

    correlations = np.abs(standardised(codes).T @ standardised(factors))  # (d, k)
    rows, columns = linear_sum_assignment(correlations, maximize=True)
    return min(1.0, float(correlations[rows, columns].sum()) / factors.shape[1])


def _rank_matched(codes: np.ndarray, factors: np.ndarray) -> float:
    return _matched(_ranks(codes), _ranks(factors))


def _places(columns: np.ndarray) -> np.ndarray:
    """Return each value's place among the distinct values of its column: sorted once, then any subset ranks in O(n)."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in columns.T], axis=1)


def _ranks(places: np.ndarray) -> np.ndarray:
    """Return the ranks of places (n, c) within each column, the mean rank for ties."""
    ranks = np.empty(places.shape)
    for j, column in enumerate(places.T):
        counts = np.bincount(column)
        ranks[:, j] = (np.cumsum(counts) - (counts - 1) / 2)[column]
    return ranks
