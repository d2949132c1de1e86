"""How well features represent codes, and how many are active."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SparseStatistics(NamedTuple):
    """How well a sparse autoencoder represents codes."""

    unexplained: float
    """Unexplained share of the variance: sum |x - x^|^2 / sum |x - mean x|^2."""
    l0: float
    """Mean number of active features per row."""
    dead: float
    """Share of the features that are active in no row."""


class StatisticsSums:
    """Sums over parts of the rows, which give the statistics of all rows."""

    def __init__(self, mean: np.ndarray) -> None:
        self._mean = mean
        self._left = self._all = 0.0
        self._rows = self._active = 0
        self._seen: np.ndarray | None = None

    def add(self, codes: np.ndarray, features: np.ndarray, found: np.ndarray) -> None:
        """Add rows: codes (n, d), features (n, f) and what they decode to (n, d)."""
        active = features > 0
        self._left += float(((codes - found) ** 2).sum())
        self._all += float(((codes - self._mean) ** 2).sum())
        self._rows += len(codes)
        self._active += int(active.sum())
        seen = np.asarray(active.any(axis=0))
        self._seen = seen if self._seen is None else np.logical_or(self._seen, seen)

    def result(self) -> SparseStatistics:
        """Return the statistics of all rows added."""
        seen = np.zeros(1, bool) if self._seen is None else self._seen
        unexplained = self._left / self._all if self._all else float("nan")
        return SparseStatistics(unexplained, self._active / max(1, self._rows), float(1 - seen.mean()))
