"""`unweave metrics …`: list and describe the metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tyro.conf import Positional, arg

from unweave.cli.parsing import Flag, Plugins, parse
from unweave.fields import OneOf
from unweave.metrics import GROUPS, METRICS, describe
from unweave.metrics.description import range_text
from unweave.metrics.table import known_metrics
from unweave.text import facts, table, to_json


@dataclass(frozen=True)
class List:
    """List the metrics that `unweave evaluate` computes."""

    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of a table."""


def list_all(words: list[str]) -> None:
    """Run `unweave metrics list`."""
    options = parse(List, words, "metrics list")
    found = [describe(name) for name in known_metrics()]
    if options.json:
        return print(to_json({"metrics": [metric.record() for metric in found]}))
    rows = [
        {
            "name": metric.name,
            "measures": metric.measures,
            "range": range_text(metric.range),
            "better": metric.better,
            "needs": ", ".join(metric.needs),
            "reference": metric.reference,
        }
        for metric in found
    ]
    groups = facts({name: ", ".join(members) for name, members in GROUPS.items() if name != "all"})
    legend = "better: the better end of the range; – if neither is"
    print(table(rows), f"\ngroups\n{groups}", f"\n{legend}", "\nnext: unweave evaluate runs/first", sep="\n")


@dataclass(frozen=True)
class Info:
    """Show what a metric measures, who defined it, what it needs, and its options."""

    name: Annotated[Positional[str], OneOf(METRICS, listed=False), arg(metavar="NAME")]
    """The metric."""
    plugin: Plugins = ()
    """Load methods, nets, metrics and data sets from a Python file or module."""
    json: Flag = False
    """Print one JSON object instead of text."""


def info(words: list[str]) -> None:
    """Run `unweave metrics info`."""
    options = parse(Info, words, "metrics info")
    found = describe(options.name)
    if options.json:
        return print(to_json(found.record()))
    print(found, f"\nnext: unweave evaluate runs/first --metrics {found.name}", sep="\n")
