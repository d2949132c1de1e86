r"""Spearman's rank correlation of two scores over the runs of a study, with its interval over training seeds.

The cells of a study are fixed and its seeds are random; runs of one seed share their initial weights and batches. The
interval is therefore a jackknife that leaves out one seed at a time, in all cells [Efron1981]_: of Fisher's
:math:`z = \operatorname{artanh} \rho`, so that it ends before -1 and 1, with Student's t of n - 1 degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars

from unweave.study.analysis.seeds import FEW_SEEDS, Scores

FEW_RUNS = 10
"""With fewer runs a rank correlation has no interval."""
CLOSE_TO_ONE = 1 - 1e-9


@dataclass(frozen=True)
class RankCorrelation:
    """A rank correlation with its 95 % interval over seeds; None if it is undefined or there are too few seeds."""

    correlation: float | None
    low: float | None
    high: float | None
    runs: int
    seeds: int


def rank_correlation(first: Scores, second: Scores, seeds: Sequence[int] | np.ndarray) -> RankCorrelation:
    """Return Spearman's rank correlation of two scores of the same runs.

    Parameters
    ----------
    first, second
        One score for each run. Runs in which one of them is not finite are left out.
    seeds
        The training seed of each run.

    Returns
    -------
    RankCorrelation
        Without a correlation if a score is constant, and without an interval for fewer than five seeds or ten runs.

    Examples
    --------
    >>> rank_correlation([1, 2, 3, 4], [1, 2, 4, 3], seeds=[0, 1, 2, 3]).correlation
    0.8
    """
    pairs = np.array([first, second], dtype=float)
    there = np.isfinite(pairs).all(axis=0)
    pairs, of_run = pairs[:, there], np.asarray(seeds)[there]
    drawn = np.unique(of_run)
    value = _spearman(pairs)
    low = high = None
    if value is not None and len(drawn) >= FEW_SEEDS and pairs.shape[1] >= FEW_RUNS:
        low, high = _jackknife(value, [_spearman(pairs[:, of_run != seed]) for seed in drawn])
    return RankCorrelation(value, low, high, pairs.shape[1], len(drawn))


def correlations(
    runs: polars.DataFrame, first: Sequence[str], second: Sequence[str]
) -> Iterator[tuple[str, str, str, RankCorrelation]]:
    """Yield data set, both names, and the rank correlation, for each data set and each pair of columns of `runs`."""
    for (data,), part in runs.group_by("data", maintain_order=True):
        columns = {name: part[name].cast(polars.Float64).fill_null(np.nan).to_numpy() for name in {*first, *second}}
        for one in first:
            for other in second:
                yield str(data), one, other, rank_correlation(columns[one], columns[other], part["seed"].to_numpy())


def _spearman(pairs: np.ndarray) -> float | None:
    """Return the correlation of the ranks of two rows of scores (2, runs); None if one of them is constant."""
    from scipy.stats import rankdata

    if pairs.shape[1] < 3 or not (np.ptp(pairs, axis=1) > 0).all():
        return None
    a, b = rankdata(pairs, axis=1) - (pairs.shape[1] + 1) / 2
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def _jackknife(value: float, left_out: Sequence[float | None]) -> tuple[float | None, float | None]:
    """Return the interval of a correlation from the correlations that leave out one seed each."""
    from scipy.special import stdtrit

    known = [found for found in left_out if found is not None]
    n = len(left_out)
    if len(known) < n:
        return None, None
    z, without = (np.arctanh(np.clip(found, -CLOSE_TO_ONE, CLOSE_TO_ONE)) for found in (value, np.array(known)))
    error = np.sqrt((n - 1) / n * np.square(without - without.mean()).sum())
    low, high = np.tanh(z + np.array([-1, 1]) * stdtrit(n - 1, 0.975) * error)
    return float(low), float(high)
