"""The page of label-free scores, written from stored tables: `python benchmarks/label_free_docs.py`.

    unweave reproduce label-free-bakeoff --preset small
    unweave reproduce training-dynamics --preset small
    python benchmarks/label_free_docs.py --results runs/reproduce

The last command stores the tables of these results (preset small, seed 0) in docs/results, draws the figure and writes
the page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pages
import polars

from unweave.report.style import number
from unweave.reproduce.intervals import share_and_interval
from unweave.reproduce.label_free_design import PRESETS
from unweave.reproduce.label_free_figures import agreement_figure
from unweave.reproduce.label_free_table import conclusions, overall

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "results"
AGREEMENT, COSTS, TABLES = (RESULTS / f"label-free-{name}.csv" for name in ("agreement", "costs", "tables"))
PAGE = DOCS / "reproduce" / "label-free.md"
SELECTION = DOCS / "selection.md"
FIGURE = DOCS / "images" / "label-free.png"
NOTHING = "No run is stored."


def store(results: Path) -> None:
    """Store the tables of the two results, if they exist."""
    bakeoff, dynamics = (results / f"{name}-small-0" for name in ("label-free-bakeoff", "training-dynamics"))
    for name, kept in (("agreement.csv", AGREEMENT), ("costs.csv", COSTS)):
        if (bakeoff / name).is_file():
            kept.write_bytes((bakeoff / name).read_bytes())
    if (dynamics / "result.json").is_file():
        rows = json.loads((dynamics / "result.json").read_text(encoding="utf-8"))["rows"]
        keys = ("what", "published", "ours", "low", "high")
        table = polars.DataFrame([{key: row[key] for key in keys} for row in rows], infer_schema_length=None)
        table.write_csv(TABLES, float_precision=6)


def read(path: Path) -> polars.DataFrame:
    """Return a stored table; empty before the first run."""
    return polars.read_csv(path, infer_schema_length=None) if path.is_file() else polars.DataFrame()


def blocks() -> dict[str, str]:
    """Return the texts between the marks of the page, by name."""
    agreement, costs, tables = read(AGREEMENT), read(COSTS), read(TABLES)
    found = {"notes": NOTHING, "agreement": NOTHING, "tables": NOTHING}
    if len(agreement):
        notes = "\n".join(map(pages.bullet, conclusions(agreement, costs)))
        picture = f"![Rank correlation of every label-free score with supervised ones](../images/{FIGURE.name})"
        found |= {"notes": f"{notes}\n\n{picture}", "agreement": agreement_table(agreement)}
    if len(tables):
        found["tables"] = published_table(tables)
    return found


def ranking() -> str:
    """Return the table of scores, the best agreement first, for the page about selection."""
    agreement, costs = read(AGREEMENT), read(COSTS)
    if not len(agreement):
        return NOTHING
    heads = ["score", "mean correlation", "lowest", "gain", "same latents", "same β", "CPU s per run"]
    lines = [f"| {' | '.join(heads)} |", f"|---|{'--:|' * (len(heads) - 1)}"]
    for row in overall(agreement).join(costs, on="score", maintain_order="left").iter_rows(named=True):
        gain = "–" if row["gain"] is None else _percent(row["gain"])
        shares = [share_of_pairs(row[name], pairs) for name, pairs in PRESETS["small"].pairs().items()]
        cells = [_two(row["correlation"]), _two(row["least"]), gain, *shares, number(row["seconds"] / row["runs"], 2)]
        lines.append(f"| `{row['score']}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def share_of_pairs(share: float | None, pairs: int) -> str:
    """Return a share, and its exact 95 % interval as if each pair were compared once, independently.

    >>> share_of_pairs(0.625, 24)
    '62 % (41 … 81)'
    """
    if share is None:
        return "–"
    low, high = share_and_interval(np.arange(pairs) < round(share * pairs))[1:]
    return f"{_percent(share)} ({100 * low:.0f} … {100 * high:.0f})"


def _percent(share: float) -> str:
    return f"{round(100 * share)} %".replace("-", "−")


def agreement_table(agreement: polars.DataFrame) -> str:
    """Return the correlation of each score with each supervised one, with its interval, by data set."""
    cells = agreement.filter(polars.col("over") == "specifications")
    supervised = cells["supervised"].unique(maintain_order=True).to_list()
    texts = []
    for (data,), part in cells.group_by("data", maintain_order=True):
        lines = [f"**{data}**", "", f"| score | {' | '.join(supervised)} |", f"|---|{'--:|' * len(supervised)}"]
        for score in overall(agreement)["score"]:
            rows = {row["supervised"]: row for row in part.filter(polars.col("score") == score).iter_rows(named=True)}
            lines.append(f"| `{score}` | {' | '.join(_cell(rows.get(name)) for name in supervised)} |")
        texts.append("\n".join(lines))
    return "\n\n".join(texts)


def published_table(rows: polars.DataFrame) -> str:
    """Return tables 1, 3 and 4 of the paper with our numbers."""
    lines = ["| | paper | ours | 95 % over seeds |", "|---|--:|--:|--:|"]
    for row in rows.iter_rows(named=True):
        published = "–" if row["published"] is None else f"{row['published']:.2f}".replace("-", "−")
        lines.append(f"| {row['what']} | {published} | {_two(row['ours'])} | {_interval(row)} |")
    return "\n".join(lines)


def _cell(row: dict[str, float | None] | None) -> str:
    if row is None or row["correlation"] is None:
        return "–"
    return _two(row["correlation"]) + (f" ({_interval(row)})" if row["low"] is not None else "")


def _interval(row: dict[str, float | None]) -> str:
    low, high = row["low"], row["high"]
    return "–" if low is None or high is None else f"{_two(low)} … {_two(high)}"


def _two(value: float | None) -> str:
    return "–" if value is None or value != value else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def main(words: Sequence[str] | None = None) -> None:
    if given := pages.to_store(words, __doc__, "--results", "the folder of results"):
        store(given)
    pages.put_all(PAGE, blocks())
    pages.put(SELECTION, "bake-off", ranking())
    if len(agreement := read(AGREEMENT)):
        agreement_figure(agreement).savefig(FIGURE, dpi=90, facecolor="white")


if __name__ == "__main__":
    main()
