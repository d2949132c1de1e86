"""Reading many run folders fast: configuration, status, scores."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import UsageError
from unweave.progress import OnProgress, silent
from unweave.study.integrity import read_object
from unweave.study.task import settings_of
from unweave.tables import read_scores, read_scores_at_once

if TYPE_CHECKING:
    import polars

FILES = ("config.json", "status.json", "scores.parquet")
"""The files that are read of a run; their times and sizes show whether it has changed."""
ABSENT = "-"
"""The stamp of a missing file."""
TOGETHER = 256
"""Number of score files that are read at once."""
NOTHING = dict.fromkeys(("run", "stamp", "config", "state", "step", "seconds", "versions", "machine"))
"""A row of the table of runs without values."""

Row = dict[str, Any]


def schema() -> dict[str, Any]:
    """Return the columns of a table of runs."""
    import polars

    return {**dict.fromkeys(NOTHING, polars.String), "step": polars.Int64, "seconds": polars.Float64}


def stamp_of(folder: str) -> str:
    """Return a text that changes when a run's files do."""
    parts = []
    for name in FILES:
        try:
            found = os.stat(f"{folder}{os.sep}{name}")  # a text path: this is called very often
            parts.append(f"{found.st_mtime_ns}.{found.st_size}")
        except OSError:
            parts.append(ABSENT)
    return " ".join(parts)


def read_runs(
    folder: Path, stamps: Mapping[str, str], on_progress: OnProgress = silent
) -> tuple[list[Row], list[polars.DataFrame]]:
    """Return the rows of runs, by name and stamp, and tables of their scores.

    A folder that is not a run, or whose scores are damaged, has a row without a configuration. While polars reads the
    scores of some runs, this reads the configurations of the next.
    """
    names = list(stamps)
    rows: dict[str, Row] = {}
    reading: list[Future[tuple[list[polars.DataFrame], list[str]]]] = []
    with ThreadPoolExecutor(1) as other:
        for start in range(0, len(names), TOGETHER):
            some = names[start : start + TOGETHER]
            rows |= {name: _row(f"{folder}{os.sep}{name}", name, stamps[name]) for name in some}
            scored = [name for name in some if rows[name]["config"] is not None and not stamps[name].endswith(ABSENT)]
            reading.append(other.submit(_scores, folder, scored))
            on_progress("reading", _done(reading, names), len(names))
        for part in reading:
            part.result()
            on_progress("reading", _done(reading, names), len(names))
    parts = [part.result() for part in reading]
    rows |= {name: _no_run(name, stamps[name]) for _, damaged in parts for name in damaged}
    return list(rows.values()), [table for tables, _ in parts for table in tables]


def _done(parts: Sequence[Future[Any]], names: Sequence[str]) -> int:
    return min(len(names), TOGETHER * sum(part.done() for part in parts))


def _scores(folder: Path, names: Sequence[str]) -> tuple[list[polars.DataFrame], list[str]]:
    """Return the scores of runs as tables, and the names of those whose scores are damaged."""
    table = _scores_at_once(folder, names)
    if table is not None:
        return [table], []
    found, damaged = [], []
    for name in names:
        try:
            found.append(_scores_of(folder / name))
        except UsageError:
            damaged.append(name)
    return found, damaged


def _scores_at_once(folder: Path, names: Sequence[str]) -> polars.DataFrame | None:
    """Return the scores of several runs as one table, if all can be read together."""
    import polars

    if len(names) < 2:
        return None
    table = read_scores_at_once([f"{folder}{os.sep}{name}{os.sep}{FILES[2]}" for name in names], "run")
    if table is None:
        return None
    start, end = len(str(folder)) + 1, len(FILES[2]) + 1
    named = polars.col("run").str.slice(start).str.head(-end)
    table = table.select(named, polars.exclude("run"))
    return table if set(table["run"].unique()) <= set(names) else None


def _scores_of(folder: Path) -> polars.DataFrame:
    import polars

    table = read_scores(folder / FILES[2])
    if table is None:  # removed in the meantime
        raise UsageError(f"'{folder}' has no scores")
    return table.select(polars.lit(folder.name).alias("run"), polars.all())


def _no_run(name: str, stamp: str) -> Row:
    return {**NOTHING, "run": name, "stamp": stamp}


def _row(folder: str, name: str, stamp: str) -> Row:
    """Return a run's configuration and status as a row; for a folder that is not a run, without a configuration."""
    row = _no_run(name, stamp)
    config, status = (read_object(f"{folder}{os.sep}{file}") for file in FILES[:2])
    try:
        settings_of(config or {})
    except (KeyError, TypeError, AttributeError):
        return row
    status = status or {}
    row |= {"config": json.dumps(config), "state": str(status.get("state"))}
    row["versions"] = json.dumps(status.get("versions"))
    row["machine"] = json.dumps({name: status[name] for name in ("machine", "device", "threads") if name in status})
    return row | {"step": _whole(status.get("step")), "seconds": _real(status.get("seconds"))}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _real(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
