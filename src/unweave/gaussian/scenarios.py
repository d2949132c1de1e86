"""How factors depend on each other: the published scenarios, as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.errors import UsageError
from unweave.gaussian.model import World


@dataclass(frozen=True)
class Scenario:
    """A forest of factors: each is a Gaussian of its own, or its parent times a weight and noise of its own.

    v_k = weight v_parent + z_k
    """

    parents: tuple[int | None, ...]
    """The factor that each depends on, by index, or none. A parent comes before its children."""
    n: int
    """Observed variables."""
    m: int
    """Codes."""
    about: str

    def sigma_v(self, *, weight: float = 1.0, variance: float = 1.0, own: float = 0.1) -> np.ndarray:
        """Return the covariance of the factors [Vu2024]_.

        `weight` is the paper's alpha and beta, `variance` that of factors without a parent, `own` that of the noise
        z_k of the others. The paper gives none of the numbers.
        """
        if not (variance > 0 and own > 0 and np.isfinite([weight, variance, own]).all()):
            raise UsageError(f"the variances of factors must be above 0, not {variance} and {own}")
        loadings = np.zeros((len(self.parents),) * 2)  # factors as sums of independent terms
        for child, parent in enumerate(self.parents):
            if parent is not None:
                loadings[child] = weight * loadings[parent]
            loadings[child, child] = np.sqrt(variance if parent is None else own)
        return loadings @ loadings.T

    def world(self, *, weight: float = 1.0, variance: float = 1.0, own: float = 0.1, noise: float = 0.01) -> World:
        """Return the world of this scenario, with `noise` the variance of the observed variables' noise."""
        return World(self.sigma_v(weight=weight, variance=variance, own=own), n=self.n, m=self.m, noise=noise)


SCENARIOS = {
    "3-in-3": Scenario((None, None, None), 4, 3, "three independent factors"),
    "3-in-2": Scenario((None, 0, None), 4, 3, "the second factor depends on the first"),
    "3-in-1": Scenario((None, 0, 0), 4, 3, "the second and third factor depend on the first"),
    "5-in-3": Scenario((None, 0, None, 2, None), 5, 4, "two pairs and a single factor"),
    "5-in-2": Scenario((None, 0, 0, None, 3), 5, 4, "two factors depend on the first, the fifth on the fourth"),
    "5-in-1": Scenario((None, 0, 0, 0, 0), 5, 4, "four factors depend on the first"),
}
"""By name: factors, and in how many independent groups. The paper draws those of five factors, but its text gives only
the numbers of groups: how ours are split is our choice."""
