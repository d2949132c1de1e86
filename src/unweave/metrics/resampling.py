"""Intervals from half-samples: how a score moves when only half of its rows are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

FEWEST = 20
"""Below this many units half of them say nothing about the rest, and there is no interval."""


@dataclass(frozen=True)
class Sampled:
    """A score, and the same score on subsets of the units (rows of a sample, or votes) it was computed from."""

    score: float
    units: int
    rescore: Callable[[np.ndarray], np.ndarray]
    """Subsets (r, units), boolean, to their scores (r,)."""


def by_rows(score: Callable[..., float], *arrays: np.ndarray) -> Sampled:
    """Resample any score of arrays, of (codes, factors) say, by computing it anew on each subset of their rows."""

    def rescore(subsets: np.ndarray) -> np.ndarray:
        rows = (np.flatnonzero(subset) for subset in subsets)
        return np.array([score(*(array[kept] for array in arrays)) for kept in rows])

    return Sampled(score(*arrays), len(arrays[0]), rescore)


def interval(
    sampled: Sampled, limits: tuple[float, float], replicates: int, rng: np.random.Generator
) -> tuple[float, float] | None:
    r"""Return the 95 % interval of a score s from random half-samples [Politis1994]_.

    A half-sample drawn without replacement is to the sample what the sample is to the population: the deviation
    s_half - s has the variance of s itself (the factor 1/m - 1/n is 1/n at m = n/2), and where s has a bias c/n
    the deviation's mean is 2c/n - c/n, that same bias. Hence

        low, high = s - mean(s_half - s) -/+ 1.96 std(s_half - s),

    cut to the metric's range and then widened, where need be, to hold s: the interval is about the score of a large
    sample, and s may be at its very end. A bootstrap would not do: repeated rows look like dependence, and inflate
    every mutual information.
    """
    if sampled.units < FEWEST:
        return None
    half = np.arange(sampled.units) < sampled.units // 2
    subsets = rng.permuted(np.broadcast_to(half, (replicates, sampled.units)), axis=1)
    deviations = sampled.rescore(subsets) - sampled.score
    centre, reach = sampled.score - deviations.mean(), 1.96 * deviations.std(ddof=1)
    low, high = np.clip([centre - reach, centre + reach], *limits)
    return min(float(low), sampled.score), max(float(high), sampled.score)
