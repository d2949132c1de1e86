"""Intervals from half-samples: how a score moves when only half of its rows are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from unweave.metrics.inputs import Pair

FEWEST = 20
"""Below this many units half of them say nothing about the rest, and there is no interval."""
LARGE = 100_000
"""The units of the large sample that an interval is about, where a score has no limit within reach."""

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
    as_large: bool = False
    """Whether subsets are scored under the penalty of a large sample; all units are then scored so once more."""
    pace: tuple[float, ...] | None = None
    """Where the score goes on moving as units are added: the power of their number with which each part may do so."""
    by_chance: bool = False
    """Whether the score is a ratio of what may be nothing but chance, and so stays random in a large sample."""
    limits: tuple[Score, Score] | None = None
    """The least and the largest score there can be, of each part, where the metric's range is wider."""


def by_rows(score: Callable[..., S], *arrays: np.ndarray, replicates: int = 200) -> Sampled[S]:
    """Resample any score of arrays, of (codes, factors) say, by computing it anew on each subset of their rows."""

    def rescore(subsets: np.ndarray) -> np.ndarray:
        rows = (np.flatnonzero(subset) for subset in subsets)
        return np.array([score(*(array[kept] for array in arrays)) for kept in rows])

    return Sampled(score(*arrays), len(arrays[0]), rescore, replicates)


def by_refits(
    score: Callable[[Pair, Pair], S],
    fitted: Pair,
    judged: Pair,
    replicates: int = 10,
    *,
    large: Callable[[Pair, Pair], S] | None = None,
    pace: tuple[float, ...] | None = None,
    limits: tuple[Score, Score] | None = None,
) -> Sampled[S]:
    """Resample a score of rows to fit on and rows to judge on by fitting and judging anew on subsets of both.

    `large` scores subsets under the penalty of a large sample, where there is one; for the others see `Sampled`.
    """
    border, again = len(fitted[0]), large or score

    def half(pair: Pair, kept: np.ndarray) -> Pair:
        kept = kept if kept.sum() >= 2 else np.ones_like(kept)  # of a handful of rows a draw can leave none
        return pair[0][kept], pair[1][kept]

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return np.array([again(half(fitted, kept[:border]), half(judged, kept[border:])) for kept in subsets])

    units = border + len(judged[0])
    whole = score(fitted, judged)
    return Sampled(whole, units, rescore, replicates, as_large=large is not None, pace=pace, limits=limits)


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
    is cut to the range of the metric, or of its parts. A bootstrap would not do: repeated rows look like dependence,
    and inflate every mutual information.

    Three kinds of score need more, as their `Sampled` says:

    - `as_large`: a penalty weighed against the sum of losses moves the score with the number of rows. All units and
      the half-samples are scored under the penalty of LARGE units; the above is about that score, and holds s too.
    - `pace`: s grew by -b when n/2 units became n, and goes on; with the power a of n that it may follow,

          s(N) - s = -b ( 2^(aL) - 1 ) / ( 1 - 2^-a ),   L = log2(N / n),   or -b L at a = 0 (as log n),

      N = LARGE, takes the place of -b, the bias less (which is a = -1, N infinite). Half-samples come with their
      complements, so that what is linear in the rows cancels from b; Student's t has as many degrees as pairs. The
      reach at that end has the error of b, by its spread over the pairs and as many times as b, added in square.
    - `by_chance`: where a score is random for any n, a half-sample's lies nearer its mean, as a fresh sample's would,
      and the truth is on the side of s + b. It is held too, up to the reach.

    `replicates` is r; None takes the metric's own. A part that is infinite, or becomes so in a half-sample, has no
    interval: its ends are NaN.
    """
    from scipy.special import stdtrit

    if sampled.units < FEWEST:
        return None
    subsets, freedom = _halves(sampled, replicates or sampled.replicates, rng)
    r, score, ahead = len(subsets), np.atleast_1d(sampled.score), _doublings_ahead(sampled)  # the last two: (parts,)
    centre = sampled.rescore(np.ones((1, sampled.units), dtype=bool)).reshape(-1) if sampled.as_large else score
    with np.errstate(invalid="ignore"):
        deviations = sampled.rescore(subsets).reshape(r, -1) - centre
        bias, t = deviations.mean(axis=0), stdtrit(freedom, 0.975)
        reach = t * deviations.std(axis=0, ddof=1) * np.sqrt(1 + 1 / r)
        beyond = reach
        if sampled.pace is not None:
            growths = deviations.reshape(2, freedom, -1).mean(axis=0)  # one of each pair
            beyond = np.hypot(reach, ahead * t * growths.std(axis=0, ddof=1) / np.sqrt(freedom))
        held = [(centre, reach), (centre - ahead * bias, beyond)]
        if sampled.by_chance:
            held.append((centre + np.clip(bias, -reach, reach), reach))
        low, high = (np.array([place + side * width for place, width in held]) for side in (-1, 1))
        ends = np.minimum(low.min(axis=0), score), np.maximum(high.max(axis=0), score)
    ends = np.where(np.isfinite(reach), np.clip(ends, *(sampled.limits or limits)), np.nan)
    return list(zip(*ends.tolist(), strict=True))


def _halves(sampled: Sampled[Any], r: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Return r random halves (r, units), the second half complements where there is a pace, and t's freedom."""
    half = np.arange(sampled.units) < sampled.units // 2
    if sampled.pace is None:
        return rng.permuted(np.broadcast_to(half, (r, sampled.units)), axis=1), r - 1
    pairs = max(2, (r + 1) // 2)
    drawn = rng.permuted(np.broadcast_to(half, (pairs, sampled.units)), axis=1)
    return np.concatenate([drawn, ~drawn]), pairs


def _doublings_ahead(sampled: Sampled[Any]) -> np.ndarray:
    """Return how many times the growth of the last doubling is yet to come, (parts,): at least of one more doubling."""
    if sampled.pace is None:
        return np.ones(1)
    ahead = max(1.0, np.log2(LARGE / sampled.units))
    return np.array([np.expm1(a * ahead * np.log(2)) / -np.expm1(-a * np.log(2)) if a else ahead for a in sampled.pace])
