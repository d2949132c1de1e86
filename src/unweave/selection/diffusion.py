"""A random walk on the points of a trace: the row-normalised multislice kernel, many steps at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.selection.multislice import Multislice


@dataclass(frozen=True)
class Diffusion:
    """The diffusion kernel P^t with P = D^-1 K', as an operator; it is never formed."""

    kernel: Multislice
    inverse_degrees: np.ndarray
    """1 / D, (n, m, 1)."""
    steps: int
    """t."""

    @classmethod
    def of(cls, kernel: Multislice, steps: int) -> Diffusion:
        """Return the walk on a kernel."""
        return cls(kernel, (1 / kernel.degrees)[:, :, None].astype(np.float32), steps)

    def apply(self, x: np.ndarray) -> np.ndarray:
        """Return P^t x for columns x (n m, b)."""
        y = self._blocks(x)
        for _ in range(self.steps):
            y = self.kernel.apply(y)
            y *= self.inverse_degrees
        return y.reshape(x.shape)

    def apply_transposed(self, x: np.ndarray) -> np.ndarray:
        """Return (P^t)' x for columns x (n m, b); K' is symmetric."""
        y = self._blocks(x)
        for _ in range(self.steps):
            y = self.kernel.apply(y * self.inverse_degrees)
        return y.reshape(x.shape)

    def _blocks(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x, dtype=np.float32).reshape(*self.kernel.shape, -1)
