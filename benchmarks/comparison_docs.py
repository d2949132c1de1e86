"""Write the pages of the comparison from its stored scores; `comparison.py store` calls this.

docs/choose-a-method.md has D at the usual strengths, docs/results/comparison.md every score, and the page of the
Jacobian term its own table. The text between their marks comes from docs/results/comparison.parquet and the plan; cells
without runs are shown as such.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import comparison_times
import numpy as np
import pages
import polars
from comparison_cells import (
    ABOUT,
    ASKS,
    DISENTANGLEMENT,
    JACOBIAN,
    PAGES,
    UNTRAINED,
    Cell,
    cells_like,
    cells_of,
    methods_with,
    scores_of_cell,
    sets_of,
    usual,
)
from comparison_figure import comparison_figure
from comparison_findings import findings
from comparison_times import relative_time
from methods_docs import TITLES

from unweave.metrics.table import METRICS
from unweave.study.analysis import over_seeds
from unweave.study.plan import Plan

DOCS = Path(__file__).parents[1] / "docs"
FIGURE = DOCS / "images" / "comparison.png"
FRONTIER = DOCS / "results" / "frontier.csv"
"""Scores of other studies, some of the same runs, which were made without MKL's AVX-512."""
NOT_RUN = "not run"
NOT_MEASURED = "not measured"
UNDEFINED = "–"
"""A score or a time that does not apply to a method."""


class Pages(NamedTuple):
    """The pages that have numbers of the comparison."""

    choice: Path = DOCS / "choose-a-method.md"
    results: Path = DOCS / "results" / "comparison.md"
    jacobian: Path = DOCS / "methods" / "orthogonal-jacobian.md"


OF_DOCS = Pages()


def shown(table: polars.DataFrame, cell: Cell, metric: str) -> str:
    """Return the mean over the seeds of a cell with its interval, or that it was not run."""
    values = scores_of_cell(table, cell, metric)
    if not len(values):
        return NOT_RUN
    if values.null_count() == len(values):
        return UNDEFINED
    found = over_seeds(values.drop_nulls().to_numpy())
    if found.low is None or found.high is None:
        return f"{found.value:.2f} ({found.seeds} {'seed' if found.seeds == 1 else 'seeds'})"
    low, high = np.clip([found.low, found.high], *limits_of(metric))
    return f"{found.value:.2f} [{low:.2f}, {high:.2f}]"


def limits_of(score: str) -> tuple[float, float]:
    """Return the least and the largest value of a score, which is a metric or a part of one."""
    own = max((name for name in METRICS if score == name or score.startswith(f"{name}-")), key=len)
    return METRICS[own].range


def assumptions_table(times: polars.DataFrame) -> str:
    """Return what each method assumes and costs."""
    return table_by_need(["assumes", "time"], lambda method: [ABOUT[method][1], time_of(times, method)])


def time_of(times: polars.DataFrame, method: str) -> str:
    """Return the training time of a method relative to the VAE's."""
    if method == UNTRAINED:
        return UNDEFINED
    time = relative_time(times, method)
    return NOT_MEASURED if time is None else f"{time:.1f} ×"


def short_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return D of each method at its usual strength on every data set."""
    sets = sets_of(cells)
    return table_by_need(
        [f"D on {data}" for data in sets],
        lambda method: [shown(table, usual(cells, method, data), DISENTANGLEMENT) for data in sets],
    )


def table_by_need(head: list[str], parts_of: Callable[[str], list[str]]) -> str:
    """Return a table with a line per method, below a line for each kind of supervision."""
    lines = head_of(["method", *head])
    for asks, text in ASKS.items():
        lines.append(row([f"**{text}**", *[""] * len(head)]))
        for method in methods_with(asks):
            lines.append(row([f"[{method}](methods/{PAGES.get(method, method)}.md)", *parts_of(method)]))
    return "\n".join(lines)


def long_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return one line per cell of a data set, with every score."""
    lines = head_of(["method", "strength", *TITLES.values()])
    return "\n".join([*lines, *(row([cell.method, cell.strength or "–", *every_score(table, cell)]) for cell in cells)])


