"""Intervals from half-samples: how a score moves when only half of its rows are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from unweave.metrics.inputs import Pair

FEWEST = 20
"""Below this many units half of them say nothing about the rest, and there is no interval."""

Score: TypeAlias = float | tuple[float, ...]
"""One number, or the parts of a score as a named tuple of numbers."""
S = TypeVar("S", bound=Score)
Limits: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Sampled(Generic[S]):
    """A score, and the same score on subsets of the units (rows of a sample, or votes) it was computed from."""

    score: S
    units: int
    rescore: Callable[[np.ndarray], np.ndarray]
    """Subsets (r, units), boolean, to their scores (r,), or (r, parts) where the score has parts."""
    replicates: int = 200
    """How many subsets are worth their time: few where each means another fit."""


def by_rows(score: Callable[..., S], *arrays: np.ndarray, replicates: int = 200) -> Sampled[S]:
    """Resample any score of arrays, of (codes, factors) say, by computing it anew on each subset of their rows."""

    def rescore(subsets: np.ndarray) -> np.ndarray:
        rows = (np.flatnonzero(subset) for subset in subsets)
        return np.array([score(*(array[kept] for array in arrays)) for kept in rows])

    return Sampled(score(*arrays), len(arrays[0]), rescore, replicates)


def by_refits(score: Callable[[Pair, Pair], S], fitted: Pair, judged: Pair, replicates: int = 10) -> Sampled[S]:
    """Resample a score of rows to fit on and rows to judge on by fitting and judging anew on subsets of both."""
    border = len(fitted[0])

    def half(pair: Pair, kept: np.ndarray) -> Pair:
        kept = kept if kept.sum() >= 2 else np.ones_like(kept)  # of a handful of rows a draw can leave none
        return pair[0][kept], pair[1][kept]

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return np.array([score(half(fitted, kept[:border]), half(judged, kept[border:])) for kept in subsets])

    return Sampled(score(fitted, judged), border + len(judged[0]), rescore, replicates)


def interval(
    sampled: Sampled[Any], limits: Limits, replicates: int | None, rng: np.random.Generator
) -> list[Limits] | None:
    r"""Return the 95 % interval of a score s, one for each of its parts, from random half-samples [Politis1994]_.

    A half-sample drawn without replacement is to the sample what the sample is to the population: the deviation
    s_half - s has the variance of s itself (the factor 1/m - 1/n is 1/n at m = n/2), and where s has a bias c/n
    the deviation's mean is 2c/n - c/n, that same bias. Hence, with r half-samples and the mean deviation b,

        low, high = min(s, s - b) - reach, max(s, s - b) + reach,   reach = t std(s_half - s) sqrt(1 + 1/r).

    Not every bias is c/n, so the score is held both as it is and less its bias. t is the 97.5 % point of Student's
    distribution with r - 1 degrees of freedom: a handful of half-samples knows its own spread badly, and the interval
    grows accordingly (1.98 deviations at r = 200, 2.37 at 10). The interval is about the score of a large sample, and
    is cut to the metric's range. A bootstrap would not do: repeated rows look like dependence, and inflate every
    mutual information.

    `replicates` is r; None takes the metric's own. A part that is infinite, or becomes so in a half-sample, has no
    interval: its ends are NaN.
    """
    from scipy.special import stdtrit

    if sampled.units < FEWEST:
        return None
    r = replicates or sampled.replicates
    half = np.arange(sampled.units) < sampled.units // 2
    subsets = rng.permuted(np.broadcast_to(half, (r, sampled.units)), axis=1)
    score = np.atleast_1d(sampled.score)  # (parts,)
    with np.errstate(invalid="ignore"):
        deviations = sampled.rescore(subsets).reshape(r, -1) - score
        reach = stdtrit(r - 1, 0.975) * deviations.std(axis=0, ddof=1) * np.sqrt(1 + 1 / r)
        corrected = score - deviations.mean(axis=0)
        ends = np.minimum(score, corrected) - reach, np.maximum(score, corrected) + reach
    ends = np.where(np.isfinite(reach), np.clip(ends, *limits), np.nan)
    return list(zip(*ends.tolist(), strict=True))
