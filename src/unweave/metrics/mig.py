"""The mutual information gap."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from unweave.metrics.gaps import top_gap
from unweave.metrics.information import by_factor, known
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled


@metric("Chen et al. 2018", "compactness")
def mig(codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, categorical: Sequence[int] = ()) -> Sampled[float]:
    r"""Mutual information gap [Chen2018]_, eq. 6, in [0, 1]: is a single latent informative about each factor?

        MIG = mean over factors k of ( I(z_a; v_k) - I(z_b; v_k) ) / H(v_k)

    where z_a and z_b are the most and second most informative latents about v_k. Mutual information is the plug-in
    estimate, in nats, between the values of the factor and the bins of the latent.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    bins
        Bins of equal width per latent, from its least to its largest value.
    categorical
        Columns of codes, counted from 0, that hold categories: each value is a bin.

    Returns
    -------
    float
        The score.

    Notes
    -----
    With a single latent the gap is to 0; a constant latent has no information; a factor with a single value
    is left out of the mean. Invariant to the order of latents or rows and to the scale of a latent; also to its sign,
    except for values on the edge of a bin, which belong to the bin above.

    References
    ----------
    .. [Chen2018] Chen, Li, Grosse and Duvenaud, "Isolating Sources of Disentanglement in Variational Autoencoders",
       NeurIPS 2018.

    Examples
    --------
    >>> from unweave.metrics import mig
    >>> mig([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]])
    1.0
    """
    return by_factor(lambda table: top_gap(known(table)), codes, factors, bins, categorical)
