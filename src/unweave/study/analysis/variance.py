r"""How much of the variance of a score is due to the method, to its strength, and to the seed.

As in [Locatello2019]_, the share explained by a grouping is the :math:`R^2` of a regression on indicators of its
groups, :math:`1 - \sum_g \sum_{i \in g} (y_i - \bar y_g)^2 / \sum_i (y_i - \bar y)^2`. It grows with the number of
groups even if they mean nothing; the adjusted share, :math:`1 - (1 - R^2)(N - 1)/(N - G)`, does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars

from unweave.study.analysis.tidy import groups_of, scores_of, settings_of_cells


@dataclass(frozen=True)
class Shares:
    """Shares of the variance of a metric on one data set."""

    data: str
    metric: str
    runs: int
    method: float
    """Explained by the method alone."""
    cell: float
    """Explained by the method and all its settings: method × strength."""
    seed: float
    """The rest: the same cell with another seed."""
    method_adjusted: float
    cell_adjusted: float


def variance_shares(table: polars.DataFrame, metric: str) -> list[Shares]:
    """Return the shares of the variance of a metric on each data set.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it.
    metric
        The metric.

    Returns
    -------
    list[Shares]
        One for each data set.
    """
    cell = [name for name in settings_of_cells(table) if name != "data"]
    found = []
    for (data,), rows in scores_of(table, metric).group_by("data", maintain_order=True):
        scores = rows["value"].to_numpy()
        by_method, by_cell = groups_of(rows, ["method"]), groups_of(rows, cell)
        explained = r_squared(scores, by_cell)
        found.append(
            Shares(
                str(data),
                metric,
                len(scores),
                method=r_squared(scores, by_method),
                cell=explained,
                seed=1 - explained,
                method_adjusted=adjusted(r_squared(scores, by_method), len(scores), by_method.max() + 1),
                cell_adjusted=adjusted(explained, len(scores), by_cell.max() + 1),
            )
        )
    return found


def r_squared(scores: np.ndarray, groups: np.ndarray) -> float:
    """Return the share of the variance of scores that the means of their groups explain.

    >>> r_squared(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 0, 1, 1]))
    0.8
    """
    total = np.square(scores - scores.mean()).sum()
    if not total:
        return float("nan")
    means = np.bincount(groups, scores) / np.bincount(groups)
    return float(1 - np.square(scores - means[groups]).sum() / total)


def adjusted(share: float, runs: int, groups: int) -> float:
    """Return a share of variance corrected for the number of groups; nan if each run is a group."""
    return 1 - (1 - share) * (runs - 1) / (runs - groups) if runs > groups else float("nan")
