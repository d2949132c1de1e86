r"""How many training seeds it takes to distinguish two cells, from the noncentral t distribution.

For :math:`n` seeds of each of two cells, whose means differ by :math:`d` standard deviations, Student's statistic has a
noncentral t distribution with :math:`2n - 2` degrees of freedom and noncentrality :math:`d \sqrt{n / 2}`
[Cohen1988]_. The probability that it exceeds the critical values of the test is the power. The effect :math:`d` is
itself measured from a few seeds: the noncentralities under which the statistic found is the 97.5th and the 2.5th
percentile are the ends of its interval [Steiger2004]_.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, inf, isfinite, isnan, nan, sqrt

import numpy as np

LEVEL = 0.05
"""Of the two-sided test."""
MOST_SEEDS = 1000
"""The largest number of seeds considered."""

Scores = Sequence[float] | np.ndarray


def effect_size(first: Scores, second: Scores) -> float:
    """Return Cohen's d: the mean of the second minus that of the first, divided by their pooled standard deviation.

    Parameters
    ----------
    first, second
        The scores of two cells, one for each seed, at least two of each.

    Returns
    -------
    float
        0 for equal means; infinite if means differ but no score varies.

    Examples
    --------
    >>> round(effect_size([0.0, 2.0], [2.0, 4.0]), 3)
    1.414
    """
    a, b = (np.asarray(scores, dtype=float) for scores in (first, second))
    if min(len(a), len(b)) < 2:
        raise ValueError("an effect needs at least two seeds of each cell")
    difference = float(b.mean() - a.mean())
    pooled = pooled_deviation([a, b])
    # Equal scores may differ from their mean in the last digit.
    if pooled <= 1e-12 * max(abs(float(a.mean())), abs(float(b.mean()))):
        return 0.0 if abs(difference) <= 1e-12 * abs(float(b.mean())) else float(np.copysign(inf, difference))
    return difference / pooled


def pooled_deviation(cells: Sequence[Scores]) -> float:
    """Return the standard deviation within cells, weighted by their numbers of scores minus one.

    >>> round(pooled_deviation([[0.0, 2.0], [5.0, 7.0]]), 3)
    1.414
    """
    squares = sum(float(np.var(cell) * len(cell)) for cell in cells)
    free = sum(len(cell) - 1 for cell in cells)
    return sqrt(squares / free) if free else nan


def effect_interval(effect: float, first: int, second: int) -> tuple[float, float]:
    """Return the 95 % interval of an effect.

    Parameters
    ----------
    effect
        The effect that was measured, as by `effect_size`.
    first, second
        The number of seeds of each cell.

    Returns
    -------
    tuple
        low and high.

    Examples
    --------
    >>> [round(end, 2) for end in effect_interval(1.0, 10, 10)]
    [0.05, 1.92]
    """
    from scipy.special import nctdtr

    scale = sqrt(first * second / (first + second))
    free, found = first + second - 2, effect * scale
    if not isfinite(found):
        return effect, effect
    low, high = (
        _root(lambda shift, chance=chance: float(nctdtr(free, shift, found)) - chance, found)
        for chance in (1 - LEVEL / 2, LEVEL / 2)
    )
    return low / scale, high / scale


def power_of(effect: float, seeds: int) -> float:
    """Return the probability that a two-sided t test at 5 % finds an effect.

    Parameters
    ----------
    effect
        The difference of the means in standard deviations over seeds.
    seeds
        The number of seeds of each of two cells.

    Returns
    -------
    float
        The power of the test.

    Examples
    --------
    >>> round(power_of(0.5, 64), 3)
    0.801
    """
    from scipy.special import nctdtr, stdtrit

    if seeds < 2:
        raise ValueError(f"a test needs at least two seeds, not {seeds}")
    if not isfinite(effect):
        return nan if isnan(effect) else 1.0
    free, shift = 2 * seeds - 2, abs(effect) * sqrt(seeds / 2)
    critical = float(stdtrit(free, 1 - LEVEL / 2))
    beyond = 1 - float(nctdtr(free, shift, critical)) + float(nctdtr(free, shift, -critical))
    return 1.0 if isnan(beyond) else min(max(beyond, 0.0), 1.0)  # nan: so large that the series fails


def seeds_for_power(effect: float, wanted: float = 0.8, most: int = MOST_SEEDS) -> int | None:
    """Return how many seeds of each of two cells give a two-sided t test at 5 % this power.

    Parameters
    ----------
    effect
        The difference of the means in standard deviations over seeds.
    wanted
        The power to reach.
    most
        The largest number of seeds to consider.

    Returns
    -------
    int or None
        At least 2; None if more than `most` would be needed, as for an effect of 0.

    Examples
    --------
    >>> [seeds_for_power(effect) for effect in (0.2, 0.5, 0.8, 5.0, 0.0)]
    [394, 64, 26, 3, None]
    """
    if isnan(effect) or power_of(effect, most) < wanted:
        return None
    low, high = 1, most
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(effect, middle) < wanted:
            low = middle
        else:
            high = middle
    return high


def rows_for_noise(noise: float, rows: int, spread: float, share: float = 1 / 3) -> int | None:
    """Return how many rows bring the noise of scoring below a share of the spread over seeds.

    The noise is assumed to fall as one over the root of the number of rows.

    Parameters
    ----------
    noise, rows
        The standard deviation of a score over draws of rows, and the number of rows in a draw.
    spread
        The standard deviation over training seeds.
    share
        The share of the spread that the noise may have.

    Returns
    -------
    int or None
        The number of rows; None if the score has no spread.

    Examples
    --------
    >>> rows_for_noise(0.02, 1000, 0.03)
    4000
    """
    if not isfinite(noise) or not spread > 0:
        return None
    return ceil(round(rows * (noise / (share * spread)) ** 2, 6))


def _root(difference: Callable[[float], float], start: float) -> float:
    """Return the zero of a decreasing function of the noncentrality, near `start`."""
    from scipy.optimize import brentq

    reach = 1.0
    while difference(start - reach) < 0 or difference(start + reach) > 0:
        reach *= 2
    return float(brentq(difference, start - reach, start + reach))  # pyright: ignore[reportArgumentType]
