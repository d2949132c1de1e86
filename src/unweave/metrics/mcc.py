"""The mean correlation coefficient of factors and the codes matched to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.late import importing
from unweave.metrics.correlation import strengths
from unweave.metrics.inputs import check, varying
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import check_categorical
from unweave.metrics.ranks import places, ranks_of_places
from unweave.metrics.resampling import Sampled, by_rows, mean_over_factors

Kind = Literal["linear", "rank"]


@metric("Hyvärinen & Morioka 2016", "compactness", continuous=True)
def mcc(
    codes: ArrayLike, factors: ArrayLike, *, kind: Kind = "linear", categorical: Sequence[int] = ()
) -> Sampled[float]:
    r"""Mean correlation coefficient [Hyvarinen2016]_, in [0, 1]: does each factor have its own latent, up to sign?

        MCC = max over one-to-one assignments a of the mean over factors k of |corr(z_a(k), v_k)|

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); values are numbers and may be continuous.
    kind
        "linear" is Pearson's correlation: a latent must be a linear function of its factor. "rank" is Spearman's: a
        monotonic one suffices; ties get their mean rank.
    categorical
        Columns of codes, counted from 0, that hold categories: their correlation with a factor is that of the factor
        with its mean in each category.

    Returns
    -------
    float
        The score.

    Notes
    -----
    Work on identifiability uses it [Khemakhem2020]_, [Klindt2021]_. A factor without a latent (d < k)
    counts 0, and so does a constant latent; unmatched latents do not count. A factor with a single value is left out.
    Invariant to the order of latents, factors or rows and to the sign, scale and shift of a latent; "rank" also to any
    increasing function of it.

    References
    ----------
    .. [Hyvarinen2016] Hyvärinen and Morioka, "Unsupervised Feature Extraction by Time-Contrastive Learning and
       Nonlinear ICA", NeurIPS 2016.
    .. [Khemakhem2020] Khemakhem, Kingma, Monti and Hyvärinen, "Variational Autoencoders and Nonlinear ICA: A Unifying
       Framework", AISTATS 2020.
    .. [Klindt2021] Klindt et al., "Towards Nonlinear Disentanglement in Natural Data with Temporal Sparse Coding", ICLR
       2021.

    Examples
    --------
    >>> from unweave.metrics import mcc
    >>> round(mcc([[0.0, 3.0], [1.0, 3.0], [0.0, 1.0], [1.0, 1.0]], [[0, 0], [0, 1], [1, 0], [1, 1]]), 9)
    1.0
    """
    if kind not in ("linear", "rank"):
        raise unknown("kind of MCC", str(kind), ("linear", "rank"))
    values, labels = check(codes, factors, continuous=True)
    labels = labels[:, varying(labels)].astype(np.float64)
    columns = check_categorical(categorical, values.shape[1])

    def of_rows(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
        if kind == "rank":
            codes, factors = ranks_of_places(codes), ranks_of_places(factors)
        return matched(strengths(codes, factors, columns))

    given = (places(values), places(labels)) if kind == "rank" else (values, labels)
    return mean_over_factors(by_rows(of_rows, *given))


def matched(correlations: np.ndarray) -> np.ndarray:
    """Return |correlation| (k,) of each factor with its matched latent, 0 without one; correlations are (d, k)."""
    with importing():
        from scipy.optimize import linear_sum_assignment

    sizes = np.abs(correlations)
    codes, factors = linear_sum_assignment(sizes, maximize=True)
    own = np.zeros(sizes.shape[1])
    own[factors] = sizes[codes, factors]
    return own
