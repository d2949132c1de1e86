"""Write docs/choose-a-method.md from the stored scores of the comparison; `comparison.py store` calls this.

The text between the page's marks comes from docs/results/comparison.parquet and the plan; cells without runs are shown
as such. The table of the Jacobian term is on its own page.
"""

from __future__ import annotations

from pathlib import Path

import comparison_times
import pages
import polars
from comparison_cells import (
    ABOUT,
    DISENTANGLEMENT,
    INFORMATIVENESS,
    JACOBIAN,
    PAGES,
    Cell,
    by_need,
    cells_like,
    cells_of,
    scores_of_cell,
    sets_of,
    usual,
)
from comparison_figure import comparison_figure
from comparison_findings import findings
from comparison_times import relative_time
from methods_docs import TITLES

from unweave.study.analysis import over_seeds
from unweave.study.plan import Plan

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "choose-a-method.md"
FIGURE = DOCS / "images" / "comparison.png"
JACOBIAN_PAGE = DOCS / "methods" / "orthogonal-jacobian.md"
NOT_RUN = "not run"
UNDEFINED = "–"
"""A score that does not apply to a method."""


def shown(table: polars.DataFrame, cell: Cell, metric: str) -> str:
    """Return the mean over the seeds of a cell with its interval, or that it was not run."""
    values = scores_of_cell(table, cell, metric)
    if not len(values):
        return NOT_RUN
    if values.null_count() == len(values):
        return UNDEFINED
    found = over_seeds(values.drop_nulls().to_numpy())
    if found.low is None or found.high is None:
        return f"{found.value:.2f} ({found.seeds} of {len(cell.runs)} seeds)"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def short_table(table: polars.DataFrame, cells: list[Cell], times: polars.DataFrame) -> str:
    """Return one line per method: what it needs and assumes, its cost, and D and I at the usual strength."""
    columns = [
        (title, metric, data)
        for data in sets_of(cells)
        for title, metric in (("D", DISENTANGLEMENT), ("I", INFORMATIVENESS))
    ]
    columns = [column for column in columns if column[0] == "D" or column[2] == "rooms3d"]
    head = ["method", "asks for", "assumes", "time", *(f"{title} on {data}" for title, _, data in columns)]
    lines = [row(head), "|---" * len(head) + "|"]
    for asks, method in by_need():
        time = relative_time(times, method)
        link = f"[{method}](methods/{PAGES.get(method, method)}.md)"
        scores = [shown(table, usual(cells, method, data), metric) for _, metric, data in columns]
        lines.append(row([link, asks, ABOUT[method][1], f"{time:.1f} ×" if time else NOT_RUN, *scores]))
    return "\n".join(lines)


def long_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return one line per cell of a data set, with every score."""
    lines = [row(["method", "strength", *TITLES.values()]), "|---" * (len(TITLES) + 2) + "|"]
    for cell in cells:
        scores = [shown(table, cell, metric) for metric in TITLES]
        if set(scores) == {NOT_RUN}:  # said once
            scores[1:] = [""] * (len(scores) - 1)
        lines.append(row([cell.method, cell.strength or "–", *scores]))
    return "\n".join(lines)


def row(parts: list[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(parts) + " |"


def blocks(table: polars.DataFrame, plan: Plan) -> dict[str, str]:
    """Return the texts between the marks of the page, by name."""
    cells = cells_of(plan)
    names = [task.name for task in plan.tasks]
    done = table.filter(polars.col("run").is_in(names))["run"].n_unique()
    state = f"{done} of {len(names)} runs are stored."
    by_data = {data: [cell for cell in cells if cell.data == data] for data in sets_of(cells)}
    return {
        "state": state,
        "findings": "\n".join(map(pages.bullet, findings(table, cells))) or "Too few runs are stored.",
        "methods": short_table(table, cells, comparison_times.read()),
        **{data: long_table(table, some) for data, some in by_data.items()},
    }


def jacobian_table(table: polars.DataFrame, cells: list[Cell]) -> str:
    """Return the scores of a β-VAE without and with the Jacobian term, on every data set."""
    lines = [row(["data", "weight", *TITLES.values()]), "|---" * (len(TITLES) + 2) + "|"]
    for data in sets_of(cells):
        with_term = [cell for cell in cells_like(cells, JACOBIAN) if cell.data == data]
        for cell in (usual(cells, "beta-vae", data), *with_term):
            weight = cell.strength.removeprefix("weight ") if cell in with_term else "0"
            lines.append(row([data, weight, *(shown(table, cell, metric) for metric in TITLES)]))
    return "\n".join(lines)


def write(
    table: polars.DataFrame,
    plan: Plan,
    page: Path = PAGE,
    jacobian_page: Path = JACOBIAN_PAGE,
    figure: Path | None = FIGURE,
) -> None:
    """Write the tables of both pages, and draw the picture."""
    cells = cells_of(plan)
    pages.put_all(page, blocks(table, plan))
    pages.put(jacobian_page, "result", jacobian_table(table, cells))
    if figure:
        comparison_figure(table, cells).savefig(figure, dpi=110, facecolor="white", metadata={"Software": None})
