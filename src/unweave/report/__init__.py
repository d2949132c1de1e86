"""Pictures, plots, the pages of runs and studies, and how runs and data sets appear in a notebook."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from unweave.late import public_name

if TYPE_CHECKING:
    from unweave.report.association import heat_map as heat_map
    from unweave.report.association import heat_map_figure as heat_map_figure
    from unweave.report.association import normalised_information as normalised_information
    from unweave.report.compare import render_comparison as render_comparison
    from unweave.report.compare import write_comparison as write_comparison
    from unweave.report.curves import training_curve as training_curve
    from unweave.report.curves import training_figure as training_figure
    from unweave.report.datasets import factor_grid as factor_grid
    from unweave.report.datasets import samples_grid as samples_grid
    from unweave.report.datasets import show as show
    from unweave.report.latent_chart import latents_figure as latents_figure
    from unweave.report.latents import reconstructions as reconstructions
    from unweave.report.latents import traversals as traversals
    from unweave.report.learnt_loss import learnt_loss_picture as learnt_loss_picture
    from unweave.report.notebook import Page as Page
    from unweave.report.page import render as render
    from unweave.report.page import write_page as write_page
    from unweave.report.perception import cumulative_distances as cumulative_distances
    from unweave.report.perception import distance_matrices_figure as distance_matrices_figure
    from unweave.report.perception import distance_matrix as distance_matrix
    from unweave.report.perception import factors_seen as factors_seen
    from unweave.report.perception import learnt_scatter as learnt_scatter
    from unweave.report.selection import selection_figure as selection_figure
    from unweave.report.selection import write_selection as write_selection
    from unweave.report.study import Section as Section
    from unweave.report.study import agreement_map as agreement_map
    from unweave.report.study import metric_scatter as metric_scatter
    from unweave.report.study import render_study as render_study
    from unweave.report.study import scores_by_cell as scores_by_cell
    from unweave.report.study import scores_by_method as scores_by_method
    from unweave.report.study import scores_by_setting as scores_by_setting
    from unweave.report.study import scores_by_step as scores_by_step
    from unweave.report.study import state_matrix as state_matrix
    from unweave.report.study import write_study_page as write_study_page
    from unweave.report.surveys import collapse as collapse
    from unweave.report.surveys import survey as survey

_HOME = {
    "Page": "notebook",
    "Section": "study",
    "agreement_map": "study",
    "collapse": "surveys",
    "cumulative_distances": "perception",
    "distance_matrices_figure": "perception",
    "distance_matrix": "perception",
    "factor_grid": "datasets",
    "factors_seen": "perception",
    "heat_map": "association",
    "heat_map_figure": "association",
    "latents_figure": "latent_chart",
    "learnt_loss_picture": "learnt_loss",
    "learnt_scatter": "perception",
    "metric_scatter": "study",
    "normalised_information": "association",
    "reconstructions": "latents",
    "render": "page",
    "render_comparison": "compare",
    "render_study": "study",
    "samples_grid": "datasets",
    "scores_by_cell": "study",
    "scores_by_method": "study",
    "scores_by_setting": "study",
    "scores_by_step": "study",
    "selection_figure": "selection",
    "show": "datasets",
    "state_matrix": "study",
    "survey": "surveys",
    "training_curve": "curves",
    "training_figure": "curves",
    "traversals": "latents",
    "write_comparison": "compare",
    "write_page": "page",
    "write_selection": "selection",
    "write_study_page": "study",
}

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


def __getattr__(name: str) -> object:
    """Import a public name on first use: matplotlib and the metrics are slow to import."""
    if name == "study":
        return import_module(f"{__name__}.{name}")
    return public_name(__name__, _HOME, name)
