"""What a table of scores says: pure functions of the table that `Study.scores` returns.

The seed is the unit of replication: every interval here is over training seeds, never over images.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.late import public_name

if TYPE_CHECKING:
    from unweave.study.analysis.agreement import Transfer as Transfer
    from unweave.study.analysis.agreement import metric_agreement as metric_agreement
    from unweave.study.analysis.agreement import transfer as transfer
    from unweave.study.analysis.compare import Best as Best
    from unweave.study.analysis.compare import best_cell as best_cell
    from unweave.study.analysis.compare import best_of as best_of
    from unweave.study.analysis.compare import compare_cells as compare_cells
    from unweave.study.analysis.compare import holm as holm
    from unweave.study.analysis.compare import welch as welch
    from unweave.study.analysis.components import Components as Components
    from unweave.study.analysis.components import variance_components as variance_components
    from unweave.study.analysis.downstream import downstream_agreement as downstream_agreement
    from unweave.study.analysis.growth_curves import Curve as Curve
    from unweave.study.analysis.growth_curves import Growth as Growth
    from unweave.study.analysis.growth_curves import best_curve as best_curve
    from unweave.study.analysis.growth_curves import growth as growth
    from unweave.study.analysis.label_free import label_free_agreement as label_free_agreement
    from unweave.study.analysis.noise import noise_robustness as noise_robustness
    from unweave.study.analysis.power import effect_interval as effect_interval
    from unweave.study.analysis.power import effect_size as effect_size
    from unweave.study.analysis.power import power_of as power_of
    from unweave.study.analysis.power import seeds_for_power as seeds_for_power
    from unweave.study.analysis.rank_correlations import RankCorrelation as RankCorrelation
    from unweave.study.analysis.rank_correlations import rank_correlation as rank_correlation
    from unweave.study.analysis.seeds import FEW_SEEDS as FEW_SEEDS
    from unweave.study.analysis.seeds import Interval as Interval
    from unweave.study.analysis.seeds import improvement as improvement
    from unweave.study.analysis.seeds import interquartile_mean as interquartile_mean
    from unweave.study.analysis.seeds import over_seeds as over_seeds
    from unweave.study.analysis.seeds import summary as summary
    from unweave.study.analysis.share_intervals import share_interval as share_interval
    from unweave.study.analysis.strength import correlation_by_strength as correlation_by_strength
    from unweave.study.analysis.tidy import cells_of as cells_of
    from unweave.study.analysis.tidy import one_row_per_run as one_row_per_run
    from unweave.study.analysis.tidy import settings_of_cells as settings_of_cells
    from unweave.study.analysis.variance import Shares as Shares
    from unweave.study.analysis.variance import variance_shares as variance_shares

# No name here is that of its module: importing the module would put it in the place of the function.
_HOME = {
    "FEW_SEEDS": "seeds",
    "Best": "compare",
    "Components": "components",
    "Curve": "growth_curves",
    "Growth": "growth_curves",
    "Interval": "seeds",
    "RankCorrelation": "rank_correlations",
    "Shares": "variance",
    "Transfer": "agreement",
    "best_cell": "compare",
    "best_curve": "growth_curves",
    "best_of": "compare",
    "cells_of": "tidy",
    "compare_cells": "compare",
    "correlation_by_strength": "strength",
    "downstream_agreement": "downstream",
    "effect_interval": "power",
    "effect_size": "power",
    "growth": "growth_curves",
    "holm": "compare",
    "improvement": "seeds",
    "interquartile_mean": "seeds",
    "label_free_agreement": "label_free",
    "metric_agreement": "agreement",
    "noise_robustness": "noise",
    "one_row_per_run": "tidy",
    "over_seeds": "seeds",
    "power_of": "power",
    "rank_correlation": "rank_correlations",
    "seeds_for_power": "power",
    "settings_of_cells": "tidy",
    "share_interval": "share_intervals",
    "summary": "seeds",
    "transfer": "agreement",
    "variance_components": "components",
    "variance_shares": "variance",
    "welch": "compare",
}

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
    "best_of",
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
    "one_row_per_run",
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
    "welch",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use: who needs one analysis does not wait for all."""
    return public_name(__name__, _HOME, name)
