"""The table of scores as HTML, with every interval drawn on a scale from 0 to 1."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from unweave.metrics import METRICS

if TYPE_CHECKING:
    import polars

OTHER_RANGE = {row for name, metric in METRICS.items() if metric.range[1] > 1 for row in metric.names(name)}
"""Scores with no largest value, of which a place between 0 and 1 says nothing."""
HEAD = ("metric", "value", "interval", "0 … 1", "options")


def score_table(scores: polars.DataFrame) -> str:
    """Return a <table> with a row for every score: value, interval, and the options it was computed with.

    Scores of one name stand together, with the options that tell them apart.
    """
    head = "".join(f'<th scope="col">{title}</th>' for title in HEAD)
    names = scores["metric"].to_list()
    rows = sorted(scores.iter_rows(named=True), key=lambda score: names.index(score["metric"]))  # like beside like
    body = "\n".join(_row(score, _apart(score, rows)) for score in rows)
    table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    return f'<div class="scroll">{table}</div>'


def _apart(score: Mapping[str, Any], scores: Sequence[Mapping[str, Any]]) -> str:
    """Return the options that a score does not share with others of its name."""
    own = _read(score.get("options"))
    others = [_read(other.get("options")) for other in scores if other["metric"] == score["metric"]]
    return _listed({name: value for name, value in own.items() if any(other.get(name) != value for other in others)})


def _row(score: Mapping[str, Any], apart: str) -> str:
    value, low, high = (_float(score.get(column)) for column in ("value", "low", "high"))
    interval = f"{_decimals(low)} – {_decimals(high)}" if isfinite(low + high) else "–"
    name, options = str(score["metric"]), escape(_listed(_read(score.get("options"))))
    return (
        f'<tr><th scope="row">{escape(name)}{f" <small>{escape(apart)}</small>" if apart else ""}</th>'
        f'<td class="value">{_decimals(value)}</td><td>{interval}</td>'
        f'<td class="range">{"" if name in OTHER_RANGE else _scale(value, low, high)}</td>'
        f'<td class="options" title="{options}">{options}</td></tr>'
    )


def _scale(value: float, low: float, high: float) -> str:
    """Draw the value and its interval between 0 and 1; nothing for a score that leaves that range."""
    low, high = (low, high) if isfinite(low + high) else (value, value)
    if not all(0 <= end <= 1 for end in (value, low, high)):
        return ""
    band = f'<i style="left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"></i>'
    return f'<span class="scale" aria-hidden="true">{band}<b style="left:{100 * value:.2f}%"></b></span>'


def _float(value: float | None) -> float:
    return nan if value is None else value


def _decimals(value: float) -> str:
    return f"{value:.3f}".replace("-", "−") if isfinite(value) else "–"


def _read(options: object) -> Mapping[str, Any]:
    """Return options, a mapping or the JSON text of one."""
    if isinstance(options, str):
        try:
            options = json.loads(options)
        except ValueError:
            options = {"options": options}
    return options if isinstance(options, Mapping) else {}


def _listed(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items() if value is not None)
