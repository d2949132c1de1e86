"""How the total correlation of codes changes with a method's strength."""

from __future__ import annotations

import numpy as np
import polars

from unweave.study.analysis.seeds import over_seeds
from unweave.study.analysis.tidy import scores_of, settings_of_cells
from unweave.study.task import SHARED

OF_MEANS, OF_SAMPLES = "total-correlation", "total-correlation-sampled"
SCHEMA = {
    "data": polars.String,
    "method": polars.String,
    "setting": polars.String,
    "strength": polars.Float64,
    "step": polars.Int64,
    **{f"{name}{end}": polars.Float64 for name in ("mean", "sampled") for end in ("", "_low", "_high")},
    "seeds": polars.Int64,
}


def correlation_by_strength(table: polars.DataFrame) -> polars.DataFrame:
    """Return the total correlation of the mean and of the sampled representation of each cell, by its strength.

    The strength is the first numeric field of the method that takes several values in the table, such as beta.

    Parameters
    ----------
    table
        A table of scores, as `Study.scores` returns it, with "total-correlation" and "total-correlation-sampled".

    Returns
    -------
    polars.DataFrame
        One row for each cell: data, method, setting (which field the strength is), strength, step, mean, mean_low,
        mean_high (over seeds, in nats), sampled, sampled_low, sampled_high, seeds. Setting and strength are null for a
        method that has one strength; cells that differ in other settings too have a row each.
    """
    settings = settings_of_cells(table)
    means, samples = (scores_of(table, metric).rename({"value": metric}) for metric in (OF_MEANS, OF_SAMPLES))
    runs = means.join(samples.select("run", *_step(table), OF_SAMPLES), on=["run", *_step(table)])
    strengths = {method: _strength(part, settings) for (method,), part in runs.group_by("method", maintain_order=True)}
    rows = []
    for _, cell in runs.group_by(settings, maintain_order=True):
        first = cell.row(0, named=True)
        setting = strengths[first["method"]]
        rows.append(
            {
                **{name: first.get(name) for name in ("data", "method", "step")},
                "setting": setting,
                "strength": None if setting is None else float(first[setting]),
                **_numbers("mean", cell[OF_MEANS].to_numpy()),
                **_numbers("sampled", cell[OF_SAMPLES].to_numpy()),
                "seeds": len(cell),
            }
        )
    return polars.DataFrame(rows, schema=SCHEMA).sort("data", "method", "strength", "step", maintain_order=True)


def _strength(runs: polars.DataFrame, settings: list[str]) -> str | None:
    """Return the first numeric setting of one method that differs, and that not every method has."""
    for name in settings:
        own = name not in ("data", "method", "step", "training_steps", *SHARED)
        if own and runs[name].dtype.is_numeric() and runs[name].drop_nulls().n_unique() > 1:
            return name
    return None


def _numbers(name: str, scores: np.ndarray) -> dict[str, float | None]:
    found = over_seeds(scores)
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def _step(table: polars.DataFrame) -> list[str]:
    return [name for name in ("step",) if name in table.columns]
