"""Intervals from half-samples: how a score moves when only half of its rows are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from unweave.late import importing
from unweave.metrics.inputs import Pair

FEWEST = 20
"""Below this many units half of them say nothing about the rest, and there is no interval."""

Score: TypeAlias = float | tuple[float, ...]
"""One number, or the parts of a score as a named tuple of numbers."""
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
Limits: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Sampled(Generic[S_co]):
    """A score, and the same score on subsets of the units (rows of a sample, or votes) it was computed from."""

    score: S_co
    units: int
    rescore: Callable[[np.ndarray], np.ndarray]
    """Subsets (r, units), boolean, to their scores (r,), or (r, parts) where the score has parts."""
    replicates: int = 200
    """How many subsets are worth their time: few where each means another fit."""
    limits: tuple[Score, Score] | None = None
    """The least and the largest score there can be, of each part, where the metric's range is wider."""
    per_factor: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The values (k,) of the factors that vary, by the name of the part ("" for a single score), where it has them."""
    step: float = 0.0
    """One vote more or less, of a score that is a share of few votes: its interval is wider by that on both sides.

    The interval of a difference is not: both have the same votes.
    """


def by_rows(score: Callable[..., S], *arrays: np.ndarray, replicates: int = 200) -> Sampled[S]:
    """Resample any score of arrays, of (codes, factors) say, by computing it on each subset of their rows.

    Parameters
    ----------
    score
        A function of the arrays.
    arrays
        Arrays with as many rows as each other.
    replicates
        How many subsets are worth their time.

    Returns
    -------
    Sampled
        The score of all rows, and of any subset of them: what a function under `metric` returns.

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
    """Return the mean of scores, one for each factor, which stay as its details; a subset's scores are (r, k)."""
    values = np.array(sampled.score)
    return replace(
        sampled,
        score=float(values.mean()),
        rescore=lambda subsets: sampled.rescore(subsets).mean(axis=1),
        per_factor={"": values},
    )


def half(pair: Pair, kept: np.ndarray) -> Pair:
    """Return the kept rows of both arrays; all of them where fewer than two are kept, as can happen to a handful."""
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
    is about the expected score at this number of rows: a score that grows with the number of rows is compared at
    equal numbers. A share of votes has one vote added to its reach: if all halves are right to the last vote, another
    draw of votes need not be. The interval says nothing about other training seeds. A bootstrap would not do: repeated
    rows look like dependence, and inflate every mutual information.

    `replicates` is r; None takes the metric's own. A part that is not finite, or becomes so in a half-sample, has no
    interval: its ends are NaN. Fewer than 20 units have none at all: None.
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
    """Return half the width of a 95 % interval, (parts,): t times the standard error by the replicates (r, parts)."""
    with importing():
        from scipy.special import stdtrit

    with np.errstate(invalid="ignore"):
        return stdtrit(len(replicates) - 1, 0.975) * replicates.std(axis=0, ddof=1)
