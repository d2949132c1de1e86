"""Correlations of columns, and the dependence that their determinant measures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FLOOR = 1e-12
"""Smaller eigenvalues of a correlation matrix are rounding errors and count as this: an exact dependence adds 13.8
nats."""


def standardised(columns: np.ndarray) -> np.ndarray:
    """Return columns (n, c) of mean 0 and length 1, whose products are correlations; a constant column is all 0."""
    least = columns.min(axis=0)
    width = columns.max(axis=0) - least
    # Scale to [0, 1] first: squares of tiny or huge numbers would overflow or underflow.
    unit = (columns - least) / np.where(width > 0, width, 1)
    unit -= unit.mean(axis=0)
    unit[:, width == 0] = 0
    return unit / np.where(width > 0, np.sqrt((unit**2).sum(axis=0)), 1)


def strengths(codes: np.ndarray, factors: np.ndarray, categorical: Sequence[int] = ()) -> np.ndarray:
    """Return how closely each factor follows each latent, (d, k), in [0, 1].

    For a number this is |correlation|. For a categorical latent it is the correlation of the factor with its mean in
    each category, the largest that any function of the category has.
    """
    units = standardised(factors)
    found = np.abs(standardised(codes).T @ units)
    for j in categorical:
        labels, counts = np.unique(codes[:, j], return_inverse=True, return_counts=True)[1:]
        sums = np.zeros((len(counts), units.shape[1]))
        np.add.at(sums, labels, units)
        found[j] = np.sqrt((sums**2 / counts[:, None]).sum(axis=0))
    return np.minimum(found, 1.0)  # cuts rounding only


def dependence(correlations: np.ndarray) -> float:
    """Return -1/2 log det of a correlation matrix (c, c), finite and at least 0; 0 if all columns are uncorrelated."""
    eigenvalues = np.linalg.eigvalsh(correlations)
    return max(0.0, float(-0.5 * np.log(np.maximum(eigenvalues, FLOOR)).sum()))
