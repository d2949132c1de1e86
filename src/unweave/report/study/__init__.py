"""The page of a study, and its plots as functions that take and return matplotlib axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.late import public_name

if TYPE_CHECKING:
    from unweave.report.study.line_plots import scores_by_setting as scores_by_setting
    from unweave.report.study.line_plots import scores_by_step as scores_by_step
    from unweave.report.study.maps import agreement_map as agreement_map
    from unweave.report.study.maps import metric_scatter as metric_scatter
    from unweave.report.study.maps import state_matrix as state_matrix
    from unweave.report.study.page import render_study as render_study
    from unweave.report.study.page import write_study_page as write_study_page
    from unweave.report.study.plots import scores_by_cell as scores_by_cell
    from unweave.report.study.plots import scores_by_method as scores_by_method
    from unweave.report.study.sections import Section as Section

_HOME = {
    "Section": "sections",
    "agreement_map": "maps",
    "metric_scatter": "maps",
    "render_study": "page",
    "scores_by_cell": "plots",
    "scores_by_method": "plots",
    "scores_by_setting": "line_plots",
    "scores_by_step": "line_plots",
    "state_matrix": "maps",
    "write_study_page": "page",
}

__all__ = [
    "Section",
    "agreement_map",
    "metric_scatter",
    "render_study",
    "scores_by_cell",
    "scores_by_method",
    "scores_by_setting",
    "scores_by_step",
    "state_matrix",
    "write_study_page",
]


def __getattr__(name: str) -> object:
    """Import a public name on first use: matplotlib takes long."""
    return public_name(__name__, _HOME, name)
