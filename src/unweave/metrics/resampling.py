"""Intervals from half-samples: how a score varies when it is computed from random halves of its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from unweave.late import importing
from unweave.metrics.inputs import Pair
from unweave.metrics.presets import FEWEST

Score: TypeAlias = float | tuple[float, ...]
"""One number, or the parts of a score as a named tuple of numbers."""
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
Limits: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Sampled(Generic[S_co]):
    """A score, and the same score on subsets of its units (rows of a sample, or votes)."""

    score: S_co
    units: int
    rescore: Callable[[np.ndarray], np.ndarray]
    """A function from boolean subsets (r, units) to their scores (r,), or (r, parts) if the score has parts."""
    replicates: int = 200
    """Default number of subsets: few where each needs another fit."""
    limits: tuple[Score, Score] | None = None
    """The least and the largest possible score of each part, if narrower than the metric's range."""
    per_factor: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The values (k,) of the varying factors, by the name of the part ("" for a single score), if the score has
    them."""
    step: float = 0.0
    """The weight of one vote, for a score that is a share of few votes: it widens the interval on both sides.

    It does not widen the interval of a difference, because both scores have the same votes.
    """


def by_rows(score: Callable[..., S], *arrays: np.ndarray, replicates: int = 200) -> Sampled[S]:
    """Resample any score of arrays, such as (codes, factors), by computing it on subsets of their rows.

    Parameters
    ----------
    score
        A function of the arrays.
    arrays
        Arrays with the same number of rows.
    replicates
        Default number of subsets for an interval: few if the score is slow.

    Returns
    -------
    Sampled
        The score of all rows, and of any subset of them. Functions decorated with `metric` return this.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.metrics import by_rows
    >>> by_rows(lambda z: float(z.std()), np.array([1.0, 3.0])).score
    1.0
    """

    def rescore(subsets: np.ndarray) -> np.ndarray:
        rows = (np.flatnonzero(subset) for subset in subsets)
        return np.array([score(*(array[kept] for array in arrays)) for kept in rows])

    return Sampled(score(*arrays), len(arrays[0]), rescore, replicates)


def by_refits(
    score: Callable[[Pair, Pair], S],
    train: Pair,
    test: Pair,
    replicates: int = 10,
    *,
    limits: tuple[Score, Score] | None = None,
) -> Sampled[S]:
    """Resample a score of train and test rows by fitting and testing on subsets of both."""
    border = len(train[0])

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return np.array([score(half(train, kept[:border]), half(test, kept[border:])) for kept in subsets])

    return Sampled(score(train, test), border + len(test[0]), rescore, replicates, limits)


def mean_over_factors(sampled: Sampled[Any]) -> Sampled[float]:
    """Return the mean of the factors' scores, which become its details; the scores of subsets are (r, k)."""
    values = np.array(sampled.score)
    return replace(
        sampled,
        score=float(values.mean()),
        rescore=lambda subsets: sampled.rescore(subsets).mean(axis=1),
        per_factor={"": values},
    )


def half(pair: Pair, kept: np.ndarray) -> Pair:
    """Return the kept rows of both arrays; all rows if fewer than two are kept, which can happen with very few rows."""
    return (pair[0][kept], pair[1][kept]) if kept.sum() >= 2 else pair


def halves(units: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return random halves of the units, (count, units) booleans, drawn without replacement."""
    return rng.permuted(np.broadcast_to(np.arange(units) < units // 2, (count, units)), axis=1)


def interval(
    sampled: Sampled[Any], limits: Limits, replicates: int | None, rng: np.random.Generator
) -> list[Limits] | None:
    r"""Return the 95 % interval of a score s, one for each of its parts, from random half-samples [Politis1994]_.

    It answers: would another draw of this many rows change the score?

        low, high = s - t sd(s_half), s + t sd(s_half),    cut to the range of the metric or of its parts.

    The score of a random half of the rows, drawn without replacement, varies about as much as the score of all rows
    does from one sample to the next: the factor 1/m - 1/n in its variance is 1/n at m = n/2. t is the 97.5 % point of
    Student's distribution with r - 1 degrees of freedom for r half-samples (1.97 at r = 200, 2.26 at 10). The interval
    is about the expected score at this number of rows: compare scores that grow with the number of rows at equal
    numbers. A share of votes gets one vote added on both sides: another draw of votes can differ even where all halves
    agree on every vote. The interval does not cover training seeds. A bootstrap does not work here: repeated rows look
    like dependence, and inflate every mutual information.

    `replicates` is r; None uses the metric's default. A part that is not finite, or becomes so in a half-sample, has no
    interval: its ends are NaN. With fewer than 20 units there is none at all: None.
    """
    if sampled.units < FEWEST:
        return None
    subsets = halves(sampled.units, replicates or sampled.replicates, rng)
    score = np.atleast_1d(sampled.score)
    reach = spread(sampled.rescore(subsets).reshape(len(subsets), -1)) + sampled.step
    with np.errstate(invalid="ignore"):
        ends = np.clip([score - reach, score + reach], *(sampled.limits or limits))
    return list(zip(*np.where(np.isfinite(reach), ends, np.nan).tolist(), strict=True))


def spread(replicates: np.ndarray) -> np.ndarray:
    """Return half the width of a 95 % interval, (parts,): t times the deviation of the replicates (r, parts)."""
    with importing():
        from scipy.special import stdtrit

    with np.errstate(invalid="ignore"):
        return stdtrit(len(replicates) - 1, 0.975) * replicates.std(axis=0, ddof=1)
