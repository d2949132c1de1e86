"""The settings of the linear-Gaussian experiment: the authors' numbers, and clean ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from unweave.gaussian import SCENARIOS, World
from unweave.gaussian.im import TIE
from unweave.gaussian.iterations import STEPS, Noise, Start, Stop
from unweave.gaussian.scenarios import Numbers, Scenario
from unweave.gaussian.study import Codes, Study, study

DRAWS, DECIMALS = 10**7, 4
"""The authors' number of samples for the covariance of the factors, and its number of decimals."""


@dataclass(frozen=True)
class Factors:
    """The numbers of a scenario, for `Scenario.world`."""

    variance: Numbers = 1.0
    weight: Numbers = 1.0
    own: Numbers = 0.1
    noise: float = 0.01


@dataclass(frozen=True)
class Setting:
    """One way to run the experiment. Pairs are for scenarios of three and of five factors."""

    factors: tuple[Factors, Factors] = (Factors(), Factors())
    rounded: bool = False
    """Whether the covariance of factors is the rounded covariance of a sample."""
    decoder: Noise = "full"
    start: Start = "principal"
    stop: Stop = "tolerance"
    steps: int = STEPS
    best_of: tuple[int, int] = (1, 1)
    """Number of starts of a cell; the one with the smallest misfit counts."""
    codes: Codes = "true"
    """The covariance of codes in the scores."""
    tie: float = TIE
    """Assignments within this many nats of the best count as equal."""

    def studies(self, name: str, runs: int, seed: int) -> list[Study]:
        """Return `runs` runs of the 25 cells of a scenario, computed together if the covariances of factors agree.

        The covariance of five factors has entries halfway between two rounded values, so runs differ.
        """
        scenario = SCENARIOS[name]
        large = len(scenario.parents) > 3
        first, *others = np.random.SeedSequence(seed).spawn(runs + 1)
        rng = np.random.default_rng(first)
        worlds = [self._world(scenario, self.factors[large], rng) for _ in range(runs if self.rounded else 1)]
        counts = Counter(world.sigma_v.tobytes() for world in worlds)
        distinct = {world.sigma_v.tobytes(): world for world in worlds}
        return [
            study(
                distinct[key],
                repeats=count if self.rounded else runs,
                seed=int(child.generate_state(1)[0]),
                noise=self.decoder,
                start=self.start,
                stop=self.stop,
                steps=self.steps,
                best_of=self.best_of[large],
                codes=self.codes,
                tie=self.tie,
            )
            for (key, count), child in zip(counts.items(), others, strict=False)
        ]

    def _world(self, scenario: Scenario, factors: Factors, rng: np.random.Generator) -> World:
        world = scenario.world(variance=factors.variance, weight=factors.weight, own=factors.own, noise=factors.noise)
        if not self.rounded:
            return world
        return World(_sampled(world.sigma_v, rng), n=world.n, m=world.m, noise=world.noise)


def _sampled(sigma_v: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the rounded covariance of a sample, drawn directly from its (Wishart) distribution."""
    from scipy.stats import wishart

    sample = wishart(DRAWS - 1, sigma_v / (DRAWS - 1)).rvs(random_state=rng)
    return np.round(sample, DECIMALS)


def _squares(*deviations: float) -> tuple[float, ...]:
    return tuple(deviation**2 for deviation in deviations)


AUTHORS = Setting(
    factors=(
        Factors(_squares(0.01, 0.02, 0.03), (0.0, 2.0, 4.0), _squares(1.0, 0.02, 0.03), 0.04**2),
        Factors(
            _squares(0.05, 0.01, 0.02, 0.04, 0.03),
            (0.0, 0.1, 0.3, 0.4, 0.2),
            _squares(1.0, 0.02, 0.01, 0.03, 0.04),
            0.01**2,
        ),
    ),
    rounded=True,
    decoder="diagonal",
    start="authors",
    stop="rest",
    steps=5000,
    best_of=(6, 2),
    codes="identity",
    tie=0.0,
)
"""The experiment in the authors' public notebooks. The first weight and noise are not used: the first factor has no
parent."""
SETTINGS = {"authors": AUTHORS, "clean": Setting()}
