"""The base of the figures of chapter 5: triplet methods, compared with the β-VAEs and Ada-GVAEs of figure 4.4."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Sequence
from typing import Any

import polars

from unweave.reproduce.frame import Findings
from unweave.reproduce.thesis.chapter4 import left_out
from unweave.reproduce.thesis.claims import Case
from unweave.reproduce.thesis.comparisons import VAES, differences, levels
from unweave.reproduce.thesis.experiment import Experiment
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.scores import prepared
from unweave.study import Study

ALONE = "β-VAE and Ada-GVAE come from figure 4.4: run thesis-4.4, then this command again, to compare with them."


class BesideVAEs(ThesisFigure, ABC):
    """A figure that compares with β-VAE and Ada-GVAE, from its own study or from thesis-4.4."""

    def findings(self, settings: Experiment, study: Study) -> Findings:
        """Read the scores of the study, and those of thesis-4.4 if the study lacks these methods."""
        table = prepared(study.scores())
        others = None if "beta-vae" in levels(table, "method") else self.figure_4_4()
        return self.read(table if others is None else polars.concat([table, others], how="diagonal_relaxed"))

    def read(self, table: polars.DataFrame) -> Findings:
        """Return the findings of a table of scores, with a note if the methods to compare with are missing."""
        found = super().read(table)
        if "beta-vae" in levels(table, "method"):
            return found
        return Findings(found.rows, (*found.notes, ALONE), found.figures, found.tables)

    def figure_4_4(self) -> polars.DataFrame | None:
        """Return the scores of thesis-4.4, if its folder is beside this one under its usual name."""
        if self.folder is None:
            return None
        file = self.folder.with_name(re.sub(r"thesis-5\.\d", "thesis-4.4", self.folder.name)) / "scores.csv"
        if file.parent == self.folder or not file.is_file():
            return None
        return polars.read_csv(file, infer_schema_length=None)

    def plotted(self, table: polars.DataFrame) -> tuple[polars.DataFrame, list[str]]:
        """Leave out runs whose codes do not move."""
        return left_out(table)


def only(table: polars.DataFrame, method: str, **where: Any) -> polars.DataFrame:
    """Return the table with only those runs of a method that have this value of a setting, if its runs differ in it."""
    for column, value in where.items():
        if column in table.columns:
            wanted = polars.col(column).is_in(value) if isinstance(value, tuple) else polars.col(column) == value
            table = table.filter((polars.col("method") != method) | wanted)
    return table


def above_vaes(table: polars.DataFrame, method: str, metrics: Sequence[str]) -> list[Case]:
    """Return by how much a method exceeds β-VAE and Ada-GVAE, on every data set."""
    return [case for other in VAES for case in differences(table, metrics, "method", method, other, over=("data",))]
