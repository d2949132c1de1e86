"""The scores of a scaling study by size, and how they grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars

from unweave.errors import UsageError
from unweave.reproduce.scale_design import SCORES
from unweave.study import Study
from unweave.study.analysis import growth, over_seeds
from unweave.study.analysis.growth_curves import Curve

POINTS = {
    "axis": polars.String,
    "of": polars.String,
    "size": polars.Float64,
    "metric": polars.String,
    "seeds": polars.Int64,
    "value": polars.Float64,
    "low": polars.Float64,
    "high": polars.Float64,
}
"""`axis`: the kind of size, such as steps; `of`: the runs, such as beta=4; the score is the mean over seeds."""
GROWTHS = {
    "axis": polars.String,
    "of": polars.String,
    "metric": polars.String,
    "slope": polars.Float64,
    "low": polars.Float64,
    "high": polars.Float64,
    "curve": polars.String,
    "a": polars.Float64,
    "b": polars.Float64,
    "c": polars.Float64,
}
"""`slope`: gain per factor of ten, with its interval over seeds; then the curve that fits the scores best."""


def scores_by_run(study: Study) -> polars.DataFrame:
    """Return one row for each run, step and score: beta, images, width, depth, latents, parameters, seed, step.

    `images` is null if training uses all images.
    """
    described = polars.DataFrame([{"run": task.name, **_sizes(task.config)} for task in study.plan.tasks])
    scores = study.scores().filter(polars.col("metric").is_in(SCORES)).select("run", "step", "metric", "value")
    return described.join(scores, on="run").filter(polars.col("value").is_finite())


def _sizes(config: Mapping[str, Any]) -> dict[str, Any]:
    net, data = config["net"], config["data"]
    return {
        "beta": float(config["method"]["beta"]),
        "images": data.get("images"),
        "width": float(net["width"]),
        "depth": int(net.get("depth", 1)),
        "latents": int(net["latents"]),
        "parameters": parameters(net, data),
        "seed": int(config["training"]["seed"]),
        "steps": int(config["training"]["steps"]),
    }


def parameters(net: Mapping[str, Any], data: Mapping[str, Any]) -> int:
    """Return the number of weights of a β-VAE's encoder and decoder."""
    import torch

    from unweave.data import load
    from unweave.nets import Net

    model = Net(**net).build(load(**data).shape, torch.Generator().manual_seed(0))
    return sum(weight.numel() for weight in model.parameters())


def points(table: polars.DataFrame, axis: str, size: str, of: tuple[str, ...], seed: int = 0) -> polars.DataFrame:
    """Return the mean score at each size with its interval over seeds.

    Parameters
    ----------
    table
        A table of `scores_by_run`.
    axis
        The name of the size.
    size
        The column of the size.
    of
        Columns whose values each have a curve.
    seed
        Seed of the resampling.
    """
    rows = []
    for cell, part in _ordered(table, *of, size).group_by(*of, size, "metric", maintain_order=True):
        found = over_seeds(part["value"].to_numpy(), seed=seed)
        told = {"axis": axis, "of": _label(of, cell[: len(of)]), "size": float(cell[-2]), "metric": cell[-1]}  # pyright: ignore[reportArgumentType]
        rows.append({**told, **vars(found)})
    return polars.DataFrame(rows, schema=POINTS)


def _ordered(table: polars.DataFrame, *columns: str) -> polars.DataFrame:
    """Return the rows sorted by these columns, then by score in the order of `SCORES`, then by seed."""
    place = polars.col("metric").replace_strict({name: place for place, name in enumerate(SCORES)}, default=len(SCORES))
    return table.sort(*columns, place, "metric", "seed")


def growths(table: polars.DataFrame, axis: str, size: str, of: tuple[str, ...], seed: int = 0) -> polars.DataFrame:
    """Return how each score grows with a size; parameters as for `points`. Seeds without all sizes are left out."""
    rows = []
    for cell, part in _ordered(table, *of, size).group_by(*of, "metric", maintain_order=True):
        wide = part.pivot(on=size, index="seed", values="value", aggregate_function="mean").drop_nulls()
        sizes = [float(name) for name in wide.columns[1:]]
        if len(sizes) < 2 or not len(wide):
            continue
        try:
            found = growth(sizes, wide.drop("seed").to_numpy(), seed=seed)
        except UsageError:  # a score that is not finite
            continue
        told = {"axis": axis, "of": _label(of, cell[: len(of)]), "metric": cell[-1]}
        slope = {"slope": found.slope.value, "low": found.slope.low, "high": found.slope.high}
        rows.append({**told, **slope, "curve": found.curve.kind, **_numbers(found.curve)})
    return polars.DataFrame(rows, schema=GROWTHS)


def curve_of(row: Mapping[str, Any]) -> Curve:
    """Return the curve of a row of `growths`."""
    a, b, c = (np.nan if row[name] is None else row[name] for name in "abc")
    return Curve(row["curve"], a, b, c, np.nan)


def _numbers(curve: Curve) -> dict[str, float | None]:
    return {name: value if np.isfinite(value := getattr(curve, name)) else None for name in "abc"}


def _label(names: tuple[str, ...], values: tuple[Any, ...]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in zip(names, values, strict=True))
