"""The page of a comparison: one HTML file that draws the difference of every score around 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import floor, isfinite, log10, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.files import write_atomically
from unweave.report.frame import document
from unweave.report.scores import QUESTIONS, origin_of
from unweave.report.style import number

if TYPE_CHECKING:
    import polars

Row = Mapping[str, Any]
"""A row of the table of `unweave.compare`, by column."""
Facts = Mapping[str, Mapping[str, object]]
"""Facts about each compared model, by name: for a run, its method and training."""

READING = (
    "A dot is the difference of a score between two, on the same images; its band is the 95 % interval, from "
    "half-samples that both were scored on. Where the band leaves out 0 they differ: the dot is filled, and the better "
    "one is named (↑: higher is better, ↓: lower). About one score in twenty differs by chance alone. Scores that are "
    "not between −1 and 1 have a scale of their own, ±. Intervals are over images and exclude training seeds: two "
    "seeds of one method may differ as much, so compare methods over several seeds."
)


def write_comparison(
    table: polars.DataFrame, out: str | Path, facts: Facts | None = None, notes: Sequence[str] = ()
) -> Path:
    """Write the page of a comparison and return its path.

    Parameters
    ----------
    table
        The table that `unweave.compare` returned.
    out
        The page to write.
    facts
        Facts about each compared model, by name.
    notes
        Important notes, for example that a model has collapsed.

    Returns
    -------
    Path
        The page. The same arguments give the same bytes.
    """
    path = Path(out)
    page = render_comparison(table, facts, notes)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page.encode())
    return path


def render_comparison(table: polars.DataFrame, facts: Facts | None = None, notes: Sequence[str] = ()) -> str:
    """Return the page of a comparison as HTML text.

    Parameters
    ----------
    table, facts, notes
        As in `write_comparison`.

    Returns
    -------
    str
        The page, which needs no other files.
    """
    rows = list(table.iter_rows(named=True))
    pairs = list(dict.fromkeys((row["a"], row["b"]) for row in rows))
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    sections = [_section(a, b, [row for row in rows if (row["a"], row["b"]) == (a, b)]) for a, b in pairs]
    title = f"{', '.join(names[1:])} against {names[0]}" if names else "nothing to compare"
    return document(title, [_header(names, facts or {}, notes), *sections], ("page.css", "compare.css"))


def _header(names: Sequence[str], facts: Facts, notes: Sequence[str]) -> str:
    against = f" <small>against</small> {escape(names[0])}" if names else "Nothing to compare"
    title = f"{escape(', '.join(names[1:]))}{against}"
    alerts = "\n".join(f'<p class="alert">{escape(note)}</p>' for note in notes)
    header = f"<header>\n<h1>{title}</h1>\n{_facts(names, facts)}\n{alerts}\n</header>"
    return f"{header}\n<section>\n<p>{READING}</p>\n</section>"


def _facts(names: Sequence[str], facts: Facts) -> str:
    """Return a table of the facts, one column for each model; facts that all share come first."""
    known = list(dict.fromkeys(key for name in names for key in facts.get(name, {})))
    values = {key: [str(facts.get(name, {}).get(key, "–")) for name in names] for key in known}
    shared = {key: row[0] for key, row in values.items() if len(set(row)) == 1}
    listed = "".join(f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in shared.items())
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    body = "\n".join(
        f'<tr><th scope="row">{escape(key)}</th>{"".join(f"<td>{escape(value)}</td>" for value in row)}</tr>'
        for key, row in values.items()
        if key not in shared
    )
    table = f'<table class="facts"><thead><tr><td></td>{head}</tr></thead><tbody>\n{body}\n</tbody></table>'
    return (f"<dl>{listed}</dl>\n" if shared else "") + (f'<div class="scroll">{table}</div>' if body else "")


def _section(a: str, b: str, rows: Sequence[Row]) -> str:
    """Return the differences of one pair, in groups."""
    extent = _extent(row for row in rows if _bounded(row))
    ends = f'<span class="ends"><span>−{number(extent)}</span><span>0</span><span>+{number(extent)}</span></span>'
    heads = [("", "metric"), *(("number", escape(name)) for name in (a, b)), ("number", "difference")]
    heads += [("interval", "95 % interval"), ("", ends), ("", ""), ("", "better")]
    head = "".join(f'<th scope="col" class="{kind}">{text}</th>' for kind, text in heads)
    body = "\n".join(_group(group, rows, extent, len(heads)) for group in QUESTIONS)
    table = f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n{body}\n</table></div>'
    about = f"Differences are {escape(b)} less {escape(a)}."
    return f"<section>\n<h2>{escape(_summary(a, b, rows))}</h2>\n<p>{about}</p>\n{table}\n</section>"


def _summary(a: str, b: str, rows: Sequence[Row]) -> str:
    """Return in words how many scores differ, and which model is better."""
    wins = {name: sum(row["better"] == name for row in rows) for name in (a, b)}
    same = sum(row["differs"] is False for row in rows)
    return f"{a} is better in {_scores(wins[a])}, {b} in {wins[b]}; {same} {'does' if same == 1 else 'do'} not differ"


def _scores(count: int) -> str:
    return f"{count} score{'' if count == 1 else 's'}"


def _group(group: str, rows: Sequence[Row], extent: float, columns: int) -> str:
    """Return the rows of one group below its heading, or nothing."""
    inside = [row for row in rows if _group_of(row) == group]
    if not inside:
        return ""
    heading = f"<strong>{group.capitalize()}</strong> {QUESTIONS[group]}"
    head = f'<tr class="group"><th scope="rowgroup" colspan="{columns}">{heading}</th></tr>'
    body = "\n".join(_line(row, extent) for row in inside)
    return f"<tbody>\n{head}\n{body}\n</tbody>"


def _group_of(row: Row) -> str:
    return origin.group if (origin := origin_of(row["metric"])) else "other"


def _line(row: Row, extent: float) -> str:
    value_a, value_b, difference, low, high = (
        nan if row[name] is None else row[name] for name in ("value_a", "value_b", "difference", "low", "high")
    )
    bounded = _bounded(row)
    own = extent if bounded else _extent([row])
    interval = f"{_signed(low)} … {_signed(high)}" if isfinite(low + high) else "–"
    verdict = escape(row["better"] or "differs") if row["differs"] else "–"
    cells = [
        f'<td class="number">{_decimals(value_a)}</td>',
        f'<td class="number">{_decimals(value_b)}</td>',
        f'<td class="difference">{_signed(difference)}</td>',
        f'<td class="interval">{interval}</td>',
        f'<td class="range">{_scale(difference, low, high, own)}</td>',
        f'<td class="extent">{"" if bounded else f"±{number(own)}"}</td>',
        f'<td class="verdict">{verdict}</td>',
    ]
    name, options = f"{escape(row['metric'])} {_direction(row)}", escape(str(row["options"]))
    kind = "differs" if row["differs"] else "same"
    return f'<tr class="{kind}"><th scope="row" title="{options}">{name}</th>{"".join(cells)}</tr>'


def _bounded(row: Row) -> bool:
    """Return whether differences of a score fit on a common scale with others: it has a largest value."""
    origin = origin_of(row["metric"])
    return origin is not None and max(map(abs, origin.metric.range)) <= 1


def _extent(rows: Iterable[Row]) -> float:
    """Return how far a scale extends to either side of 0: a round number that covers all values."""
    ends = [abs(row[name]) for row in rows for name in ("difference", "low", "high") if row[name] is not None]
    widest = max((end for end in ends if isfinite(end)), default=0.0)
    if widest <= 0:
        return 1.0
    power = 10.0 ** floor(log10(widest))
    return next(step * power for step in (1, 1.5, 2, 3, 5, 10) if widest <= step * power * (1 + 1e-9))


def _direction(row: Row) -> str:
    origin = origin_of(row["metric"])
    higher = origin.metric.higher_is_better if origin else None
    return "" if higher is None else f"<small>{'↑' if higher else '↓'}</small>"


def _scale(difference: float, low: float, high: float, extent: float) -> str:
    """Draw a difference and its interval around 0."""
    if not isfinite(difference):
        return ""
    low, high = (low, high) if isfinite(low + high) else (difference, difference)
    start, end, dot = (50 + 50 * max(-1.0, min(1.0, place / extent)) for place in (low, high, difference))
    band = f'<i style="left:{start:.2f}%;width:{end - start:.2f}%"></i>'
    return f'<span class="scale around" aria-hidden="true">{band}<b style="left:{dot:.2f}%"></b></span>'


def _decimals(value: float) -> str:
    return f"{value:.3f}".replace("-", "−") if isfinite(value) else "–"


def _signed(value: float) -> str:
    """Return a difference with its sign; one that rounds to 0 has none."""
    if not isfinite(value):
        return "–"
    text = f"{value:+.3f}"
    return "0.000" if float(text) == 0 else text.replace("-", "−")
