"""How well label-free scores agree with supervised ones on the order of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from unweave.selection.estimates import FEW_SEEDS, Estimate
from unweave.selection.measured import Measured
from unweave.selection.table import SCORES
from unweave.study.analysis.rank_correlations import rank_correlation

LEAST = 3
"""With fewer specifications there is no rank correlation."""


def agreement_rows(
    measured: Measured,
    name: str,
    estimate: Estimate,
    drawn: Sequence[np.ndarray],
    resampled: np.ndarray,
    labels: Mapping[str, np.ndarray],
) -> list[dict[str, Any]]:
    """Return Spearman's rank correlation of a score with supervised ones, over specifications and over runs.

    The interval over specifications resamples seeds, with the same draw for both scores; the interval over runs is a
    jackknife over seeds.
    """
    sign = 1.0 if SCORES[name].higher_is_better else -1.0
    seeds = [run.settings.training.seed for run in measured.runs]
    rows = []
    for supervised, values in labels.items():
        told = {"data": measured.specifications[0].data, "score": name, "supervised": supervised}
        over = Estimate(estimate.sizes, np.where(np.isfinite(estimate.values), values, np.nan))
        rows.append({**told, "over": "specifications", **_over_specifications(estimate, over, drawn, resampled, sign)})
        found = rank_correlation(sign * estimate.values, values, seeds)
        numbers = {"correlation": found.correlation, "low": found.low, "high": found.high}
        rows.append({**told, "over": "runs", "count": found.runs, **numbers})
    return rows


def _over_specifications(
    estimate: Estimate, labels: Estimate, drawn: Sequence[np.ndarray], resampled: np.ndarray, sign: float
) -> dict[str, Any]:
    ours, theirs = sign * estimate.specifications, labels.specifications
    known = np.isfinite(ours) & np.isfinite(theirs)
    value = spearman(ours[None, known], theirs[None, known])[0]
    low = high = np.nan
    if np.isfinite(value) and (estimate.seeds[known] >= FEW_SEEDS).all():
        again = spearman(sign * resampled[:, known], labels.resampled(drawn)[:, known])
        low, high = np.nanquantile(again, [0.025, 0.975])
    numbers = {"correlation": value, "low": low, "high": high}
    return {"count": int(known.sum())} | {
        key: float(number) if np.isfinite(number) else None for key, number in numbers.items()
    }


def spearman(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the rank correlations (B,) of pairs of rows (B, n); NaN if one is constant, or n is below three.

    >>> spearman(np.array([[1.0, 2.0, 3.0]]), np.array([[5.0, 9.0, 7.0]]))
    array([0.5])
    """
    if first.shape[1] < LEAST:
        return np.full(len(first), np.nan)
    a, b = (rankdata(each, axis=1) - (first.shape[1] + 1) / 2 for each in (first, second))
    lengths = np.sqrt((a**2).sum(1) * (b**2).sum(1))
    return np.where(lengths > 0, (a * b).sum(1) / np.where(lengths > 0, lengths, 1.0), np.nan)
