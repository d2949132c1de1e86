"""The scores of a study as HTML: cells as rows, metrics as columns, and which cells differ significantly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import inf

import polars

from unweave.report.directions import higher_is_better
from unweave.report.study.cells import CELL, arrow, direction
from unweave.report.study.words import counted
from unweave.report.style import decimals, number
from unweave.study.analysis import FEW_SEEDS, Best, Interval, best_cell, cells_of, over_seeds

ROWS = 40
"""Further cells are folded."""
COLUMNS = 8
"""Further metrics are folded too, this many per table."""
NAMED = 6
"""Largest number of tied cells that are named."""


@dataclass(frozen=True)
class Summary:
    """The scores of the cells of one data set at the end of training."""

    planned: Mapping[str, int]
    """The number of seeds of each cell, in the order of the plan."""
    done: Mapping[str, int]
    """The number of seeds of each cell that have a score."""
    means: Mapping[str, Mapping[str, Interval]]
    """By metric and cell, the mean over seeds and its interval over seeds."""
    best: Mapping[str, Best]
    """The best cell, by metric, if one direction is better."""

    def sorted_by(self, metric: str) -> list[str]:
        """Return all cells, with the best mean of a metric first and those without a score last."""
        sign = 1.0 if higher_is_better(metric) is False else -1.0
        found = self.means[metric]
        return sorted(self.planned, key=lambda cell: sign * found[cell].value if cell in found else inf)

    def rank(self, metric: str, cell: str) -> str:
        """Return whether a cell is the best by a metric, ties with the best, or neither.

        If all cells tie with the best, nothing is marked.
        """
        best = self.best.get(metric)
        if best is None or best.cell is None or len(best.ties) == best.compared - 1:
            return ""
        if best.is_clear:
            return "best" if best.cell == (cell,) else ""
        return "tied" if (cell,) in (best.cell, *best.ties) else ""


def summarise(final: polars.DataFrame, runs: polars.DataFrame, metrics: Sequence[str]) -> Summary:
    """Return the summary of one data set from its scores at the end of training and its runs."""
    table = final.select("run", CELL, "seed", "metric", "value")
    planned = dict(runs.group_by(CELL, maintain_order=True).len().iter_rows())
    scored = table.drop_nulls("value").select("run", CELL).unique().group_by(CELL).len()
    means: dict[str, dict[str, Interval]] = {metric: {} for metric in metrics}
    best: dict[str, Best] = {}
    for metric in set(metrics) & set(table["metric"]):
        means[metric] = {
            str(cell): over_seeds(values.to_numpy()) for (cell,), values in cells_of(table, metric).items()
        }
        if (higher := higher_is_better(metric)) is not None:
            best[metric] = best_cell(table, metric, higher_is_better=higher)
    return Summary(planned, dict(scored.iter_rows()), means, best)


def score_tables(summary: Summary, metrics: Sequence[str]) -> str:
    """Return the table of a data set; all but the first rows and columns are folded."""
    lead = leading(metrics)
    cells = summary.sorted_by(lead)
    parts = [_table(summary, cells[:ROWS], metrics[:COLUMNS])]
    if len(cells) > ROWS:
        rest = _table(summary, cells[ROWS:], metrics[:COLUMNS])
        parts.append(_unfolded(f"{counted(len(cells) - ROWS, 'further cell')}", rest))
    if others := [metrics[i : i + COLUMNS] for i in range(COLUMNS, len(metrics), COLUMNS)]:
        tables = "\n".join(_table(summary, cells, names) for names in others)
        parts.append(_unfolded(f"{counted(len(metrics) - COLUMNS, 'further metric')}", tables))
    return "\n".join(parts)


def leading(metrics: Sequence[str]) -> str:
    """Return the metric by which cells are sorted: the first for which one direction is better."""
    return next((name for name in metrics if higher_is_better(name) is not None), metrics[0])


def verdicts(summary: Summary, metrics: Sequence[str]) -> str:
    """Return for each metric which cell is best, or which cells tie."""
    lines = [_verdict(metric, summary) for metric in metrics if metric in summary.best]
    lines = [line for line in lines if line]
    if not lines:
        return _no_comparison(summary)
    shown, rest = lines[:COLUMNS], lines[COLUMNS:]
    hidden = _unfolded(f"{counted(len(rest), 'further metric')}", _list(rest)) if rest else ""
    return f"{_list(shown)}\n{hidden}"


def _verdict(metric: str, summary: Summary) -> str:
    best = summary.best[metric]
    if best.cell is None:
        return ""
    name = f"<strong>{escape(metric)}</strong>: {escape(str(best.cell[0]))}"
    left_out = len(summary.planned) - best.compared
    aside = f" ({counted(left_out, 'cell')} with fewer than {FEW_SEEDS} scores left out)" if left_out else ""
    others = best.compared - 1
    if best.is_clear:
        return (
            f"{name} is better than {'the other cell' if others == 1 else f'each of the other {others} cells'}{aside}."
        )
    ties = [escape(str(cell)) for (cell,) in best.ties]
    every = len(ties) == others
    named = f": {', '.join(ties)}" if len(ties) <= NAMED and not every else ""
    many = f"{'any' if every else len(ties)} of the other {others} cells" if others > 1 else "the other cell"
    extreme = "highest" if higher_is_better(metric) else "lowest"
    return f"{name} has the {extreme} mean, but does not differ significantly from {many}{named}{aside}."


def _no_comparison(summary: Summary) -> str:
    if len(summary.planned) < 2:
        return ""
    text = f"No cell is called best: a comparison needs two cells with at least {FEW_SEEDS} scores each."
    return f'<p class="note">{text}</p>'


def _table(summary: Summary, cells: Sequence[str], metrics: Sequence[str]) -> str:
    head = "".join(
        f'<th scope="col" class="number" title="{direction(metric)}">{_breakable(metric)}&nbsp;{arrow(metric)}</th>'
        for metric in metrics
    )
    rows = "\n".join(_row(summary, cell, metrics) for cell in cells)
    return (
        '<div class="scroll"><table class="cells">\n'
        f'<thead><tr><th scope="col">cell</th><th scope="col" class="number">seeds</th>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(summary: Summary, cell: str, metrics: Sequence[str]) -> str:
    done, planned = summary.done.get(cell, 0), summary.planned[cell]
    seeds = number(done) if done == planned else f"{number(done)} of {number(planned)}"
    values = "".join(_score(summary, cell, metric, done) for metric in metrics)
    return f'<tr><th scope="row">{cell_html(cell)}</th><td class="number">{seeds}</td>{values}</tr>'


def _score(summary: Summary, cell: str, metric: str, seeds: int) -> str:
    found = summary.means.get(metric, {}).get(cell)
    if found is None:
        return '<td class="score">–</td>'
    rank = summary.rank(metric, cell)
    notes = []
    if found.low is not None and found.high is not None:
        notes.append(f"{decimals(found.low)} – {decimals(found.high)}")
    if found.seeds != seeds:
        notes.append(counted(found.seeds, "seed"))
    small = f"<small>{', '.join(notes)}</small>" if notes else ""
    return f'<td class="score {rank}">{decimals(found.value)}{small}</td>'.replace(' "', '"')


def cell_html(cell: str) -> str:
    """Return a cell's name with its method in bold, followed by its settings."""
    method, _, settings = cell.partition(" ")
    return escape(method) + (f" <small>{escape(settings)}</small>" if settings else "")


def _breakable(name: str) -> str:
    """Return a long name that can break after its hyphens."""
    return escape(name).replace("-", "-<wbr>")


def _list(lines: Sequence[str]) -> str:
    items = "\n".join(f"<li>{line}</li>" for line in lines)
    return f'<ul class="verdicts">\n{items}\n</ul>'


def _unfolded(summary: str, content: str) -> str:
    return f'<details class="more">\n<summary>{summary}</summary>\n{content}\n</details>'
