"""All runs' settings and scores as one tidy table, cached as Parquet and updated run by run."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import UsageError
from unweave.progress import OnProgress, silent
from unweave.study.run_files import read_runs, schema, stamp_of
from unweave.study.task import differing, settings_of
from unweave.tables import read_table, write_table

if TYPE_CHECKING:
    import polars

NUMBERS = ("value", "low", "high")
RUNS, SCORES = ".runs.parquet", ".scores.parquet"


class LeftOut(UserWarning):
    """Some folders were left out of the table."""


@dataclass(frozen=True)
class Records:
    """What is known about all run folders: one row per run, and one row per score."""

    runs: polars.DataFrame
    """run, stamp, config (JSON), state, step, seconds, versions and machine (JSON)."""
    scores: polars.DataFrame
    """run, then the columns of scores.parquet."""


def read_records(folder: Path, *, cache: bool = True) -> Records:
    """Return the records of all run folders in `folder`, reading only runs that changed since the last time."""
    known = cached_records(folder) if cache else None
    records = updated(known, folder, _folders(folder))
    if cache and records is not known:
        _store(folder, records)
    return records


def updated(known: Records | None, folder: Path, names: Iterable[str], on_progress: OnProgress = silent) -> Records:
    """Return the records of the run folders with these names in `folder`, without writing anything.

    Only runs that have changed since `known` was made are read. If none has, `known` itself is returned.
    """
    import polars

    stamps = {name: stamp_of(f"{folder}{os.sep}{name}") for name in names}
    kept: dict[str, str] = dict(known.runs.select("run", "stamp").iter_rows()) if known else {}
    fresh = [name for name, stamp in stamps.items() if kept.get(name) != stamp]
    gone = [name for name in kept if name not in stamps]
    if known and not fresh and not gone:
        return known
    rows, scores = read_runs(folder, {name: stamps[name] for name in fresh}, on_progress)
    runs = [polars.DataFrame(rows, schema=schema())]
    if known:
        left_out = {*fresh, *gone}
        still = polars.col("run").is_in([name for name in kept if name not in left_out])
        runs.insert(0, known.runs.filter(still))
        scores.insert(0, known.scores.filter(still))
    return Records(
        polars.concat(runs),
        polars.concat(scores, how="diagonal_relaxed") if scores else polars.DataFrame(schema={"run": polars.String}),
    )


def score_table(records: Records, names: Sequence[str] | None = None) -> polars.DataFrame:
    """Return one row per score: run, data, method, the settings that differ, seed, step, metric, value, low, high.

    `names` limits the table to these runs. Folders that are not runs and unfinished runs are left out, with a warning
    that counts them.
    """
    import polars

    runs = records.runs if names is None else records.runs.filter(polars.col("run").is_in(list(names)))
    foreign = runs.filter(polars.col("config").is_null())
    unfinished = runs.filter(polars.col("config").is_not_null() & (polars.col("state") != "finished"))
    _warn_of(len(foreign), len(unfinished))
    runs = runs.filter(polars.col("config").is_not_null() & (polars.col("state") == "finished"))
    described = run_frame({name: json.loads(text) for name, text in runs.select("run", "config").iter_rows()})
    if not len(described) or not len(records.scores):
        empty = [*described.columns, "step", "metric", *NUMBERS]
        return polars.DataFrame(schema=dict.fromkeys(empty, polars.String))
    rest = [name for name in ("step", "metric", *NUMBERS, "floor", "ceiling") if name in records.scores.columns]
    scores = _clean_last(records.scores).select("run", *rest)
    scores = scores.unique(["run", "step", "metric"], keep="last", maintain_order=True)  # if scored again, the newest
    return described.join(scores, on="run", how="inner").sort("run", "step", "metric", maintain_order=True)


def _clean_last(scores: polars.DataFrame) -> polars.DataFrame:
    """Return the scores in order, but those with noisy labels first, so that clean ones count if there are any."""
    import polars

    if "options" not in scores.columns:
        return scores
    clean = ~polars.col("options").str.contains('"label_noise"', literal=True).fill_null(value=False)
    return scores.sort(clean, maintain_order=True)


def run_frame(configs: Mapping[str, Mapping[str, Any]]) -> polars.DataFrame:
    """Return one row for each run, by its name and configuration: run, data, method, what differs, seed.

    If the steps of training differ, their column is training_steps, because `step` is that of a score.
    """
    import polars

    settings = {name: settings_of(config) for name, config in configs.items()}
    columns = differing(settings.values())
    told = ["run", "data", "method", *columns, "seed"]
    if not settings:
        return polars.DataFrame(schema=dict.fromkeys(told, polars.String))
    rows = [{"run": name, **{key: _cell(found.get(key)) for key in told[1:]}} for name, found in settings.items()]
    found = polars.DataFrame(rows, infer_schema_length=None).select(told)
    return found.rename({"steps": "training_steps"} if "steps" in columns else {})


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str | bool) else json.dumps(value)


def _warn_of(foreign: int, unfinished: int) -> None:
    counts = {"folders that are not runs": foreign, "unfinished runs": unfinished}
    if parts := [f"{count} {what}" for what, count in counts.items() if count]:
        warnings.warn(f"left out of the table: {' and '.join(parts)}", LeftOut, stacklevel=3)


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    except FileNotFoundError:
        return []


def cached_records(folder: Path) -> Records | None:
    """Return the cached records, or None if they are missing or unreadable."""
    try:
        runs, scores = read_table(folder / RUNS), read_table(folder / SCORES)
    except UsageError:
        return None
    return Records(runs, scores) if dict(runs.schema) == schema() and "run" in scores.columns else None


def _store(folder: Path, records: Records) -> None:
    try:
        write_table(folder / SCORES, records.scores)
        write_table(folder / RUNS, records.runs)  # last: its stamps vouch for the scores
    except OSError:
        return  # a folder that cannot be written costs only time


def versions_of(records: Records) -> Mapping[str, str]:
    """Return for each run the versions that it was made with, as JSON text."""
    return dict(records.runs.select("run", "versions").drop_nulls().iter_rows())
