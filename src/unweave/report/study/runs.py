"""The runs of a study as HTML: cells × seeds, each a link to its folder or page, and why runs failed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from pathlib import Path
from urllib.parse import quote

import polars

from unweave.report.study.cells import CELL
from unweave.report.study.seen import Seen
from unweave.report.study.tables import cell_html
from unweave.report.study.words import counted, duration
from unweave.report.style import number

FOLDED = 60
"""With more cells the matrix is folded."""
STATES = {"done": "done", "running": "running", "failed": "failed", "todo": "to do"}
KEY = " ".join(f'<span class="run {state}"></span>&nbsp;{word}' for state, word in STATES.items())


def run_matrix(seen: Seen, page: Path) -> str:
    """Return cells × seeds; existing runs are links relative to the page."""
    seeds = sorted(set(seen.runs["seed"]))
    head = "".join(f'<th scope="col">{seed}</th>' for seed in seeds)
    bodies = [_body(seen, data, seeds, page) for data in seen.data]
    table = (
        '<div class="scroll"><table class="matrix">\n'
        f'<thead><tr><th scope="col">seed</th>{head}</tr></thead>\n{"".join(bodies)}</table></div>'
    )
    cells = seen.runs.select("data", CELL).n_unique()
    if cells > FOLDED:
        about = f"{counted(cells, 'cell')} × {counted(len(seeds), 'seed')}"
        table = f'<details class="more">\n<summary>{about}</summary>\n{table}\n</details>'
    return f'<p class="key">{KEY}</p>\n{table}'


def _body(seen: Seen, data: str, seeds: list[int], page: Path) -> str:
    rows = seen.runs.filter(polars.col("data") == data)
    by_cell: dict[str, dict[int, Mapping[str, object]]] = {}
    for row in rows.iter_rows(named=True):
        by_cell.setdefault(row[CELL], {})[row["seed"]] = row
    lines = "\n".join(
        f'<tr><th scope="row">{cell_html(cell)}</th>'
        f"{''.join(f'<td>{_run(seen, found[seed], page) if seed in found else str()}</td>' for seed in seeds)}</tr>"
        for cell, found in by_cell.items()
    )
    head = (
        f'<tr class="group"><th scope="rowgroup" colspan="{len(seeds) + 1}"><strong>{escape(data)}</strong></th></tr>\n'
    )
    return f"<tbody>\n{head if len(seen.data) > 1 else ''}{lines}\n</tbody>\n"


def _run(seen: Seen, run: Mapping[str, object], page: Path) -> str:
    """Return one run as a square; it is a link if the run has a folder or failed."""
    name, state = str(run["run"]), str(run[".state"])
    spent = run[".seconds"]
    about = f"{run[CELL]}, seed {run['seed']}: {STATES[state]}"
    about += f", {duration(spent)}" if isinstance(spent, float) else ""
    target = target_of(seen.study.path, name, state)
    told = f'class="run {state}" title="{escape(about)}" aria-label="{escape(about)}"'
    return f'<a {told} href="{link(target, page)}"></a>' if target else f'<span {told} role="img"></span>'


def target_of(study: Path, name: str, state: str) -> Path | None:
    """Return what a run links to: its page, its folder, or why it failed; None if there is nothing yet."""
    folder = study / "runs" / name
    if state == "failed":
        return study / "failures" / f"{name}.txt"
    if (folder / "report.html").is_file():
        return folder / "report.html"
    return folder if folder.is_dir() else None


def link(target: Path, page: Path) -> str:
    """Return the address of a file relative to a page."""
    try:
        relative = os.path.relpath(target, page.parent)
    except ValueError:  # another drive
        return target.resolve().as_uri()
    return escape(quote(relative.replace(os.sep, "/")))


def failures(seen: Seen, page: Path) -> str:
    """Return why runs failed, each reason once, with the runs that it stopped."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in seen.failures.items():
        by_reason.setdefault(reason or "no reason was recorded", []).append(name)
    rows = "\n".join(_reason(seen.study.path, reason, names, page) for reason, names in by_reason.items())
    head = '<th scope="col" class="number">runs</th><th scope="col">reason</th><th scope="col">which</th>'
    return (
        '<div class="scroll"><table class="failures">\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _reason(study: Path, reason: str, names: list[str], page: Path) -> str:
    links = [f'<a href="{link(study / "failures" / f"{name}.txt", page)}">{escape(name)}</a>' for name in names]
    shown = "<br>".join(links[:3])
    if len(links) > 3:
        shown += f"<details><summary>{len(links) - 3} more</summary>{'<br>'.join(links[3:])}</details>"
    return (
        f'<tr><td class="number">{number(len(names))}</td><td class="reason">{escape(reason)}</td><td>{shown}</td></tr>'
    )
