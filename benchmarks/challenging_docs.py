"""The page of the large-scale study, written from its stored scores: `python benchmarks/challenging_docs.py`.

With `--scores runs/reproduce/challenging-assumptions-small-0/scores.csv`, these scores are stored first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pages
import polars

from unweave.reproduce.challenging_figures import figures
from unweave.reproduce.challenging_findings import answers
from unweave.reproduce.frame import Row
from unweave.tables import read_table, write_table

DOCS = Path(__file__).parents[1] / "docs"
STORED = DOCS / "results" / "challenging-assumptions.parquet"
PAGE = DOCS / "reproduce" / "challenging-assumptions.md"
QUESTIONS = {"1": "correlated", "2": "agreement", "3": "shares", "4": "transfer", "5": "downstream"}


def store(scores: Path) -> None:
    """Store the scores of a reproduction, without the names of its runs."""
    table = polars.read_csv(scores, infer_schema_length=None)
    write_table(STORED, table.with_columns(polars.col("run").rank("dense").cast(polars.String)))


def blocks(table: polars.DataFrame) -> dict[str, str]:
    """Return the texts between the marks of the page, by name."""
    found = answers(table)
    parts = {name: as_table([row for row in found.rows if row.what[0] == digit]) for digit, name in QUESTIONS.items()}
    notes = "\n".join(pages.bullet(f"Question {note}") for note in found.notes)
    return {"setting": setting(table), "notes": notes, **parts}


def setting(table: polars.DataFrame) -> str:
    """Return a sentence on what was run."""
    counts = [table[name].n_unique() for name in ("run", "data", "method")]
    seeds, steps = table["seed"].n_unique(), table["step"].max()
    return f"{counts[0]} runs: {counts[1]} data sets, {counts[2]} methods, {seeds} seeds, {steps:,} steps."


def as_table(rows: Sequence[Row]) -> str:
    """Return rows as Markdown."""
    lines = ["| | published | ours | 95 % over seeds |", "|---|--:|--:|--:|"]
    for row in rows:
        digits = 1 if row.what.endswith("%") else 2
        published = "–" if row.published is None else f"{row.published:g}"
        ours, low, high = (number(value, digits) for value in (row.ours, row.low, row.high))
        inside = "–" if row.low != row.low else f"{low} … {high}"
        lines.append(f"| {row.what.partition('. ')[2]} | {published} | {ours} | {inside} |")
    return "\n".join(lines)


def number(value: float, digits: int) -> str:
    """Return a number with some decimals and a true minus sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def main() -> None:
    if given := pages.to_store(None, __doc__, "--scores", "scores.csv of a reproduction"):
        store(given)
    table = read_table(STORED)
    pages.put_all(PAGE, blocks(table))
    for name, figure in figures(table).items():
        figure.savefig(DOCS / "images" / f"challenging-{name}.png", dpi=90, facecolor="white")


if __name__ == "__main__":
    main()
