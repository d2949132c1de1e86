"""Sections that users add to the page of a study, such as a table of published scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import polars
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unweave.report.frame import paragraph, section
from unweave.report.inline import svg
from unweave.report.study.cells import setting


@dataclass(frozen=True)
class Section:
    """A section of a page: a title, text, a table, figures. All text is plain and is escaped."""

    title: str
    text: str = ""
    """Paragraphs, separated by empty lines."""
    table: polars.DataFrame | Sequence[Mapping[str, Any]] = ()
    """Rows with the same columns."""
    figures: Sequence[Figure | Axes] = ()
    """Drawn as SVG."""


def section_html(given: Section, anchor: str) -> str:
    """Return a section as HTML."""
    about, *others = [escape(part) for part in given.text.split("\n\n")]
    rows = given.table.to_dicts() if isinstance(given.table, polars.DataFrame) else list(given.table)
    drawn = [_drawn(figure, f"{anchor}-{place}", given.title) for place, figure in enumerate(given.figures)]
    parts = [*map(paragraph, others), table_html(rows) if rows else "", *drawn]
    return section(escape(given.title), about, "".join(parts), anchor)


def table_html(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a <table>, with numbers aligned to the right."""
    heads = list(rows[0])
    kind = {name: _kind(rows, name) for name in heads}
    head = "".join(f'<th scope="col"{kind[name]}>{escape(name)}</th>' for name in heads)
    body = "\n".join(
        f"<tr>{''.join(f'<td{kind[name]}>{escape(_text(row.get(name)))}</td>' for name in heads)}</tr>" for row in rows
    )
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n'


def _kind(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    values = [row.get(name) for row in rows if row.get(name) is not None]
    return ' class="number"' if all(isinstance(value, int | float) for value in values) else ""


def _text(value: object) -> str:
    return "–" if value is None else setting(value)


def _drawn(figure: Figure | Axes, name: str, title: str) -> str:
    found = figure.get_figure(root=True) if isinstance(figure, Axes) else figure
    assert isinstance(found, Figure), "axes are on a figure"
    return f'<div class="scroll">{svg(found, name, title)}</div>\n'
