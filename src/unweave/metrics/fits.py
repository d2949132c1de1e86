"""Boosted trees that several metrics fit to the same rows, fitted once."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

import numpy as np

from unweave.metrics.boosting import BoostedTrees

MOST = 256
"""Number of cached fits: those of one set of codes, its floor, ceiling and interval, for a dozen factors.

Each takes less than a megabyte.
"""


QUICK = 400
"""Trees of a quick fit: for noise, more trees do not make the importances more even."""


def fitted_trees(codes: np.ndarray, factor: np.ndarray, *, quick: bool = False) -> BoostedTrees:
    """Return boosted trees fitted to codes (n, d) and one factor (n,).

    DCI and the downstream task with all rows fit the same trees, for a score, its floor and its ceiling alike. A quick
    fit of a factor with many values has fewer rounds, from 10 on, so that there are about `QUICK` trees.
    """
    rounds = BoostedTrees().rounds
    if quick:
        rounds = min(rounds, max(10, QUICK // len(np.unique(factor))))
    return _fit(_Rows(codes, factor), rounds)


class _Rows:
    """Rows to fit, compared by content; released after the fit, so that the cache holds only the trees."""

    def __init__(self, codes: np.ndarray, factor: np.ndarray) -> None:
        content = sha256(np.ascontiguousarray(codes).tobytes())
        content.update(np.ascontiguousarray(factor).tobytes())
        self._key = (codes.shape, content.digest())
        self._given = [(codes, factor)]

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows, once."""
        return self._given.pop()

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rows) and self._key == other._key


@lru_cache(maxsize=MOST)
def _fit(rows: _Rows, rounds: int) -> BoostedTrees:
    return BoostedTrees(rounds).fit(*rows.take())
