"""The content of run folders, read once and then only if something has changed; nothing is ever written."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from unweave.explorer.places import HERE
from unweave.study.integrity import read_object
from unweave.study.table import Records, cached_records, updated
from unweave.study.task import settings_of

SELDOM = 10
"""Folders are checked again after this many times the duration of a check, and at least half a second."""


@dataclass(frozen=True)
class Look:
    """A snapshot of the records of a study, whose runs are named by their identities."""

    records: Records
    stamp: str
    """A text that changes when the records do."""


class Reader:
    """Reads the records of runs, and remembers them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[Path, Records] = {}
        self._looks: dict[str, tuple[float, dict[str, str], Look]] = {}
        self._before, self._total = 0, 0
        self.progress = (0, 0)
        """The number of runs read so far and the total, while runs are read; otherwise 0 and 0."""

    def look(self, study: str, runs: Mapping[str, str]) -> Look:
        """Return recent records of these runs, given by identity and folder."""
        with self._lock:
            until, before, look = self._looks.get(study, (0.0, None, None))
            if look is not None and time.monotonic() < until and before == runs:
                return look
            start = time.monotonic()
            found = self._now(runs)
            if look is None or found.stamp != look.stamp:
                look = found
            spent = time.monotonic() - start
            self._looks[study] = (time.monotonic() + max(0.5, SELDOM * spent), dict(runs), look)
            return look

    def _now(self, runs: Mapping[str, str]) -> Look:
        parents: dict[str, dict[str, str]] = {}
        for identity in runs:
            above, _, name = identity.rpartition("/")
            parents.setdefault(above, {})[name] = identity
        if HERE in parents.get("", ()):
            parents[""] = {Path(runs[HERE]).name: HERE}
        parts: list[Records] = []
        for names in parents.values():
            self._before, self._total = sum(len(part.runs) for part in parts), len(runs)
            parts.append(self._below(Path(runs[next(iter(names.values()))]).parent, names))
        self.progress = (0, 0)
        if not parts:
            parts = [updated(None, Path(), ())]
        records = Records(
            polars.concat([part.runs for part in parts]),
            polars.concat([part.scores for part in parts], how="diagonal_relaxed"),
        )
        stamps = records.runs.select(polars.concat_str("run", "stamp", separator=" ")).to_series()
        return Look(records, hashlib.sha256("\n".join(stamps.to_list()).encode()).hexdigest()[:16])

    def _told(self, what: str, done: float, total: float | None) -> None:
        self.progress = (self._before + int(done), self._total)

    def _below(self, parent: Path, names: Mapping[str, str]) -> Records:
        """Return the records of some runs in one folder, by identity, starting from the table that a study saves."""
        known = self._known[parent] if parent in self._known else cached_records(parent)
        records = updated(known, parent, names, self._told)
        if records is not self._known.get(parent):
            records = Records(_with_settings(records.runs, parent), records.scores)
        self._known[parent] = records
        return Records(*(_renamed(table, names) for table in (records.runs, records.scores)))


def _renamed(table: polars.DataFrame, names: Mapping[str, str]) -> polars.DataFrame:
    """Return a table of runs with their identities instead of the names of their folders.

    An identity is the folder's path followed by the name, except for the explored folder itself.
    """
    name, identity = next(iter(names.items()))
    if not identity.endswith(name):
        return table.with_columns(run=polars.lit(identity))
    return table.with_columns(run=polars.lit(identity.removesuffix(name)) + polars.col("run"))


def _with_settings(runs: polars.DataFrame, parent: Path) -> polars.DataFrame:
    """Return a table of runs that includes those with damaged scores, which the study leaves out."""
    found = {name: _read(parent / name) for name in runs.filter(polars.col("config").is_null())["run"]}
    if not any(found.values()):
        return runs
    rows = [{**row, **found.get(row["run"], {})} for row in runs.iter_rows(named=True)]
    return polars.DataFrame(rows, schema=runs.schema)


def _read(folder: Path) -> dict[str, Any]:
    """Return a run's configuration and status as a row; empty if the configuration is damaged."""
    config, status = read_object(folder / "config.json"), read_object(folder / "status.json") or {}
    try:
        settings_of(config or {})
    except (KeyError, TypeError, AttributeError):
        return {}
    step, seconds = status.get("step"), status.get("seconds")
    return {
        "config": json.dumps(config),
        "state": str(status.get("state")),
        "step": step if isinstance(step, int) else None,
        "seconds": float(seconds) if isinstance(seconds, int | float) else None,
    }