def every_score(table: polars.DataFrame, cell: Cell) -> list[str]:
    """Return all scores of a cell; that it was not run is said once."""
    scores = [shown(table, cell, metric) for metric in TITLES]
    return [NOT_RUN, *[""] * (len(scores) - 1)] if set(scores) == {NOT_RUN} else scores


def head_of(titles: list[str]) -> list[str]:
    """Return the first two lines of a Markdown table."""
    return [row(titles), "|---" * len(titles) + "|"]


def row(parts: list[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(parts) + " |"


def state(table: polars.DataFrame, plan: Plan) -> str:
    """Return how many runs are stored, and how long they trained."""
    runs = table.unique("run")
    said = f"{len(runs)} of {len(plan.tasks)} runs are stored."
    seconds = runs["seconds"].drop_nulls().to_numpy()
    if not len(seconds):
        return said
    low, middle, high = np.quantile(seconds, (0.1, 0.5, 0.9))
    times = f"{middle:.0f} s for the median run, and {low:.0f} to {high:.0f} s for eight in ten"
    return fill(f"{said} Training took {times}, {seconds.sum() / 3600:.1f} hours in all.", 118)


def choice_blocks(table: polars.DataFrame, cells: list[Cell]) -> dict[str, str]:
    """Return the texts between the marks of the page on choosing a method, by name."""
    return {
        "assumptions": assumptions_table(comparison_times.read()),
        "scores": short_table(table, cells),
        "findings": "\n".join(map(pages.bullet, findings(table, cells))) or "Too few runs are stored.",
    }


def arithmetic(table: polars.DataFrame, others: polars.DataFrame) -> str:
    """Return by how much scores differ from those of the same runs without MKL's AVX-512."""
    both = table.join(others, on=["run", "metric"], suffix="_other").with_columns(
        difference=(polars.col("value") - polars.col("value_other")).abs()
    )
    if not len(both):
        return "No run was made twice."
    parts = [
        f"{title} by up to {values.max():.2f} ({values.median():.3f} in the median)"
        for metric, title in ((DISENTANGLEMENT, "D"), ("factor-vae-score", "the FactorVAE score"))
        if len(values := both.filter(metric=metric)["difference"].drop_nulls())
    ]
    runs = both["run"].n_unique()
    return fill(f"{runs} runs were made both ways. They differ in {' and in '.join(parts)}.", 118)


def result_blocks(table: polars.DataFrame, plan: Plan, cells: list[Cell]) -> dict[str, str]:
    """Return the texts between the marks of the page of all scores, by name."""
    by_data = {data: [cell for cell in cells if cell.data == data] for data in sets_of(cells)}
    tables = {data: long_table(table, some) for data, some in by_data.items()}
    others = polars.read_csv(FRONTIER)
    return {"state": state(table, plan), "arithmetic": arithmetic(table, others), **tables}


def jacobian_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return the scores of a β-VAE without and with the Jacobian term, on every data set."""
    lines = head_of(["data", "weight", *TITLES.values()])
    for data in sets_of(cells):
        with_term = [cell for cell in cells_like(cells, JACOBIAN) if cell.data == data]
        for cell in (usual(cells, "beta-vae", data), *with_term):
            weight = cell.strength.removeprefix("weight ") if cell in with_term else "0"
            lines.append(row([data, weight, *every_score(table, cell)]))
    return "\n".join(lines)


def write(table: polars.DataFrame, plan: Plan, to: Pages = OF_DOCS, figure: Path | None = FIGURE) -> None:
    """Write the tables of the pages, and draw the picture."""
    cells = cells_of(plan)
    pages.put_all(to.choice, choice_blocks(table, cells))
    pages.put_all(to.results, result_blocks(table, plan, cells))
    pages.put(to.jacobian, "result", jacobian_table(table, cells))
    if figure:
        comparison_figure(table, cells).savefig(figure, dpi=110, facecolor="white", metadata={"Software": None})
