"""Which cells differ: every pair of cells, corrected for how many pairs there are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars

from unweave.study.analysis.seeds import FEW_SEEDS, improvement
from unweave.study.analysis.tidy import cells_of, settings_of_cells


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's step-down rule: the k-th smallest of m times m - k + 1, never falling.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values)
    factors = np.arange(len(values), 0, -1)
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(1, np.maximum.accumulate(values[order] * factors))
    return corrected.tolist()


def compare_cells(table: polars.DataFrame, metric: str) -> polars.DataFrame:
    """Compare every pair of cells that have at least five seeds, on the same data set and step.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it.
    metric
        The metric.

    Returns
    -------
    polars.DataFrame
        first, second (as text), difference of means, improvement with low and high (the chance that a run of the
        first scores higher), p by Welch's test, and p_holm, corrected for all pairs of the table.
    """
    from scipy.stats import ttest_ind

    settings = settings_of_cells(table)
    together = [settings.index(name) for name in ("data", "step") if name in settings]
    cells = [(cell, scores.to_numpy()) for cell, scores in cells_of(table, metric).items() if len(scores) >= FEW_SEEDS]
    rows = []
    for (one, ours), (other, theirs) in combinations(cells, 2):
        if any(one[i] != other[i] for i in together):
            continue
        found = improvement(ours, theirs)
        same = np.ptp(ours) == np.ptp(theirs) == 0  # Welch's test has no answer for constant scores
        p = float(ours[0] == theirs[0]) if same else float(np.asarray(ttest_ind(ours, theirs, equal_var=False))[1])
        rows.append(
            {
                "first": _text(settings, one),
                "second": _text(settings, other),
                "difference": float(ours.mean() - theirs.mean()),
                "improvement": found.value,
                "low": found.low,
                "high": found.high,
                "p": p,
            }
        )
    schema = ["first", "second", "difference", "improvement", "low", "high", "p"]
    if not rows:
        return polars.DataFrame(schema=[*schema, "p_holm"])
    return polars.DataFrame(rows).with_columns(p_holm=polars.Series(holm([row["p"] for row in rows])))


def _text(settings: Sequence[str], cell: Sequence[object]) -> str:
    """Return a cell as people write it."""
    plain = [str(value) for name, value in zip(settings, cell, strict=True) if name in ("method", "data")]
    others = [
        f"{name}={value}"
        for name, value in zip(settings, cell, strict=True)
        if name not in ("method", "data", "step") and value is not None
    ]
    return " ".join([*plain[::-1], *others]) if len(plain) == 2 else " ".join([*plain, *others])
