"""Models ranked without labels: a plot for each score, and the page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars
from matplotlib.axes import Axes

from unweave.errors import UsageError
from unweave.files import write_atomically
from unweave.report.chart import Chart
from unweave.report.frame import document, paragraph, section
from unweave.report.inline import captioned
from unweave.report.style import LIGHT, decimals, plain

if TYPE_CHECKING:
    from unweave.selection import Selection

ROW = 0.3
"""Height of a specification in inches."""
LARGEST = 60
"""The most characters shown of a specification's name."""


def selection_figure(selection: Selection, score: str, data: str | None = None) -> Chart:
    """Draw specifications by a label-free score, the best on top: value, interval over seeds, and each run.

    Parameters
    ----------
    selection
        What `unweave.selection.select` returned.
    score
        One of its scores.
    data
        One of its data sets; needed where there are several.

    Returns
    -------
    Chart
        A matplotlib figure: large dots are specifications, small ones above them their runs; on the right, how often
        each is the best when seeds are resampled.
    """
    rows = selection.ranked(score, data).drop_nulls("value")
    if not len(rows):
        raise UsageError(f"there is no score '{score}' to draw")
    if rows["data"].n_unique() > 1:
        raise UsageError(f"name one data set: {', '.join(rows['data'].unique(maintain_order=True))}")
    figure = Chart(7.2, 0.75 + ROW * len(rows))
    axes = figure.add_subplot()
    runs = selection.runs.filter((polars.col("score") == score) & (polars.col("data") == rows["data"][0]))
    for place, row in enumerate(rows.iter_rows(named=True)):
        _specification(axes, place, row, runs.filter(polars.col("specification") == row["specification"]))
    names = [_short(name) for name in rows["specification"]]
    axes.set_yticks(range(len(rows)), names, parse_math=False)
    axes.set_ylim(len(rows) - 0.5, -0.55)
    axes.set_title(rows["data"][0], fontsize=9, color=LIGHT["ink"], loc="left", parse_math=False)
    if rows["chance"].drop_nulls().len():
        axes.set_title("chance", fontsize=9, color=LIGHT["muted"], loc="right")
    axes.set_xlabel(f"{score} ({_direction(score)})", color=LIGHT["muted"], fontsize=9)
    plain(axes)
    axes.grid(visible=True, axis="x", color=LIGHT["line"], linewidth=0.8)
    axes.grid(visible=False, axis="y")
    return figure


def _specification(axes: Axes, place: int, row: Mapping[str, Any], runs: polars.DataFrame) -> None:
    """Draw a specification: its runs, its interval and its score, and how often it is the best."""
    colour = LIGHT["accent"] if row["rank"] == 1 else LIGHT["muted"]
    values = runs["value"].drop_nulls().to_numpy()
    axes.scatter(values, [place - 0.22] * len(values), s=10, color=colour, alpha=0.6, linewidths=0, zorder=2)
    if row["low"] is not None:
        axes.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=2, zorder=3)
    axes.scatter([row["value"]], [place], s=42, color=colour, linewidths=0, zorder=4)
    if row["chance"] is not None:
        axes.annotate(
            f"{100 * row['chance']:.0f} %",
            (1.0, place),
            (4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=LIGHT["muted"],
        )


def write_selection(selection: Selection, out: str | Path, title: str = "Models ranked without labels") -> Path:
    """Write the page of a selection: the choices, a plot and a table for each score, and what was left out.

    Parameters
    ----------
    selection
        What `unweave.selection.select` returned.
    out
        The file.
    title
        What stands above.

    Returns
    -------
    Path
        The file.
    """
    path = Path(out)
    write_atomically(path, document(title, _parts(selection, title), ("page.css", "study.css")).encode())
    return path


def _parts(selection: Selection, title: str) -> list[str]:
    sentences = "".join(f"<li>{escape(choice.sentence)}</li>" for choice in selection.choices)
    notes = "".join(f"<li>{escape(note)}</li>" for note in selection.notes)
    about = (
        "Large dots are specifications, all that decides a run but its seed; lines are 95 % intervals over resampled "
        "seeds, small dots above them runs. A percentage is how often a specification is the best when seeds are drawn "
        "again."
    )
    head = f"<header><h1>{escape(title)}</h1>\n{paragraph(about)}</header>"
    parts = [head, section("The choice", "", f"<ul>{sentences}</ul>" + (f"<ul>{notes}</ul>" if notes else ""))]
    pairs = selection.specifications.select("data", "score").unique(maintain_order=True)
    for number, (data, score) in enumerate(pairs.iter_rows()):
        ranked = selection.ranked(score, data)
        content = ""
        if ranked["value"].drop_nulls().len():
            figure = selection_figure(selection, score, data)
            content = captioned(figure, f"selection{number}", escape(score), escape(_direction(score)))
        parts.append(section(f"{escape(score)} on {escape(data)}", "", content + _table(ranked)))
    if len(selection.against):
        about = (
            "Spearman’s rank correlation with supervised scores, positive where what a score calls better has the "
            "higher supervised score; 95 % intervals over seeds."
        )
        parts.append(section("Against supervised scores", about, _table(selection.against)))
    return parts


def _table(rows: polars.DataFrame) -> str:
    numbers = {name for name, kind in rows.schema.items() if kind.is_numeric()}
    head = "".join(f'<th scope="col" class="{_kind(name, numbers)}">{escape(name)}</th>' for name in rows.columns)
    lines = (_cells(row, numbers) for row in rows.iter_rows(named=True))
    body = "\n".join(f"<tr>{cells}</tr>" for cells in lines)
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _cells(row: Mapping[str, Any], numbers: set[str]) -> str:
    return "".join(f'<td class="{_kind(name, numbers)}">{escape(_text(value))}</td>' for name, value in row.items())


def _kind(name: str, numbers: set[str]) -> str:
    return "number" if name in numbers else ""


def _text(value: object) -> str:
    if value is None:
        return "–"
    return decimals(value) if isinstance(value, float) else str(value)


def _short(name: str) -> str:
    return name if len(name) <= LARGEST else f"{name[: LARGEST - 1]}…"


def _direction(score: str) -> str:
    from unweave.selection.result import direction

    return direction(score)
