"""Information between sets of jointly Gaussian variables, in nats, exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.gaussian.matrices import SINGULAR, matrix, require_definite


def mutual_information(covariance: ArrayLike, first: Sequence[int], second: Sequence[int]) -> float:
    """Return the mutual information of two sets of jointly Gaussian variables, in nats from 0 up.

        I(a; b) = 1/2 log ( |S_aa| |S_bb| / |S_ab,ab| )

    Parameters
    ----------
    covariance
        Joint covariance of all variables (n, n).
    first, second
        Indices of the variables of each set.

    Returns
    -------
    float
        The information; 0 for an empty set. Sets that determine each other, or share a variable, raise a `UsageError`.

    Examples
    --------
    >>> round(mutual_information([[1.0, 0.6], [0.6, 1.0]], [0], [1]), 6)
    0.223144
    """
    joint = matrix(covariance, "covariance")
    names = [*first, *second]
    if not all(0 <= name < len(joint) for name in names) or len(set(names)) < len(names):
        raise UsageError(
            f"the two sets must name different variables from 0 to {len(joint) - 1}, got {first}, {second}"
        )
    if not first or not second:
        return 0.0
    spread = np.sqrt(np.diag(joint))
    if not (spread > 0).all():
        raise UsageError("every variable of the covariance must have a variance above 0")
    r = (joint / spread[:, None] / spread)[np.ix_(names, names)]
    require_definite(r, "the covariance", "these variables determine each other, so that their information is infinite")
    cut = len(first)
    logs = [np.linalg.slogdet(block)[1] for block in (r[:cut, :cut], r[cut:, cut:], r)]
    return max(0.0, float(0.5 * (logs[0] + logs[1] - logs[2])))


def tables(cross: np.ndarray, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return I(x_i; v_S), (m, 2**s), and the entropy of v_S up to a sum over its factors, (2**s,), of all sets S.

    `cross` (m, s) are correlations of codes and factors, `factors` (s, s) those of factors. Set S has the bits of its
    members; I(v_S; v_T) is the sum of the entropies of S and T minus that of their union.
    """
    m, s = cross.shape
    known, entropy = np.zeros((m, 2**s)), np.zeros(2**s)
    masks = np.arange(2**s)
    members = masks[:, None] >> np.arange(s) & 1
    for size in range(1, s + 1):  # all sets of one size at once
        sets = masks[members.sum(axis=1) == size]
        chosen = np.nonzero(members[sets])[1].reshape(-1, size)
        inner = factors[chosen[:, :, None], chosen[:, None, :]]  # (sets, size, size)
        outer = np.moveaxis(cross[:, chosen], 0, -1)  # (sets, size, m)
        explained = (outer * np.linalg.solve(inner, outer)).sum(axis=1)  # (sets, m)
        known[:, sets] = np.maximum(-0.5 * np.log1p(-np.minimum(explained, 1 - SINGULAR)).T, 0.0)
        entropy[sets] = 0.5 * np.linalg.slogdet(inner)[1]
    return known, entropy
