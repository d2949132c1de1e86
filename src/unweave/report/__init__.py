"""Pictures, plots and the page of a run."""

from __future__ import annotations

from unweave.report.association import heat_map, heat_map_figure, normalised_information
from unweave.report.compare import render_comparison, write_comparison
from unweave.report.curves import training_curve, training_figure
from unweave.report.datasets import factor_grid, samples_grid, show
from unweave.report.latent_chart import latents_figure
from unweave.report.latents import reconstructions, traversals
from unweave.report.learnt_loss import learnt_loss_picture
from unweave.report.notebook import Page
from unweave.report.page import render, write_page
from unweave.report.perception import (
    cumulative_distances,
    distance_matrices_figure,
    distance_matrix,
    factors_seen,
    learnt_scatter,
)
from unweave.report.selection import selection_figure, write_selection
from unweave.report.study import (
    Section,
    agreement_map,
    metric_scatter,
    render_study,
    scores_by_cell,
    scores_by_method,
    scores_by_setting,
    scores_by_step,
    state_matrix,
    write_study_page,
)
from unweave.report.surveys import collapse, survey

__all__ = [
    "Page",
    "Section",
    "agreement_map",
    "collapse",
    "cumulative_distances",
    "distance_matrices_figure",
    "distance_matrix",
    "factor_grid",
    "factors_seen",
    "heat_map",
    "heat_map_figure",
    "latents_figure",
    "learnt_loss_picture",
    "learnt_scatter",
    "metric_scatter",
    "normalised_information",
    "reconstructions",
    "render",
    "render_comparison",
    "render_study",
    "samples_grid",
    "scores_by_cell",
    "scores_by_method",
    "scores_by_setting",
    "scores_by_step",
    "selection_figure",
    "show",
    "state_matrix",
    "survey",
    "training_curve",
    "training_figure",
    "traversals",
    "write_comparison",
    "write_page",
    "write_selection",
    "write_study_page",
]
