"""Distances between the factors of two observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data import Data, Dataset, as_dataset
from unweave.data.table import require_factors


def ground_truth_distance(data: Data, a: ArrayLike, b: ArrayLike, *, scaled: bool | None = None) -> NDArray[np.float64]:
    r"""Return the ℓ1 distance between the factors of observations [Michlo2022]_, eq. 3.1: sum_k |v_k - v'_k|.

    Parameters
    ----------
    data
        A data set with factors, or its name.
    a, b
        Indices (n,) of observations.
    scaled
        Whether each factor is divided by its range, so that all have length 1 (eq. 5.11). By default only if some
        factors are real numbers, with different units.

    Returns
    -------
    ndarray
        The distances (n,).

    Examples
    --------
    >>> ground_truth_distance("xysquares", [0, 0], [1, 9]).tolist()
    [1.0, 2.0]
    """
    found = as_dataset(data)
    require_factors(found, "a ground-truth distance")
    apart = np.abs(found.values(np.asarray(a)) - found.values(np.asarray(b))).astype(np.float64)
    return total(apart, ranges(found, scaled))


def ranges(data: Dataset, scaled: bool | None) -> NDArray[np.float64]:
    """Return the divisors (k,) of the distances of each factor."""
    if not (bool(data.continuous) if scaled is None else scaled):
        return np.ones(len(data.factors.names))
    if not data.continuous:
        return np.maximum(np.array(data.factors.sizes, dtype=np.float64) - 1, 1)
    values = data.values(np.arange(len(data)))
    width = np.asarray(values.max(axis=0) - values.min(axis=0), dtype=np.float64)
    return np.where(width > 0, width, 1.0)


def total(apart: NDArray[np.float64], divisors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums (n,) of factors' distances (n, k), each divided, rounded so that equal sums stay equal."""
    return np.round((apart / divisors).sum(axis=1), 9)
