"""The scores of a published run: those of the run, and those computed in the folder where it is published."""

from __future__ import annotations

from pathlib import Path

import polars

from unweave.runs import SCORES, Run
from unweave.tables import SAME_SCORE, read_scores


def all_scores(run: Run, folder: Path) -> polars.DataFrame | None:
    """Return the scores of a run and, if it was published in this folder before, those computed there since.

    Where both have the same score, it is the run's. `current` is as in `Run.scores`.
    """
    found = [table for path in (run.path, folder) if (table := read_scores(path / SCORES)) is not None]
    if not found:
        return None
    table = polars.concat(found, how="diagonal").unique(SAME_SCORE, keep="first", maintain_order=True)
    same = polars.col("weights") == polars.lit(run.weights, dtype=polars.String)
    return table.with_columns(current=same.fill_null(value=False))


def has_current_scores(run: Run, folder: Path) -> bool:
    """Return whether the weights that were published in a folder have scores there."""
    table = read_scores(folder / SCORES)
    return table is not None and run.weights in table["weights"]
