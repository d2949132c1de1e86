r"""A mixed model of a score: methods are fixed, cells within a method and seeds within a cell are drawn.

.. math:: y_{mcs} = \mu_m + a_{mc} + e_{mcs}, \quad a \sim N(0, \sigma_a^2), \quad e \sim N(0, \sigma_e^2)

It answers what shares of variance (`variance_shares`) leave open: how far an untried strength would be from its
method's mean. The variances maximise the restricted likelihood (REML) [Patterson1971]_; for equal numbers of seeds they
are the mean squares of the analysis of variance, clipped at 0. Everything follows from one number, the share of cells
:math:`\sigma_a^2 / (\sigma_a^2 + \sigma_e^2)`, which is found by search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars

from unweave.study.analysis.tidy import groups_of, scores_of, settings_of_cells

GRID = 200
"""Shares at which the likelihood is computed before the best is refined: it may have several maxima."""


@dataclass(frozen=True)
class Components:
    """Variances of a metric on one data set; nan if the design does not determine them."""

    data: str
    metric: str
    runs: int
    means: dict[str, float]
    """The score of each method, over its cells."""
    method: float
    """The variance between methods, minus what cells and seeds add to it by chance."""
    cell: float
    """The variance between cells of one method: its strength."""
    seed: float
    """The variance between seeds of one cell."""

    @property
    def shares(self) -> tuple[float, float, float]:
        """The shares of method, cell and seed in the sum of the three."""
        total = self.method + self.cell + self.seed
        return self.method / total, self.cell / total, self.seed / total


@dataclass(frozen=True)
class _Cells:
    """What the likelihood needs from a table: each cell's mean, number of runs, and index of its method."""

    means: np.ndarray
    counts: np.ndarray
    methods: np.ndarray
    within: float
    """Sum of squares around the means of cells."""

    @property
    def runs(self) -> int:
        """The number of runs."""
        return int(self.counts.sum())

    @property
    def freedom(self) -> int:
        """The number of runs minus the number of methods."""
        return self.runs - len(np.unique(self.methods))

    def fit(self, share: float) -> tuple[np.ndarray, np.ndarray, float]:
        """Return, for a variance of 1, each method's mean, its inverse variance, and the squares between cells."""
        weights = 1 / (share + (1 - share) / self.counts)
        total = np.bincount(self.methods, weights)
        means = np.bincount(self.methods, weights * self.means) / total
        return means, total, float(weights @ np.square(self.means - means[self.methods]))

    def deviance(self, share: float) -> float:
        """Return minus twice the restricted log-likelihood, up to a constant, at a share of cells below 1."""
        _, total, between = self.fit(share)
        squares = between + self.within / (1 - share)
        of_means = np.log(share + (1 - share) / self.counts).sum() + np.log(total).sum()
        of_seeds = (self.runs - len(self.counts)) * np.log(1 - share)
        return float(of_means + of_seeds + self.freedom * np.log(squares))

    def estimate(self) -> tuple[float, float]:
        """Return the share of cells, and the variance of cells and seeds together; nan if undetermined."""
        from scipy.optimize import minimize_scalar

        spare = len(self.counts) - len(np.unique(self.methods))
        if not spare:  # one cell for each method
            return 0.0, self.within / self.freedom if self.freedom else float("nan")
        if not self.within:  # one run for each cell, or equal ones
            return 1.0, self.fit(1.0)[2] / spare
        grid = np.linspace(0, 1, GRID, endpoint=False)
        best = int(np.argmin([self.deviance(share) for share in grid]))
        ends = grid[max(best - 1, 0)], (*grid, 1 - 1e-12)[best + 1]
        found: Any = minimize_scalar(self.deviance, bounds=ends, method="bounded", options={"xatol": 1e-10})
        share = float(found.x)
        share = 0.0 if self.deviance(0.0) <= self.deviance(share) else share
        return share, (self.fit(share)[2] + self.within / (1 - share)) / self.freedom


def variance_components(table: polars.DataFrame, metric: str) -> list[Components]:
    """Return the variance of a metric between methods, between cells of a method, and between seeds, on each data set.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it, of one step. Cells may differ in their number of seeds.
    metric
        The metric.

    Returns
    -------
    list[Components]
        One for each data set. The variance of cells is nan if each method has one cell; those of seeds and of cells are
        nan if each cell has one run.
    """
    cell = [name for name in settings_of_cells(table) if name != "data"]
    found = []
    for (data,), rows in scores_of(table, metric).group_by("data", maintain_order=True):
        scores, by_cell, by_method = rows["value"].to_numpy(), groups_of(rows, cell), groups_of(rows, ["method"])
        counts = np.bincount(by_cell)
        means = np.bincount(by_cell, scores) / counts
        methods = by_method[np.unique(by_cell, return_index=True)[1]]
        cells = _Cells(means, counts, methods, float(np.square(scores - means[by_cell]).sum()))
        names = sorted(rows["method"].unique().to_list())  # in the order of groups_of
        found.append(_components(str(data), metric, names, cells))
    return found


def _components(data: str, metric: str, names: list[str], cells: _Cells) -> Components:
    """Return what the model says about one data set."""
    share, variance = cells.estimate()
    means, total, _ = cells.fit(share)
    weights = np.bincount(cells.methods, cells.counts) / cells.runs
    chance = (weights * (1 - weights)) @ (variance / total)
    several_runs, several_cells = cells.runs > len(cells.counts), len(cells.counts) > len(names)
    return Components(
        data,
        metric,
        cells.runs,
        dict(zip(names, means.tolist(), strict=True)),
        method=float(np.maximum(weights @ np.square(means - weights @ means) - chance, 0)),
        cell=share * variance if several_runs and several_cells else float("nan"),
        seed=(1 - share) * variance if several_runs else float("nan"),
    )
