"""`unweave metrics …`: what can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unweave.cli.parsing import Flag, parse
from unweave.metrics import METRICS, Metric
from unweave.text import first_line, pairs, table, to_json


@dataclass(frozen=True)
class List:
    """List the metrics that `unweave evaluate` computes."""

    json: Flag = False
    """Print one JSON object instead of a table."""


def list_all(words: list[str]) -> None:
    """Run `unweave metrics list`."""
    options = parse(List, words, "metrics list")
    if options.json:
        return print(to_json({"metrics": [_record(name, metric) for name, metric in METRICS.items()]}))
    rows = [
        {"name": name, "options": pairs(metric.options), "about": first_line(metric.function)}
        for name, metric in METRICS.items()
    ]
    print(table(rows), "\nnext: unweave evaluate runs/first", sep="\n")


def _record(name: str, metric: Metric) -> dict[str, Any]:
    return {
        "name": name,
        "about": first_line(metric.function),
        "reference": metric.reference,
        "measures": metric.measures,
        "range": metric.range,
        "needs": metric.needs,
        "options": dict(metric.options),
    }
