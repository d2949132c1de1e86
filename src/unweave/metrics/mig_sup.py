"""The mutual information gap seen from the latents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.gaps import top_gap
from unweave.metrics.information import Information, by_information, known
from unweave.metrics.inputs import check
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import check_categorical, kept_categorical
from unweave.metrics.resampling import Sampled


@metric("Li et al. 2020", "modularity")
def mig_sup(codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, categorical: Sequence[int] = ()) -> Sampled[float]:
    r"""MIG-sup [Li2020]_, in [0, 1]: is each latent informative about a single factor?

        MIG-sup = mean over latents j of ( I(z_j; v_a) / H(v_a) - I(z_j; v_b) / H(v_b) )

    where v_a and v_b are the factors of which latent j holds the largest and second largest share.

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
    A constant latent is left out of the mean, and codes that are all constant score 0; a latent that varies
    but has no information stays in, with a gap near 0. With a single factor the gap is to 0; a factor with a single
    value is left out. Invariant to the order of latents, factors or rows and to the scale and, as in `mig`, the sign of
    a latent.

    References
    ----------
    .. [Li2020] Li, Murkute, Gyawali and Wang, "Progressive Learning and Disentanglement of Hierarchical
       Representations", ICLR 2020.

    Examples
    --------
    >>> from unweave.metrics import mig_sup
    >>> mig_sup([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]])
    1.0
    """
    values, labels = check(codes, factors)
    varies = np.flatnonzero((values != values[0]).any(axis=0))
    kept = varies if len(varies) else np.arange(values.shape[1])
    left = kept_categorical(check_categorical(categorical, values.shape[1]), kept)
    return by_information(_mean_gap, values[:, kept], labels, bins, categorical=left)


def _mean_gap(table: Information) -> np.ndarray:
    return top_gap(np.swapaxes(known(table), 0, 1)).mean(axis=0)
