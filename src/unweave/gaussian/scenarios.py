"""How factors depend on each other: the published scenarios, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.errors import UsageError
from unweave.gaussian.model import World

Numbers = float | Sequence[float]
"""One for all factors, or one for each."""


@dataclass(frozen=True)
class Scenario:
    """A forest of factors: each is an independent Gaussian, or its parent times a weight plus its own noise.

    v_k = weight v_parent + z_k
    """

    parents: tuple[int | None, ...]
    """The index of the factor that each depends on, or None. A parent comes before its children."""
    n: int
    """Observed variables."""
    m: int
    """Latents."""
    about: str

    def sigma_v(self, *, weight: Numbers = 1.0, variance: Numbers = 1.0, own: Numbers = 0.1) -> np.ndarray:
        """Return the covariance of the factors [Vu2024]_.

        `weight` is the weight of a parent, the paper's alpha and beta; `variance` is that of factors without a parent;
        `own` is the variance of the noise z_k of the others. Each is one number, or one for each factor: `variance`
        ignores those of children, the others those of factors without a parent. The paper gives no numbers.
        """
        weights, variances, noises = (
            self._each(*pair) for pair in (("weight", weight), ("variance", variance), ("own", own))
        )
        if not (
            np.isfinite(weights).all()
            and all((each > 0).all() and np.isfinite(each).all() for each in (variances, noises))
        ):
            raise UsageError(
                f"the variances of factors must be above 0 and weights finite, not {variance}, {own}, {weight}"
            )
        loadings = np.zeros((len(self.parents),) * 2)  # factors as sums of independent terms
        for child, parent in enumerate(self.parents):
            if parent is not None:
                loadings[child] = weights[child] * loadings[parent]
            loadings[child, child] = np.sqrt((variances if parent is None else noises)[child])
        return loadings @ loadings.T

    def world(
        self, *, weight: Numbers = 1.0, variance: Numbers = 1.0, own: Numbers = 0.1, noise: float = 0.01
    ) -> World:
        """Return the world of this scenario, with `noise` the variance of the observed variables' noise."""
        return World(self.sigma_v(weight=weight, variance=variance, own=own), n=self.n, m=self.m, noise=noise)

    def _each(self, name: str, numbers: Numbers) -> np.ndarray:
        """Return one number for each factor."""
        given = np.atleast_1d(np.asarray(numbers, dtype=np.float64))
        if given.shape not in ((1,), (len(self.parents),)):
            raise UsageError(f"{name} is one number, or one for each of {len(self.parents)} factors, not {given.size}")
        return np.broadcast_to(given, (len(self.parents),))


SCENARIOS = {
    "3-in-3": Scenario((None, None, None), 4, 3, "three independent factors"),
    "3-in-2": Scenario((None, 0, None), 4, 3, "the second factor depends on the first"),
    "3-in-1": Scenario((None, 0, 0), 4, 3, "the second and third factor depend on the first"),
    "5-in-3": Scenario((None, 0, None, 2, None), 5, 4, "two pairs and a single factor"),
    "5-in-2": Scenario((None, 0, 0, None, 3), 5, 4, "two factors depend on the first, the fifth on the fourth"),
    "5-in-1": Scenario((None, 0, 0, 0, 0), 5, 4, "four factors depend on the first"),
}
"""Scenarios by name: the number of factors, and of independent groups. For five factors the text of the paper gives
only the numbers of groups: how they are split here is our choice."""
