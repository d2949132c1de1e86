"""Which cells differ: comparisons of all pairs of cells, corrected for the number of pairs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, Literal, TypeVar

import numpy as np
import polars

from unweave.study.analysis.seeds import FEW_SEEDS, improvement
from unweave.study.analysis.tidy import cells_of, settings_of_cells

Cell = TypeVar("Cell", bound=Hashable)
Alternative = Literal["two-sided", "greater"]


def holm(p: Sequence[float]) -> list[float]:
    """Return p-values corrected by Holm's step-down rule: the k-th smallest of m times m - k + 1, never falling.

    Parameters
    ----------
    p
        The p-values of all comparisons.

    Returns
    -------
    list
        The corrected p-values, in the same order.

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
        first, second (as text), difference of means, improvement with low and high (the probability that a run of the
        first scores higher), p by Welch's test, and p_holm, corrected for all pairs of the table.
    """
    settings = settings_of_cells(table)
    together = [settings.index(name) for name in ("data", "step") if name in settings]
    cells = [(cell, scores.to_numpy()) for cell, scores in cells_of(table, metric).items() if len(scores) >= FEW_SEEDS]
    rows = []
    for (one, ours), (other, theirs) in combinations(cells, 2):
        if any(one[i] != other[i] for i in together):
            continue
        found = improvement(ours, theirs)
        p = welch(ours, theirs)
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


@dataclass(frozen=True)
class Best(Generic[Cell]):
    """The cell with the best mean of a metric, and the cells that do not differ significantly from it."""

    cell: Cell | None
    """Its name, or its settings as in `cells_of`; None if fewer than two cells have five seeds."""
    ties: tuple[Cell, ...]
    """The cells that do not differ from it by Welch's test with Holm's correction for all pairs."""
    compared: int
    """Number of cells with at least five seeds, which were compared."""

    @property
    def is_clear(self) -> bool:
        """Whether the cell is better than every other that was compared."""
        return self.cell is not None and not self.ties


def best_cell(
    table: polars.DataFrame, metric: str, *, higher_is_better: bool = True, level: float = 0.05
) -> Best[tuple[object, ...]]:
    """Return the cell with the best mean over seeds, and the cells that do not differ significantly from it.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it, of one data set and step.
    metric
        The metric.
    higher_is_better
        Whether the best mean is the highest.
    level
        Two cells differ if the corrected p is at most this.

    Returns
    -------
    Best
        The best cell and its ties. Cells with fewer than five seeds are left out. The correction is for all pairs of
        cells, so that it holds although the best cell was chosen by the same scores.
    """
    scores = {cell: values.to_numpy() for cell, values in cells_of(table, metric).items()}
    return best_of(scores, higher_is_better=higher_is_better, level=level)


def best_of(scores: Mapping[Cell, np.ndarray], *, higher_is_better: bool = True, level: float = 0.05) -> Best[Cell]:
    """Return the cell with the best mean of these scores, and those that do not differ from it, as `best_cell` does.

    Parameters
    ----------
    scores
        The scores of each cell, one for each training seed.
    higher_is_better, level
        As for `best_cell`.

    Returns
    -------
    Best
        The best cell and its ties, by the keys of `scores`.
    """
    cells = {cell: values for cell, values in scores.items() if len(values) >= FEW_SEEDS}
    if len(cells) < 2:
        return Best(None, (), len(cells))
    names, moments = list(cells), np.array(_moments(list(cells.values())))
    first, second = np.triu_indices(len(names), 1)
    corrected = np.array(holm(_welch(*moments[:, first], *moments[:, second]).tolist()))
    top = int(np.argmax(moments[0]) if higher_is_better else np.argmin(moments[0]))
    same = [(a, b) for a, b, p in zip(first, second, corrected, strict=True) if top in (a, b) and p > level]
    return Best(names[top], tuple(names[b if a == top else a] for a, b in same), len(names))


def welch(ours: np.ndarray, theirs: np.ndarray, alternative: Alternative = "two-sided") -> float:
    """Return p by Welch's test of two means, which does not assume that both cells vary equally from seed to seed.

    Parameters
    ----------
    ours, theirs
        One score for each training seed of two cells.
    alternative
        Whether the means differ, or ours is greater.

    Returns
    -------
    float
        The p-value. If both cells have constant scores, it is 0 where the alternative holds, and 1 elsewhere.
    """
    return float(_welch(*_moments([ours]), *_moments([theirs]), alternative=alternative)[0])


def _moments(scores: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean, the standard deviation and the number of the scores of each cell."""
    found = [(values.mean(), values.std(ddof=1) if np.ptp(values) else 0.0, len(values)) for values in scores]
    mean, deviation, count = np.array(found, dtype=float).T
    return mean, deviation, count


def _welch(
    mean: np.ndarray,
    deviation: np.ndarray,
    count: np.ndarray,
    other_mean: np.ndarray,
    other_deviation: np.ndarray,
    other_count: np.ndarray,
    alternative: Alternative = "two-sided",
) -> np.ndarray:
    """Return p by Welch's test; for two cells with constant scores, 0 where the alternative holds and 1 elsewhere."""
    from scipy.stats import ttest_ind_from_stats

    constant = (deviation == 0) & (other_deviation == 0)
    spread = np.where(constant, 1.0, deviation)  # any: these are not used
    found = ttest_ind_from_stats(
        mean, spread, count, other_mean, other_deviation, other_count, equal_var=False, alternative=alternative
    )
    holds = mean > other_mean if alternative == "greater" else mean != other_mean
    return np.where(constant, 1.0 - holds, np.asarray(found[1]))


def _text(settings: Sequence[str], cell: Sequence[object]) -> str:
    """Return a cell as text."""
    plain = [str(value) for name, value in zip(settings, cell, strict=True) if name in ("method", "data")]
    others = [
        f"{name}={value}"
        for name, value in zip(settings, cell, strict=True)
        if name not in ("method", "data", "step") and value is not None
    ]
    return " ".join([*plain[::-1], *others]) if len(plain) == 2 else " ".join([*plain, *others])
