"""`unweave metrics …`: what can be measured."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from unweave.cli.parsing import Flag, parse
from unweave.metrics import GROUPS, METRICS, Metric
from unweave.metrics.metric import INPUTS
from unweave.text import facts, first_line, table, to_json

BETTER = {True: "higher", False: "lower", None: "–"}


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
        {
            "name": name,
            "measures": metric.measures,
            "range": _range(metric),
            "better": BETTER[metric.higher_is_better],
            "needs": ", ".join(_inputs(metric)),
            "reference": metric.reference,
        }
        for name, metric in METRICS.items()
    ]
    groups = facts({name: ", ".join(members) for name, members in GROUPS.items() if name != "all"})
    print(table(rows), f"\ngroups\n{groups}", "\nnext: unweave evaluate runs/first", sep="\n")


def _range(metric: Metric[..., Any]) -> str:
    low, high = (f"{end:g}" if isfinite(end) else "∞" for end in metric.range)
    return f"{'−' if metric.range[0] == -inf else ''}{low} … {high}"


def _inputs(metric: Metric[..., Any]) -> list[str]:
    """Return what a user must have: codes, factors, a grid to intervene on …"""
    sampled = ["log_variances"] if metric.representation == "sampled" else []
    return [INPUTS[name] for name in metric.needs if name in INPUTS] + sampled


def _record(name: str, metric: Metric[..., Any]) -> dict[str, Any]:
    return {
        "name": name,
        "about": first_line(metric),
        "reference": metric.reference,
        "measures": metric.measures,
        "range": metric.range,
        "better": BETTER[metric.higher_is_better],
        "parts": metric.parts,
        "needs": _inputs(metric),
        "options": dict(metric.options),
        "fast": dict(metric.fast),
    }
