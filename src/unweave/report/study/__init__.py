"""The page of a study, and its plots as functions of axes."""

from __future__ import annotations

from unweave.report.study.line_plots import scores_by_setting, scores_by_step
from unweave.report.study.maps import agreement_map, metric_scatter, state_matrix
from unweave.report.study.page import render_study, write_study_page
from unweave.report.study.plots import scores_by_cell, scores_by_method
from unweave.report.study.sections import Section

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
