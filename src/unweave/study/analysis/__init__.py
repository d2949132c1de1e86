"""What a table of scores says: pure functions of the table that `Study.scores` returns.

The seed is the unit of replication: every interval here is over training seeds, never over images.
"""

from __future__ import annotations

from unweave.study.analysis.agreement import Transfer, metric_agreement, transfer
from unweave.study.analysis.compare import Best, best_cell, compare_cells, holm
from unweave.study.analysis.components import Components, variance_components
from unweave.study.analysis.downstream import downstream_agreement
from unweave.study.analysis.growth import Curve, Growth, best_curve, growth
from unweave.study.analysis.label_free import label_free_agreement
from unweave.study.analysis.noise import noise_robustness
from unweave.study.analysis.power import effect_interval, effect_size, power_of, seeds_for_power
from unweave.study.analysis.rank_correlation import RankCorrelation, rank_correlation
from unweave.study.analysis.seeds import FEW_SEEDS, Interval, improvement, interquartile_mean, over_seeds, summary
from unweave.study.analysis.share_interval import share_interval
from unweave.study.analysis.strength import correlation_by_strength
from unweave.study.analysis.tidy import cells_of, one_row_a_run, settings_of_cells
from unweave.study.analysis.variance import Shares, variance_shares

__all__ = [
    "FEW_SEEDS",
    "Best",
    "Components",
    "Curve",
    "Growth",
    "Interval",
    "RankCorrelation",
    "Shares",
    "Transfer",
    "best_cell",
    "best_curve",
    "cells_of",
    "compare_cells",
    "correlation_by_strength",
    "downstream_agreement",
    "effect_interval",
    "effect_size",
    "growth",
    "holm",
    "improvement",
    "interquartile_mean",
    "label_free_agreement",
    "metric_agreement",
    "noise_robustness",
    "one_row_a_run",
    "over_seeds",
    "power_of",
    "rank_correlation",
    "seeds_for_power",
    "settings_of_cells",
    "share_interval",
    "summary",
    "transfer",
    "variance_components",
    "variance_shares",
]
