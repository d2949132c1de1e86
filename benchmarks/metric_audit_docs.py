"""The page of the audit of metrics, written from its stored table: `python benchmarks/metric_audit_docs.py`.

    unweave reproduce metric-audit --preset small
    python benchmarks/metric_audit_docs.py --audit runs/reproduce/metric-audit-small-0/audit.csv

The second command stores the table as docs/results/metric-audit.csv, draws its figure and writes the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import pages

from unweave.report.style import number
from unweave.reproduce.metric_audit_figures import audit_figure
from unweave.reproduce.metric_audit_table import CONTRASTS, Audit, Contrast, conclusions, read_csv
from unweave.study.analysis.power import MOST_SEEDS

DOCS = Path(__file__).parents[1] / "docs"
STORED = DOCS / "results" / "metric-audit.csv"
PAGE = DOCS / "reproduce" / "metric-audit.md"
FIGURE = DOCS / "images" / "metric-audit.png"


def stored() -> list[Audit]:
    """Return the stored table; empty before the first run."""
    return read_csv(STORED.read_text(encoding="utf-8")) if STORED.is_file() else []


def blocks(found: Sequence[Audit]) -> dict[str, str]:
    """Return the texts between the marks of the page, by name."""
    if not found:
        return {"notes": "No run is stored.", "tables": ""}
    data = dict.fromkeys(each.data for each in found)
    tables = [table([each for each in found if each.data == name]) for name in data]
    picture = f"![Every metric with its noise, effects and seeds](../images/{FIGURE.name})"
    notes = "\n".join(map(pages.bullet, conclusions(found)))
    source = f"Every number is in [{STORED.name}](../results/{STORED.name}), with one row for each metric and data set."
    return {"notes": f"{notes}\n\n{picture}", "tables": "\n\n".join([*tables, source])}


def table(found: Sequence[Audit]) -> str:
    """Return the metrics of one data set as Markdown, the one that needs the fewest seeds first."""
    first = found[0]
    noises = [f"noise, {rows:,} rows" for rows in (first.few_rows, first.many_rows)]
    heads = ["mean", "spread", *noises, "rows needed", *CONTRASTS, "seeds", "claims met"]
    lines = [f"**{first.data}**", "", f"| metric | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    return "\n".join([*lines, *map(_line, found)])


def _line(audit: Audit) -> str:
    cells = [number(value, 3) for value in (audit.mean, audit.spread, audit.few_noise, audit.many_noise)]
    cells.append("–" if audit.rows_needed is None else f"{audit.rows_needed:,}")
    cells += [_effect(audit.contrasts.get(name)) for name in CONTRASTS]
    typical = audit.typical
    cells.append(f"{_seeds(typical.seeds)} ({_seeds(typical.fewest_seeds)} … {_seeds(typical.most_seeds)})")
    cells.append("–" if audit.claims_met is None else f"{100 * audit.claims_met:.0f} %")
    return f"| `{audit.metric}` | {' | '.join(cells)} |"


def _effect(contrast: Contrast | None) -> str:
    if contrast is None or not isfinite(contrast.effect):
        return "–" if contrast is None else "∞"
    return number(round(contrast.effect, 2) + 0.0)  # avoids "−0"


def _seeds(seeds: float) -> str:
    return f"{seeds:.0f}" if isfinite(seeds) else f"> {MOST_SEEDS:,}"


def main(words: Sequence[str] | None = None) -> None:
    if given := pages.to_store(words, __doc__, "--audit", "audit.csv of a reproduction"):
        STORED.write_bytes(given.read_bytes())
    found = stored()
    pages.put_all(PAGE, blocks(found))
    if found:
        audit_figure(found).savefig(FIGURE, dpi=90, facecolor="white")


if __name__ == "__main__":
    main()
