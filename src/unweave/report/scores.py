"""The table of scores as HTML, with every interval drawn on a scale from 0 to 1."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    """Return a <table> with a row for every metric: value, interval, and the options it was computed with."""
    head = "".join(f'<th scope="col">{title}</th>' for title in HEAD)
    body = "\n".join(_row(score) for score in scores.iter_rows(named=True))
    table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    return f'<div class="scroll">{table}</div>'


def _row(score: Mapping[str, Any]) -> str:
    value, low, high = (_float(score.get(column)) for column in ("value", "low", "high"))
    interval = f"{_decimals(low)} – {_decimals(high)}" if isfinite(low + high) else "–"
    name, options = str(score["metric"]), escape(_options(score.get("options")))
    return (
        f'<tr><th scope="row">{escape(name)}</th>'
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


def _options(options: object) -> str:
    """Return options, a mapping or the JSON text of one, as `name=value` pairs."""
    if isinstance(options, str):
        try:
            options = json.loads(options)
        except ValueError:
            return str(options)
    if not isinstance(options, Mapping):
        return "" if options is None else str(options)
    return ", ".join(f"{name}={value}" for name, value in options.items() if value is not None)
