"""A description of a metric: what it measures, what it needs and its options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from inspect import getdoc
from math import inf, isfinite
from typing import Any

from unweave.metrics.metric import INPUTS, Metric
from unweave.metrics.table import metric_of
from unweave.text import facts, first_line, table

BETTER = {True: "higher", False: "lower", None: "–"}
SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
PARAMETER = re.compile(r"^(\w[\w, ]*)\n((?:[ ]+.*\n?|\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class Description:
    """A metric in words. Printed, it is text; a notebook shows it as a table."""

    name: str
    about: str
    """What it is, in a sentence."""
    reference: str
    """Who defined it."""
    measures: str
    """The aspect of disentanglement it measures."""
    range: tuple[float, float]
    """The least and the largest possible score."""
    better: str
    """Which direction is better: "higher", "lower" or, if neither is, "–"."""
    parts: tuple[str, ...]
    """The names of its scores, where it has several."""
    needs: tuple[str, ...]
    """What it is computed from: arguments of `unweave.evaluate`."""
    options: Mapping[str, Any]
    """Its options and their values."""
    fast: Mapping[str, Any]
    """The options that the preset "fast" changes."""
    meanings: Mapping[str, str]
    """What each option means."""

    def record(self) -> dict[str, Any]:
        """Return the description as plain JSON values."""
        return {**vars(self), "options": dict(self.options), "fast": dict(self.fast), "meanings": dict(self.meanings)}

    def __str__(self) -> str:
        options = [{"option": name, **cells} for name, cells in self._options().items()]
        return "\n\n".join([facts(self._facts()), *([table(options)] if options else [])])

    def __repr__(self) -> str:
        return self.__str__()

    def _repr_html_(self) -> str:
        blocks = [_html([[name, text] for name, text in self._facts().items()])]
        if self.options:
            rows = [[name, *cells.values()] for name, cells in self._options().items()]
            blocks.append(_html(rows, ["option", "value", "meaning"]))
        return "\n".join(blocks)

    def _facts(self) -> dict[str, str]:
        shown = {
            "metric": self.name,
            "about": self.about,
            "reference": self.reference,
            "measures": self.measures,
            "range": range_text(self.range),
            "better": self.better,
            "scores": ", ".join(f"{self.name}-{part}" for part in self.parts),
            "needs": ", ".join(self.needs),
            "fast": ", ".join(f"{name}={value}" for name, value in self.fast.items()),
        }
        return {name: text for name, text in shown.items() if text}

    def _options(self) -> dict[str, dict[str, str]]:
        return {
            name: {"value": str(value), "meaning": self.meanings.get(name, "")} for name, value in self.options.items()
        }


def describe(name: str) -> Description:
    """Describe a metric: what it measures, who defined it, which direction is better, what it needs, and its options.

    Parameters
    ----------
    name
        A name of `METRICS`, such as "dci", or the name of your own metric.

    Returns
    -------
    Description
        The description; printed, or shown in a notebook, it is a readable text.

    Examples
    --------
    >>> describe("mig").options, describe("mig").better
    ({'bins': 20}, 'higher')
    """
    metric = metric_of(name)
    return Description(
        name=name,
        about=first_line(metric),
        reference=metric.reference,
        measures=metric.measures,
        range=metric.range,
        better=BETTER[metric.higher_is_better],
        parts=metric.parts,
        needs=_needs(metric),
        options=dict(metric.options),
        fast=dict(metric.fast),
        meanings={option: text for option, text in _meanings(metric).items() if option in metric.options},
    )


def range_text(limits: tuple[float, float]) -> str:
    """Return the least and the largest score in a few characters.

    >>> range_text((0.0, inf))
    '0 … ∞'
    """
    low, high = (f"{end:g}" if isfinite(end) else "∞" for end in limits)
    return f"{'−' if limits[0] == -inf else ''}{low} … {high}"


def _needs(metric: Metric[..., Any]) -> tuple[str, ...]:
    """Return what a user must provide: codes, factors, a grid to intervene on …"""
    sampled = ["log_variances"] if metric.representation == "sampled" else []
    return (*(INPUTS[name] for name in metric.needs if name in INPUTS), *sampled)


def _meanings(metric: Metric[..., Any]) -> dict[str, str]:
    """Return the first paragraph of the docstring for each parameter."""
    section = SECTION.search((getdoc(metric) or "") + "\n")
    found = {}
    for names, text in PARAMETER.findall(section[1] if section else ""):
        first = " ".join(text.strip().split("\n\n")[0].split()).replace("`", "")
        found |= dict.fromkeys(names.split(", "), first)
    return found


def _html(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> str:
    cells = "\n".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(text)}</td>' for text in row) + "</tr>" for row in rows
    )
    heads = "".join(f'<th style="text-align:left">{name}</th>' for name in head)
    return f"<table>\n{f'<thead><tr>{heads}</tr></thead>' if head else ''}<tbody>\n{cells}\n</tbody></table>"
