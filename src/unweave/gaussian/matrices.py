"""What every function of this folder asks of a matrix that it is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError

SINGULAR = 1e-12
"""A share of variance at most this large is rounding: what is left of it is determined exactly by the rest."""
ROUNDING = 1e-9
"""How far below zero an eigenvalue of correlations may be by rounding."""


def matrix(values: ArrayLike, name: str) -> np.ndarray:
    """Return `values` as a matrix of finite numbers, or say what is wrong with the argument `name`."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} cannot be read as a matrix: {str(error).splitlines()[0]}") from error
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise UsageError(f"{name} must be a matrix of finite numbers, got shape {array.shape}")
    return array


def require_definite(correlations: np.ndarray, name: str, singular: str) -> None:
    """Refuse correlations that no variables can have, and those of variables that determine each other.

    `singular` says what follows from the latter.
    """
    least = float(np.linalg.eigvalsh(correlations)[0])
    if least < -ROUNDING:
        raise UsageError(f"{name} is not a covariance: as correlations, it has the negative eigenvalue {least:.3g}")
    if least <= SINGULAR:
        raise UsageError(f"{name} is singular: {singular}")
