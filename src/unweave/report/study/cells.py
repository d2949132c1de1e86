"""What plots and tables of a study share: names of cells, colours of methods, scores at the end of training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import polars

from unweave.report.directions import higher_is_better
from unweave.report.style import LIGHT, number
from unweave.study.analysis.tidy import scores_of, settings_of_cells

CELL = ".cell"
"""The column with the name of a cell."""
COLOURS = ("#3a83d8", "#d9762b", "#2f9d62", "#a06bd8", "#d4576c", "#189aa8", "#9b8a1c", "#c55ba6")
"""Colours of methods that are legible on light and dark backgrounds."""
MARKERS = "osD^vPX*"


class Style(NamedTuple):
    """How the points of a method are drawn."""

    colour: str
    marker: str


def named(table: polars.DataFrame) -> polars.DataFrame:
    """Return a table of scores with the name of each row's cell in the column `CELL`.

    The name has the method and its settings, and the data set if there are several. Columns that begin with a dot are
    not settings.
    """
    names = [name for name in settings_of_cells(table) if name not in ("data", "method", "step") and name[0] != "."]
    several = table["data"].n_unique() > 1
    kept = ["data", "method", *names]
    labels = {
        row: cell_name(row[1], dict(zip(names, row[2:], strict=True)), row[0] if several else "")
        for row in table.select(kept).unique().iter_rows()
    }
    return table.with_columns(
        polars.Series(CELL, [labels[row] for row in table.select(kept).iter_rows()], polars.String)
    )


def cell_name(method: str, settings: Mapping[str, object], data: str = "") -> str:
    """Return the name of a cell.

    >>> cell_name("beta-vae", {"beta": 4.0, "gamma": None, "normalise": True}, "shapes2d")
    'beta-vae beta=4 normalise=yes on shapes2d'
    """
    told = [f"{name}={setting(value)}" for name, value in settings.items() if value is not None]
    return " ".join([method, *told, *(["on", data] if data else [])])


def setting(value: object) -> str:
    """Return the value of a setting as text.

    >>> setting(4.0), setting(0.001), setting(False), setting("0:25@100")
    ('4', '0.001', 'no', '0:25@100')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value) if isinstance(value, int | float) else str(value)


def finite(table: polars.DataFrame) -> polars.DataFrame:
    """Return a table of scores in which values that are not finite are null."""
    numbers = [name for name in ("value", "low", "high", "floor", "ceiling") if name in table.columns]
    cast = table.with_columns(polars.col(numbers).cast(polars.Float64))
    return cast.with_columns(
        polars.when(polars.col(name).is_finite()).then(polars.col(name)).alias(name) for name in numbers
    )


def at_the_end(table: polars.DataFrame) -> polars.DataFrame:
    """Return the scores of each cell at its last step, without snapshots."""
    if "step" not in table.columns or not len(table):
        return table
    cell = [name for name in settings_of_cells(table) if name != "step"]
    return table.filter(polars.col("step") == polars.col("step").max().over(cell))


def scores(table: polars.DataFrame, metric: str) -> polars.DataFrame:
    """Return the rows of a metric that have a finite value, with the names of their cells."""
    return scores_of(named(finite(table)), metric)


def styles_of(methods: Iterable[str]) -> dict[str, Style]:
    """Return a colour and a marker for each method; a single one has the colour of the page."""
    names = list(dict.fromkeys(methods))
    if len(names) == 1:
        return {names[0]: Style(LIGHT["accent"], "o")}
    return {
        name: Style(COLOURS[place % len(COLOURS)], MARKERS[(place + place // len(COLOURS)) % len(MARKERS)])
        for place, name in enumerate(names)
    }


def direction(metric: str) -> str:
    """Return which direction is better as text, or an empty text.

    >>> direction("mig"), direction("elbo-rate")
    ('higher is better', '')
    """
    return {True: "higher is better", False: "lower is better", None: ""}[higher_is_better(metric)]


def arrow(metric: str) -> str:
    """Return an arrow in the better direction, or an empty text."""
    return {True: "↑", False: "↓", None: ""}[higher_is_better(metric)]
