"""The modularity score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.information import Information, by_information
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled


@metric("Ridgeway & Mozer 2018", "modularity")
def modularity(codes: ArrayLike, factors: ArrayLike, *, bins: int = 20) -> Sampled[float]:
    r"""Modularity [Ridgeway2018]_, in [0, 1]: does each code know one factor alone?

        modularity = mean over codes j of 1 - (sum over factors k other than a of I_jk^2) / ( I_ja^2 (K - 1) )

    where I_jk = I(z_j; v_k) in nats, and a is the factor, of K, that code j knows most about. Mutual information,
    binning and factors with a single value are as in `mig`. A constant code counts 0 in the mean; with a single
    factor (K = 1), every code that knows anything of it counts 1. How much a code knows does not matter, only how it
    is shared out. Unchanged by the order of codes, factors or rows and by the scale and, as in `mig`, the sign of a
    code.

    >>> modularity([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [[0, 0], [1, 0], [0, 1], [1, 1]])
    1.0
    """
    return by_information(_mean_modularity, codes, factors, bins)


def _mean_modularity(table: Information) -> np.ndarray:
    squared = table.shared**2
    most = squared.max(axis=1)  # (d, ...)
    others = np.maximum(squared.sum(axis=1) - most, 0.0)
    knows = most > 0
    ratio = np.divide(others, most * max(1, squared.shape[1] - 1), out=np.ones_like(most), where=knows)
    return (1 - np.minimum(ratio, 1.0)).mean(axis=0)
