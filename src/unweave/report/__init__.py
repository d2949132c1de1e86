"""Pictures, plots and the page of a run."""

from __future__ import annotations

from unweave.report.association import association, association_figure, rank_correlation
from unweave.report.compare import render_comparison, write_comparison
from unweave.report.curves import training_curve, training_figure
from unweave.report.datasets import factor_grid, samples_grid, show
from unweave.report.latents import reconstructions, survey, traversals
from unweave.report.page import render, write_page

__all__ = [
    "association",
    "association_figure",
    "factor_grid",
    "rank_correlation",
    "reconstructions",
    "render",
    "render_comparison",
    "samples_grid",
    "show",
    "survey",
    "training_curve",
    "training_figure",
    "traversals",
    "write_comparison",
    "write_page",
]
