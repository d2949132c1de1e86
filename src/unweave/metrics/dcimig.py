"""The gaps of latents, credited to factors: DCIMIG, also called 3CharM."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.gaps import top_gap
from unweave.metrics.information import Information, by_information
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled


@metric("Sepliarskaia et al. 2019", "modularity")
def dcimig(codes: ArrayLike, factors: ArrayLike, *, bins: int = 20, categorical: Sequence[int] = ()) -> Sampled[float]:
    r"""DCIMIG or 3CharM [Sepliarskaia2019]_, in [0, 1]: does each factor have a latent of no other factor?

        DCIMIG = sum over factors k of max { g_j : a(j) = k }  /  sum over factors k of H(v_k)

    where v_a(j) and v_b(j) are the factors about which latent j is most and second most informative, and g_j = I(z_j;
    v_a(j)) - I(z_j; v_b(j)) is its gap, in nats, credited to v_a(j). A factor that no latent prefers is credited 0.

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
    Only the best latent of a factor counts, so additional latents, noise and duplicates do no harm.
    Constant codes score 0; with a single factor the gap is to 0; a factor with a single value is left out. Invariant to
    the order of latents, factors or rows and to the scale and, as in `mig`, the sign of a latent.

    References
    ----------
    .. [Sepliarskaia2019] Sepliarskaia, Kiseleva and de Rijke, "How to Not Measure Disentanglement", 2019.

    Examples
    --------
    >>> from unweave.metrics import dcimig
    >>> dcimig([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]])
    1.0
    """
    return by_information(_share, codes, factors, bins, lambda table: _credited(table) / table.factor, categorical)


def _share(table: Information) -> np.ndarray:
    """Return the sum of the factors' best gaps as a share of the sum of their entropies."""
    gaps, entropy = _credited(table).sum(axis=0), table.factor.sum(axis=0)
    return np.divide(gaps, entropy, out=np.zeros_like(entropy), where=entropy > 0)


def _credited(table: Information) -> np.ndarray:
    """Return the best gap, in nats, that is credited to each factor: (k, ...)."""
    gap = top_gap(np.swapaxes(table.shared, 0, 1))[:, None]  # (d, 1, ...)
    most = table.shared.argmax(axis=1, keepdims=True)
    own = np.zeros_like(table.shared)
    np.put_along_axis(own, most, gap, axis=1)
    return own.max(axis=0)
