"""What is shown of a study: the table of its runs, groups of runs that differ in the seed alone, and what changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import polars

from unweave.explorer.records import Look
from unweave.report.scores import NOT_SCORES
from unweave.report.study.cells import cell_name, higher_is_better
from unweave.study.analysis.seeds import FEW_SEEDS, over_seeds, stretch
from unweave.study.task import differing, settings_of

FIRST = ("name", "data", "method")
LAST = ("state", "step", "seconds")
RESAMPLED = 2_000
"""Up to so many intervals are found by resampling seeds; more, by Student's t, which is as good and faster."""
INTERVAL = "95 % over seeds, by resampling them; none with fewer than five seeds"
STUDENT = "95 % over seeds, by Student's t; none with fewer than five seeds"


def table(look: Look, running: set[str], failed: set[str]) -> dict[str, Any]:
    """Return one row for each run, by columns: settings, seed, state, and its scores at the last step."""
    runs = look.records.runs.filter(polars.col("config").is_not_null())
    identities = runs["run"].to_list()
    settings = [settings_of(json.loads(text)) for text in runs["config"]]
    differ = {*differing(settings), *(name for name in ("data", "method", "seed") if _several(settings, name))}
    names = list(dict.fromkeys(name for row in settings for name in row if name not in ("data", "method", "seed")))
    rows: dict[str, list[Any]] = {"id": identities, "name": [_name(identity) for identity in identities]}
    columns = [_column("name", "text", True)]
    for name in ("data", "method", *names, "seed"):
        values = [_cell(row.get(name)) for row in settings]
        key = f"{name} (setting)" if name in ("name", "id", *LAST) else name
        kind = "seed" if name == "seed" else "number" if _numeric(values) else "text"
        rows[key] = values if kind != "text" else [None if each is None else _text(each) for each in values]
        columns.append(_column(key, kind, name in differ))
    rows["state"] = [_state(*each, running, failed) for each in runs.select("run", "state").iter_rows()]
    rows["step"], rows["seconds"] = runs["step"].to_list(), runs["seconds"].to_list()
    columns += [_column("state", "state", True), _column("step", "number", _many(rows["step"]))]
    columns.append(_column("seconds", "number", True))
    for metric, values in last_scores(runs, look.records.scores).items():
        rows[metric] = values
        columns.append({**_column(metric, "score", True), "higher_is_better": higher_is_better(metric)})
    return {"columns": columns, "rows": rows, "total": len(identities), "stamp": look.stamp}


def _column(name: str, kind: str, differs: bool) -> dict[str, Any]:
    return {"name": name, "kind": kind, "differs": differs, "higher_is_better": None}


def _several(settings: list[dict[str, Any]], name: str) -> bool:
    return len({json.dumps(row[name]) for row in settings}) > 1


def _many(values: list[Any]) -> bool:
    return len(set(values)) > 1


def _name(identity: str) -> str:
    return PurePosixPath(identity).name or "run"


def _cell(value: Any) -> Any:
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, int | float | str | bool) else json.dumps(value)


def _numeric(values: list[Any]) -> bool:
    return all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values)


def _text(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _state(run: str, state: str | None, running: set[str], failed: set[str]) -> str:
    return "running" if run in running else "failed" if run in failed else state or "unfinished"


def last_scores(runs: polars.DataFrame, scores: polars.DataFrame) -> dict[str, list[float | None]]:
    """Return for each metric the score of every run at its last step, the newest; clean ones before noisy ones.

    Of a run that has finished, scores of an earlier step are not current, and left out. One that is being trained has
    those of the last step that was scored.
    """
    if not len(scores) or "value" not in scores.columns or "step" not in scores.columns:
        return {}
    clean = ~polars.col("options").str.contains('"label_noise"', literal=True).fill_null(value=False)
    value = polars.col("value").cast(polars.Float64)
    found = scores.sort(clean, maintain_order=True) if "options" in scores.columns else scores
    found = found.filter(~polars.col("metric").is_in(NOT_SCORES)).join(
        runs.select("run", "state", at=polars.col("step")), on="run", how="inner", maintain_order="left"
    )
    last = polars.when(polars.col("state") == "finished").then("at").otherwise(polars.col("step").max().over("run"))
    found = found.filter(polars.col("step").is_null() | (polars.col("step") == last))
    found = found.with_columns(value=polars.when(value.is_finite()).then(value))
    if not len(found):
        return {}
    wide = found.pivot(on="metric", index="run", values="value", aggregate_function="last")
    wide = runs.select("run").join(wide, on="run", how="left", maintain_order="left")
    return {name: wide[name].to_list() for name in wide.columns if name != "run"}


def groups(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the runs of a table in groups that agree in everything but the seed, with means and intervals."""
    columns, rows = found["columns"], found["rows"]
    settings = [each["name"] for each in columns if each["kind"] in ("text", "number")]
    settings = [name for name in settings if name not in ("name", *LAST)]
    differ = {each["name"] for each in columns if each["differs"]}
    by = [name for name in settings if name in differ]
    metrics = [each["name"] for each in columns if each["kind"] == "score"]
    members: dict[tuple[Any, ...], list[int]] = {}
    for place, key in enumerate(zip(*(rows[name] for name in settings), strict=True)):
        members.setdefault(key, []).append(place)
    quick = len(members) * len(metrics) > RESAMPLED
    several = "data" in differ
    listed = []
    for places in members.values():
        seeds = sorted(places, key=lambda place: (rows["seed"][place], place))
        key = {name: rows[name][seeds[0]] for name in by}
        shown = {name: value for name, value in key.items() if name not in ("data", "method")}
        name = cell_name(str(rows["method"][seeds[0]]), shown, str(rows["data"][seeds[0]]) if several else "")
        scores = {metric: _interval([rows[metric][place] for place in seeds], quick) for metric in metrics}
        listed.append({"key": key, "name": name, "runs": [rows["id"][place] for place in seeds], "scores": scores})
    return {"by": by, "groups": listed, "interval": STUDENT if quick else INTERVAL, "stamp": found["stamp"]}


def _interval(values: list[float | None], quick: bool) -> dict[str, Any]:
    known = np.array([value for value in values if value is not None])
    if not len(known):
        return {"mean": None, "low": None, "high": None, "n": 0, "values": values}
    if not quick:
        found = over_seeds(known)
        return {"mean": found.value, "low": found.low, "high": found.high, "n": found.seeds, "values": values}
    mean, n = float(known.mean()), len(known)
    if n < FEW_SEEDS:
        return {"mean": mean, "low": None, "high": None, "n": n, "values": values}
    half = stretch(n) * 1.959964 * float(known.std()) / n**0.5
    return {"mean": mean, "low": mean - half, "high": mean + half, "n": n, "values": values}
