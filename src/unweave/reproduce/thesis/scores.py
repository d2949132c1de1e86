"""The table of a study with the thesis' names, at the end of training or at its best."""

from __future__ import annotations

from typing import Any

import polars

MEASURED = ("step", "value", "low", "high", "floor", "ceiling")
KEPT = ("run", "data", "method", "seed", "step", "metric", "value")
IN_NAMES = ("spacing", "visibility")
"""Options of data sets that some study varies."""
SCHEDULES = {
    ("1", "0:0.5"): "threshold",
    ("1:0.5", "0.5"): "weight (weak)",
    ("1:0", "0.5"): "weight (strong)",
    ("1:0.5", "0:0.5"): "both (weak)",
    ("1:0", "0:0.5"): "both (strong)",
}
"""Names in the thesis' table 5.2, by the schedules of ω and η."""
WEAK = ("threshold", "weight (weak)", "both (weak)")
ADAPTIVE = ("ada-tvae", "ada-tvae-unsupervised")
USUAL = {"omega": "1:0.5", "eta": "0.5"}
"""The schedules of runs that do not differ in them."""


def prepared(table: polars.DataFrame) -> polars.DataFrame:
    """Return a table of scores with short names of data sets and losses, their options as columns, and schedules.

    A prepared table stays unchanged.
    """
    for name in IN_NAMES:
        values = table["data"].str.extract(rf"\b{name}=([^,]+)").cast(polars.Float64)
        if name not in table.columns and values.drop_nulls().n_unique() > 1:
            table = table.with_columns(values.alias(name))
    table = table.with_columns(data=_head("data"))
    if "loss" in table.columns:
        table = table.with_columns(loss=_head("loss"))
    if "schedule" not in table.columns and {"omega", "eta"} & {*table.columns}:
        named = polars.struct(polars.all()).map_elements(_schedule, return_dtype=polars.String)
        table = table.with_columns(schedule=named)
    if "difference" in table.columns:  # Ada-GVAE has this field too, but it is not compared
        table = table.with_columns(difference=polars.when(_is_adaptive()).then("difference"))
    unused = [name for name in ("low", "high", "floor", "ceiling", "omega", "eta") if name in table.columns]
    return table.drop(unused).drop_nulls("value")


def at_end(table: polars.DataFrame) -> polars.DataFrame:
    """Return the scores of the last step of each run."""
    return table.filter(polars.col("step") == polars.col("step").max().over("run"))


def at_best(table: polars.DataFrame) -> polars.DataFrame:
    """Return the largest score of each run and metric during training, as the thesis plots it."""
    settings = [name for name in table.columns if name not in MEASURED]
    return table.group_by(settings, maintain_order=True).agg(polars.col("step").max(), polars.col("value").max())


def has_snapshots(table: polars.DataFrame) -> bool:
    """Return whether runs were also scored during training."""
    return table.select("run", "step").n_unique() > table["run"].n_unique()


def without_collapsed(table: polars.DataFrame) -> tuple[polars.DataFrame, int]:
    """Return the table without runs whose codes have no distances, and the number of these runs.

    If codes do not change along any factor, both correlations of distances are 0. In the thesis such runs have no score
    and are missing.
    """
    distances = ("factor-distance-correlation", "perceived-correlation")
    known = table.filter(polars.col("metric").is_in(distances))
    gone = known.group_by("run").agg(polars.col("value").max()).filter(polars.col("value") <= 0)["run"]
    return table.filter(~polars.col("run").is_in(gone.implode())), len(gone)


def _is_adaptive() -> polars.Expr:
    return polars.col("method").is_in(ADAPTIVE)


def _head(column: str) -> polars.Expr:
    return polars.col(column).str.split(":").list.first()


def _schedule(row: dict[str, Any]) -> str | None:
    """Return the name of a schedule; None for a method without one."""
    if row["method"] not in ADAPTIVE:
        return None
    omega, eta = (_route(row.get(name, usual)) for name, usual in USUAL.items())
    return SCHEDULES.get((omega, eta), f"ω {omega}, η {eta}")


def _route(value: Any) -> str:
    """Return the start and end of a schedule, without its length.

    >>> _route("1:0.5@20000"), _route(0.5), _route("1")
    ('1:0.5', '0.5', '1')
    """
    text = str(value).partition("@")[0]
    return ":".join(f"{float(part):g}" for part in text.split(":"))
