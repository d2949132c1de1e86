"""Linear and rank correlation of distances, and the same with other distances held constant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.metrics.distance_correlation import rounded
from unweave.metrics.ranks import ranks

Floats = NDArray[np.float64]


class Correlation(NamedTuple):
    """How perceived distances follow ground-truth ones; 0 if either are constant."""

    linear: float
    """Pearson's."""
    rank: float
    """Spearman's, with mean ranks for ties."""


def correlation(truth: Floats, perceived: Floats) -> Correlation:
    """Return the correlations of two lists of distances (n,), ignoring rounding errors that would break ties."""
    columns = np.stack([truth, rounded(perceived)], axis=1)
    return Correlation(_pearson(columns), _pearson(ranks(columns)))


def partial_correlations(truths: Floats, perceived: Floats) -> list[Correlation]:
    """Return the correlations of distances (n,) with each column of others (n, k), with other columns held constant."""
    columns = np.column_stack([truths, rounded(perceived)])
    linear, rank = _partial(columns), _partial(ranks(columns))
    return [Correlation(one, other) for one, other in zip(linear, rank, strict=True)]


def _pearson(columns: Floats) -> float:
    centred = columns - columns.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0).prod())
    return float(np.clip(centred[:, 0] @ centred[:, 1] / spread, -1.0, 1.0)) if spread > 0 else 0.0


def _partial(columns: Floats) -> list[float]:
    """Return the partial correlations of the last column with each of the others."""
    centred = columns - columns.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(lengths > 0, lengths, 1)
    precision = np.linalg.pinv(unit.T @ unit, hermitian=True)
    scale = np.sqrt(np.maximum(precision[-1, -1] * np.diag(precision)[:-1], 0))
    found = -precision[-1, :-1] / np.where(scale > 0, scale, 1)
    return np.clip(np.where(scale > 0, found, 0.0), -1.0, 1.0).tolist()
