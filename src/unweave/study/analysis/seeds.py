r"""Statistics over training seeds, with intervals that hold for few seeds.

The bootstrap resamples the seeds of a cell. Its plain percentiles are too narrow for few seeds [Hesterberg2015]_: for a
mean by :math:`\sqrt{(n-1)/n}`, and because they ignore Student's t. Their distances from the value are multiplied by
:math:`\sqrt{n/(n-1)}\; t_{n-1,\,0.975} / z_{0.975}`, which gives Student's interval for normal scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import cos, pi, sin, sqrt, tan
from statistics import NormalDist

import numpy as np
import polars

from unweave.study.analysis.tidy import cells_of, settings_of_cells

FEW_SEEDS = 5
"""With fewer seeds a cell has points but no interval."""
RESAMPLES = 10_000
LEVEL = 0.95
NORMAL = NormalDist().inv_cdf((1 + LEVEL) / 2)
"""The 97.5 % quantile of a normal distribution."""
Scores = Sequence[float] | np.ndarray
Statistic = Callable[[np.ndarray], np.ndarray]
"""From (…, n) scores to (…) values."""


@dataclass(frozen=True)
class Interval:
    """A value, and its 95 % interval over seeds; low and high are None for fewer than five."""

    value: float
    low: float | None
    high: float | None
    seeds: int


def mean(scores: np.ndarray) -> np.ndarray:
    """Return the mean over the last axis."""
    return scores.mean(axis=-1)


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    r"""Return the mean of the middle half of the scores along the last axis [Agarwal2021]_.

    A quarter of the weight is cut off at each end; a score that the cut goes through counts in part.

    Parameters
    ----------
    scores
        Scores (…, n).

    Returns
    -------
    ndarray
        The means (…).

    Examples
    --------
    >>> float(interquartile_mean(np.array([0.0, 1.0, 2.0, 100.0])))
    1.5
    """
    ordered = np.sort(scores, axis=-1)
    n = ordered.shape[-1]
    edges = np.arange(n + 1)
    inside = np.clip(edges[1:], n / 4, 3 * n / 4) - np.clip(edges[:-1], n / 4, 3 * n / 4)
    return ordered @ inside / (n / 2)


def over_seeds(scores: Scores, statistic: Statistic = mean, *, seed: int = 0) -> Interval:
    """Return a statistic of the scores of one cell, and its interval over resampled seeds.

    Parameters
    ----------
    scores
        One score for each training seed.
    statistic
        A function of the last axis: the mean, or `interquartile_mean`.
    seed
        Seed of the resampling.

    Returns
    -------
    Interval
        Without `low` and `high` for fewer than five seeds.

    Examples
    --------
    >>> found = over_seeds([0.30, 0.32, 0.28, 0.35, 0.31])
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2)
    (0.312, 0.28, 0.34)
    """
    values = _finite(scores)
    n = len(values)
    value = float(statistic(values))
    if n < FEW_SEEDS:
        return Interval(value, None, None, n)
    resampled = statistic(values[np.random.default_rng(seed).integers(n, size=(RESAMPLES, n))])
    low, high = stretched(resampled, value, n)
    return Interval(value, low, high, n)


def improvement(ours: Scores, theirs: Scores) -> Interval:
    r"""Return the probability that a run of ours beats one of theirs; a tie counts one half [Agarwal2021]_.

    After five wins out of five, a bootstrap interval would be a point. This interval holds all probabilities p that are
    at most 1.96 standard errors away, with the standard error at p ([Newcombe2006]_, method 5).

    Parameters
    ----------
    ours, theirs
        One score for each training seed of two cells.

    Returns
    -------
    Interval
        Within [0, 1]; `seeds` is the smaller number of seeds.

    Examples
    --------
    >>> improvement([1.0, 2.0, 3.0], [0.0, 2.0, 2.5]).value
    0.6111111111111112
    """
    a, b = _finite(ours), _finite(theirs)
    value = float(np.mean(0.5 * (1 + np.sign(a[:, None] - b[None]))))
    n = min(len(a), len(b))
    if n < FEW_SEEDS:
        return Interval(value, None, None, n)
    high = _largest_chance(value, len(a), len(b))
    return Interval(value, 1 - _largest_chance(1 - value, len(a), len(b)), high, n)


def _largest_chance(value: float, m: int, n: int) -> float:
    """Return the largest winning probability at which this share of m × n wins is within 1.96 standard errors."""
    from scipy.optimize import brentq
    from scipy.special import ndtri

    def excess(p: float) -> float:
        spread = 1 + ((m + n) / 2 - 1) * ((1 - p) / (2 - p) + p / (1 + p))
        return p - value - ndtri(0.975) * np.sqrt(p * (1 - p) * spread / (m * n))

    return 1.0 if value == 1 else float(brentq(excess, value + 1e-12, 1))  # pyright: ignore[reportArgumentType]


def summary(table: polars.DataFrame, metric: str, statistic: Statistic = mean, *, seed: int = 0) -> polars.DataFrame:
    """Return a statistic of each cell with its interval over seeds.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it.
    metric
        The metric.
    statistic, seed
        As for `over_seeds`.

    Returns
    -------
    polars.DataFrame
        The settings of each cell, seeds, value, low, high.
    """
    settings = settings_of_cells(table)
    rows = []
    for cell, scores in cells_of(table, metric).items():
        found = over_seeds(scores.to_numpy(), statistic, seed=seed)
        rows.append(dict(zip(settings, cell, strict=True)) | vars(found))
    return polars.DataFrame(rows, infer_schema_length=None).select(*settings, "seeds", "value", "low", "high")


def _finite(scores: Scores) -> np.ndarray:
    values = np.asarray(scores, dtype=float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError("scores must be a list of finite numbers, one for each seed")
    return values


def stretch(n: int) -> float:
    """Return the factor by which the spread of a statistic over n resampled seeds is too narrow.

    >>> round(stretch(5), 2), round(stretch(1000), 2)
    (1.58, 1.0)
    """
    return sqrt(n / (n - 1)) * student(n - 1) / NORMAL


@cache
def student(df: int) -> float:
    r"""Return the 97.5 % quantile of Student's t, by the finite sums of [Abramowitz1964]_, 26.7.3 and 26.7.4.

    With :math:`\theta = \arctan(t / \sqrt{\nu})` they give the probability of :math:`|T| < t`. scipy has this function
    too, but takes a quarter of a second to import.

    >>> round(student(4), 4), round(student(1), 4)
    (2.7764, 12.7062)
    """
    low, high = 0.0, pi / 2
    while low < (theta := (low + high) / 2) < high:
        low, high = (theta, high) if _within(theta, df) < LEVEL else (low, theta)
    return sqrt(df) * tan(low)


def _within(theta: float, df: int) -> float:
    """Return the probability of |T| < t."""
    odd = df % 2
    term, total = cos(theta) if odd else 1.0, 0.0
    for power in range(odd, df - 1, 2):
        term *= cos(theta) ** 2 * (power - 1) / power if power > odd else 1
        total += term
    return 2 / pi * (theta + sin(theta) * total) if odd else sin(theta) * total


def stretched(resampled: np.ndarray, value: float, n: int) -> tuple[float, float]:
    """Return the 95 % percentiles of a resampled statistic, widened for n seeds."""
    low, high = value + stretch(n) * (np.quantile(resampled, [0.025, 0.975]) - value)
    return float(low), float(high)
