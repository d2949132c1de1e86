"""Scaling of codes for sparse autoencoders, and the geometric median that their bias starts from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.errors import UsageError

WEISZFELD_STEPS = 100
CLOSE = 1e-6


@dataclass(frozen=True)
class Scaling:
    """x = (codes - centre) * scale has mean 0 in each column and mean square 1 over all entries."""

    centre: np.ndarray
    scale: float

    @classmethod
    def of(cls, codes: np.ndarray) -> Scaling:
        """Return the scaling of codes (n, d), float64."""
        centre = codes.mean(axis=0)
        spread = float(np.sqrt(np.mean((codes - centre) ** 2)))
        if not spread > 1e-12 * max(1.0, float(np.abs(centre).max())):
            raise UsageError("all rows of the codes are equal, so there is nothing to fit")
        return cls(centre, 1.0 / spread)

    def apply(self, codes: np.ndarray) -> np.ndarray:
        """Return x, float32."""
        return ((codes - self.centre) * self.scale).astype(np.float32)

    def undo(self, x: np.ndarray) -> np.ndarray:
        """Return codes, float64."""
        return x / self.scale + self.centre


def geometric_median(points: np.ndarray) -> np.ndarray:
    """Return the point (d,) with the least sum of distances to the points (n, d), by Weiszfeld's iteration.

    Each iteration moves to the mean of the points, weighted by inverse distance, until it converges.
    """
    place = points.mean(axis=0, dtype=np.float64)
    for _ in range(WEISZFELD_STEPS):
        weights = 1.0 / np.maximum(np.linalg.norm(points - place, axis=1), 1e-9)
        before, place = place, weights @ points / weights.sum()
        if np.linalg.norm(place - before) < CLOSE:
            break
    return place
