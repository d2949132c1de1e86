"""Agreement of models on their latents, matched one to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.correlation import standardised
from unweave.metrics.mcc import matched
from unweave.metrics.ranks import ranks
from unweave.selection.codes import informative_codes, off_diagonal

Kind = Literal["linear", "rank"]


def agreement(
    codes: Sequence[ArrayLike], *, kind: Kind = "linear", kl: Sequence[ArrayLike] | None = None
) -> np.ndarray:
    r"""Agreement of matched latents across models, in [0, 1]: the mean over the other models of `agreement_pairs`.

    Parameters
    ----------
    codes
        Codes (n, d_r) of the same n samples by two models or more.
    kind
        "linear" is Pearson's correlation, "rank" Spearman's.
    kl
        Mean KL divergence (d_r,) of each latent, for every model: latents with at most 0.01 nats are left out. Without
        it, all latents that vary count.

    Returns
    -------
    array
        One score per model (R,).

    Notes
    -----
    This is the mean correlation coefficient from work on identifiability [Hyvarinen2016]_, with another model in place
    of the factors. It does not depend on the order of latents and rows, or on the sign, scale and shift of a latent; a
    rotation lowers it.

    References
    ----------
    .. [Hyvarinen2016] Hyvärinen and Morioka, "Unsupervised Feature Extraction by Time-Contrastive Learning and
       Nonlinear ICA", NeurIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.selection import agreement
    >>> codes = np.random.default_rng(0).normal(size=(1000, 2))
    >>> agreement([codes, -codes[:, ::-1]]).round(9)
    array([1., 1.])
    """
    return off_diagonal(agreement_pairs(codes, kind=kind, kl=kl)).mean(axis=0)


def agreement_pairs(
    codes: Sequence[ArrayLike], *, kind: Kind = "linear", kl: Sequence[ArrayLike] | None = None
) -> np.ndarray:
    r"""Return how well the informative latents of every two models agree.

        agreement_ij = max over one-to-one matchings of the sum over matched latents of |corr(a, b)| / max(d_i, d_j)

    A latent without a partner counts 0, so that a model that has split or missed a factor disagrees with one that has
    not. A model without informative latents has agreement 0 with every other.

    Parameters
    ----------
    codes, kind, kl
        As for `agreement`.

    Returns
    -------
    array
        Symmetric (R, R), in [0, 1]; the diagonal is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.selection import agreement_pairs
    >>> codes = np.random.default_rng(0).normal(size=(1000, 2))
    >>> agreement_pairs([codes, -codes[:, ::-1], codes @ [[0.8, 0.6], [-0.6, 0.8]]]).round(2)
    array([[nan, 1. , 0.8],
           [1. , nan, 0.8],
           [0.8, 0.8, nan]])
    """
    if kind not in ("linear", "rank"):
        raise unknown("kind of agreement", str(kind), ("linear", "rank"))
    models = informative_codes(codes, kl)
    unit = [standardised(ranks(each) if kind == "rank" and each.size else each) for each in models]
    pairs = np.full((len(unit), len(unit)), np.nan)
    for i, first in enumerate(unit):
        for j, second in enumerate(unit[:i]):
            pairs[i, j] = pairs[j, i] = _matched(first.T @ second)
    return pairs


def _matched(correlations: np.ndarray) -> float:
    if correlations.size == 0:
        return 0.0
    return min(float(matched(correlations).sum()) / max(correlations.shape), 1.0)  # removes rounding errors only
