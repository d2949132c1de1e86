"""95 % intervals of means and of shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Estimate(NamedTuple):
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


def mean_and_interval(values: ArrayLike) -> Estimate:
    """Return the mean of independent values and its Student interval.

    >>> mean_and_interval([1.0, 1.0, 1.0])
    Estimate(value=1.0, low=1.0, high=1.0)
    """
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=np.float64)
    mean = float(values.mean())
    reach = float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))
    return Estimate(mean, mean - reach, mean + reach)


def share_and_interval(happened: ArrayLike) -> Estimate:
    """Return the share of successes in independent trials, and its exact (Clopper-Pearson) interval.

    >>> [round(end, 3) for end in share_and_interval([False] * 4)]
    [0.0, 0.0, 0.602]
    """
    from scipy.special import betaincinv

    trials = np.asarray(happened, dtype=bool)
    count, hits = trials.size, int(trials.sum())
    low = float(betaincinv(hits, count - hits + 1, 0.025)) if hits else 0.0
    high = float(betaincinv(hits + 1, count - hits, 0.975)) if hits < count else 1.0
    return Estimate(hits / count, low, high)
