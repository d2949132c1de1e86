"""Checks of the matrices that the functions of this folder take."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError

SINGULAR = 1e-12
"""A smaller share of a variance is rounding: the other variables determine this one exactly."""
ROUNDING = 1e-9
"""How far below zero rounding may move an eigenvalue of correlations."""


def matrix(values: ArrayLike, name: str) -> np.ndarray:
    """Return `values` as a matrix of finite numbers, or raise a `UsageError` about the argument `name`."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} cannot be read as a matrix: {str(error).splitlines()[0]}") from error
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise UsageError(f"{name} must be a matrix of finite numbers, got shape {array.shape}")
    return array


def require_definite(correlations: np.ndarray, name: str, singular: str) -> None:
    """Raise a `UsageError` for impossible correlations, and for variables that determine each other (`singular` says
    why).
    """
    least = float(np.linalg.eigvalsh(correlations)[0])
    if least < -ROUNDING:
        raise UsageError(f"{name} is not a covariance: as correlations, it has the negative eigenvalue {least:.3g}")
    if least <= SINGULAR:
        raise UsageError(f"{name} is singular: {singular}")
