"""What a table of scores says: pure functions of the table that `Study.scores` returns.

The seed is the unit of replication. An interval here is over training seeds, and never over images.
"""

from __future__ import annotations

from unweave.study.analysis.agreement import Transfer, metric_agreement, transfer
from unweave.study.analysis.compare import Best, best_cell, compare_cells, holm
from unweave.study.analysis.seeds import FEW_SEEDS, Interval, improvement, interquartile_mean, over_seeds, summary
from unweave.study.analysis.tidy import cells_of, one_row_a_run
from unweave.study.analysis.variance import Shares, variance_shares

__all__ = [
    "FEW_SEEDS",
    "Best",
    "Interval",
    "Shares",
    "Transfer",
    "best_cell",
    "cells_of",
    "compare_cells",
    "holm",
    "improvement",
    "interquartile_mean",
    "metric_agreement",
    "one_row_a_run",
    "over_seeds",
    "summary",
    "transfer",
    "variance_shares",
]
