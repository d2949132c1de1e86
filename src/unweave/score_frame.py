"""A table of scores: a polars frame that prints only the columns that people read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from math import isfinite
from typing import Any

import polars

from unweave.text import table

Row = Mapping[str, Any]
Columns = dict[str, Callable[[Row], str]]
"""The columns to show: for each heading, the function from a row to its text."""
WORDS = ("key", "metric", "factor", "first", "second", "better")
"""Headings of the columns that do not hold numbers."""


class Scores(polars.DataFrame):
    """A table of `unweave.evaluate`, `unweave.compare` or `Run.scores`.

    It is a polars frame with all of their columns; only its display differs. Methods of polars, such as `filter` and
    `join`, return plain polars frames.

    >>> Scores({"metric": ["mig"], "value": [0.5], "low": [0.4], "high": [0.6], "options": ["{}"]})
    metric  value  95 % interval
    mig     0.500  0.400 … 0.600
    """

    def __str__(self) -> str:
        columns = _columns(self)
        if not columns:
            return super().__str__()
        return table(_texts(self, columns), [name for name in columns if name not in WORDS])

    def __repr__(self) -> str:
        return self.__str__()

    def _repr_html_(self, **options: Any) -> str:
        """Return the table as HTML, for notebooks."""
        columns = _columns(self)
        if not columns:
            return super()._repr_html_(**options)
        side = {name: "left" if name in WORDS else "right" for name in columns}
        head = "".join(f'<th style="text-align:{side[name]}">{escape(name)}</th>' for name in side)
        rows = [
            "".join(f'<td style="text-align:{side[name]}">{escape(text)}</td>' for name, text in row.items())
            for row in _texts(self, columns)
        ]
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def _texts(frame: polars.DataFrame, columns: Columns) -> list[dict[str, str]]:
    """Return the texts to show, without rows that only hold a time."""
    value = "difference" if "difference" in frame.columns else "value"
    rows = [row for row in frame.iter_rows(named=True) if row[value] is not None or row["options"] != "{}"]
    return [{head: text(row) for head, text in columns.items()} for row in rows]


def _columns(frame: polars.DataFrame) -> Columns:
    """Return the columns to show; none if the frame is no longer a table of scores."""
    has = set(frame.columns)
    if not len(frame) or not {"metric", "options"} <= has:
        return {}
    if {"difference", "a", "b", "value_a", "value_b", "better"} <= has:
        return _of_differences(frame)
    if "value" not in has:
        return {}
    shown = {name: _text(name) for name in ("key", "metric", "factor") if name in has}
    shown |= {"value": _number("value")} | _ends(frame, "95 % interval", "low", "high")
    shown |= _ends(frame, "floor … ceiling", "floor", "ceiling")
    if "step" in has:
        shown["step"] = lambda row: "–" if row["step"] is None else f"{row['step']:,}"
    if "current" in has and not frame["current"].all():
        shown["current"] = lambda row: "yes" if row["current"] else "no"
    return shown


def _of_differences(frame: polars.DataFrame) -> Columns:
    """Return the columns of a comparison; for a single pair, the columns of values have the names of the two."""
    pairs = frame.select("a", "b").unique()
    a, b = pairs.row(0)
    one = len(pairs) == 1 and a != b and not {a, b} & {"difference", *WORDS}
    names = {} if one else {"first": _text("a"), "second": _text("b")}
    shown = {"metric": _text("metric")} | names
    values = {a if one else "value_a": _number("value_a"), b if one else "value_b": _number("value_b")}
    numbers = {"difference": _number("difference")} | _ends(frame, "95 % interval", "low", "high")
    return shown | values | numbers | {"better": _text("better")}


def _ends(frame: polars.DataFrame, head: str, low: str, high: str) -> Columns:
    """Return a column of two numbers, if any row has them."""
    if not {low, high} <= set(frame.columns) or (frame[low].is_null().all() and frame[high].is_null().all()):
        return {}
    first, last = _number(low), _number(high)
    return {head: lambda row: "–" if row[low] is row[high] is None else f"{first(row)} … {last(row)}"}


def _text(name: str) -> Callable[[Row], str]:
    return lambda row: row[name] or ""


def _number(name: str) -> Callable[[Row], str]:
    return lambda row: f"{row[name]:.3f}" if row[name] is not None and isfinite(row[name]) else "–"
