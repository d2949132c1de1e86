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
    return {"setting": setting(table), "notes": "\n".join(map(pages.bullet, found.notes)), **parts}


def setting(table: polars.DataFrame) -> str:
    """Return a sentence on what was run."""
    counts = [table[name].n_unique() for name in ("run", "data", "method")]
    seeds, steps = table["seed"].n_unique(), table["step"].max()
    return f"{counts[0]} runs: {counts[1]} data sets, {counts[2]} methods, {seeds} seeds, {steps:,} steps."


def as_table(rows: Sequence[Row]) -> str:
    """Return rows as Markdown."""
    lines = ["| | published | ours | 95 % over seeds |", "|---|--:|--:|--:|"]
    for row in rows:
        published = "–" if row.published is None else f"{row.published:g}"
        inside = "–" if row.low != row.low else f"{number(row.low)} … {number(row.high)}"
        lines.append(f"| {row.what.partition('. ')[2]} | {published} | {number(row.ours)} | {inside} |")
    return "\n".join(lines)


def number(value: float) -> str:
    """Return a percentage with one decimal, or a correlation with two."""
    text = f"{value:.1f}" if abs(value) > 1 else f"{value:.2f}"
    return text.replace("-", "−")


def main() -> None:
    if given := pages.to_store(None, __doc__, "--scores", "scores.csv of a reproduction"):
        store(given)
    table = read_table(STORED)
    pages.put_all(PAGE, blocks(table))
    for name, figure in figures(table).items():
        figure.savefig(DOCS / "images" / f"challenging-{name}.png", dpi=90, facecolor="white")


if __name__ == "__main__":
    main()
