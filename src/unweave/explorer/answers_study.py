"""The page of a study: the table of its runs, groups of runs that differ only in their seed, and changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from math import isfinite, sqrt
from typing import Any

import polars

from unweave.explorer.places import HERE
from unweave.explorer.records import Look
from unweave.report.directions import NOT_SCORES, higher_is_better
from unweave.report.study.cells import cell_name, setting
from unweave.study.analysis.seeds import FEW_SEEDS, over_seeds, student
from unweave.study.task import differing, settings_of

RESERVED = ("id", "name", "state", "step", "seconds")
"""Columns that are not settings; a setting with one of these names is renamed."""
WHOLE = re.compile(r"-?[0-9]+(?=[,}])")
RESAMPLED = 2_000
"""Up to this many intervals are found by resampling seeds; more by Student's t, which is as good and faster."""
INTERVAL = "95 % over seeds, by resampling them; none with fewer than five seeds"
STUDENT = "95 % over seeds, by Student's t; none with fewer than five seeds"


def table(look: Look, running: set[str], failed: set[str]) -> dict[str, Any]:
    """Return the table of runs, by columns: settings, seed, state, and the scores at the last step.

    A run whose configuration cannot be read has a row without settings, and its state is damaged.
    """
    runs = look.records.runs
    identities = runs["run"].to_list()
    cells, cell_of, seeds = _cells(runs["config"])
    known = [row for row in cells if row]
    differ = {*differing(known), *(name for name in ("data", "method") if _many(row[name] for row in known))}
    if _many(seed for seed in seeds if seed is not None):
        differ.add("seed")
    names = dict.fromkeys(name for row in known for name in row if name not in ("data", "method", "seed"))
    rows: dict[str, list[Any]] = {"id": identities, "name": [_name(identity) for identity in identities]}
    columns = [_column("name", "text", True)]
    for name in ("data", "method", *names):
        key = f"{name} (setting)" if name in RESERVED else name
        kind, values = _values([row.get(name) for row in cells])
        rows[key] = [values[cell] for cell in cell_of]
        columns.append(_column(key, kind, name in differ))
    rows["seed"] = seeds
    columns.append(_column("seed", "seed", "seed" in differ))
    states = zip(identities, runs["state"], cell_of, strict=True)
    rows["state"] = [_state(run, state, bool(cells[cell]), running, failed) for run, state, cell in states]
    rows["step"], rows["seconds"] = runs["step"].to_list(), [_cell(each) for each in runs["seconds"]]
    columns += [_column("state", "state", True), _column("step", "number", _many(rows["step"]))]
    columns.append(_column("seconds", "number", True))
    for metric, values in last_scores(runs, look.records.scores).items():
        key = f"{metric} (score)" if metric in rows else metric
        rows[key] = values
        columns.append({**_column(key, "score", True), "higher_is_better": higher_is_better(metric)})
    return {"columns": columns, "rows": rows, "total": len(identities), "stamp": look.stamp}


def _cells(configs: Iterable[str | None]) -> tuple[list[dict[str, Any]], list[int], list[int | None]]:
    """Return the settings of every cell, the cell of each run, and its seed.

    Configurations whose texts differ only in the seed are parsed once, because there are many. Settings are empty if a
    configuration is damaged.
    """
    places: dict[str, int] = {}
    cells, cell_of, seeds = [], [], []
    for text in configs:
        key, seed = _without_seed(text or "")
        if key not in places:
            places[key] = len(cells)
            cells.append(_settings(text))
        cell = places[key]
        cell_of.append(cell)
        seeds.append(seed if seed is not None and cells[cell] else cells[cell].get("seed"))
    return cells, cell_of, seeds


def _without_seed(config: str) -> tuple[str, int | None]:
    """Return the text of a configuration without its seed, and the seed; unchanged if "seed" occurs more than once.

    >>> _without_seed('{"training": {"seed": 3, "lr": 0.1}}')
    ('{"training": {, "lr": 0.1}}', 3)
    """
    before, mark, after = config.partition('"seed": ')
    number = WHOLE.match(after)
    if number is None or mark in after:
        return config, None
    return before + after[number.end() :], int(number[0])


def _settings(config: str | None) -> dict[str, Any]:
    """Return the settings of a run; empty if its configuration is damaged."""
    found = settings_of(json.loads(config)) if config is not None else {}
    whole = isinstance(found.get("method"), str) and isinstance(found.get("seed"), int)
    return found if whole else {}


def _column(name: str, kind: str, differs: bool) -> dict[str, Any]:
    return {"name": name, "kind": kind, "differs": differs, "higher_is_better": None}


def _many(values: Iterable[Any]) -> bool:
    return len(set(values)) > 1


def _name(identity: str) -> str:
    return "run" if identity == HERE else identity.rpartition("/")[2]


def _values(settings: list[Any]) -> tuple[str, list[Any]]:
    """Return whether a setting is a number or a text, and its values in that type."""
    values = [_cell(value) for value in settings]
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values):
        return "number", values
    return "text", [value if value is None or isinstance(value, str) else setting(value) for value in values]


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, int | str) else json.dumps(value)


def _state(run: str, state: str | None, is_whole: bool, running: set[str], failed: set[str]) -> str:
    if run in running:
        return "running"
    if run in failed:
        return "failed"
    return (state if state in ("finished", "failed") else "unfinished") if is_whole else "damaged"


def last_scores(runs: polars.DataFrame, scores: polars.DataFrame) -> dict[str, list[float | None]]:
    """Return for each metric the newest score of every run at its last step; scores on clean labels come first.

    For a finished run, scores of earlier steps are not current and left out. A run in training has the scores of the
    last step that was scored.
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
    """Return the runs of a table in groups that agree in everything except the seed, with means and intervals."""
    columns, rows = found["columns"], found["rows"]
    settings = [each["name"] for each in columns if each["kind"] in ("text", "number")]
    settings = [name for name in settings if name not in RESERVED]
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
        if rows["method"][places[0]] is None:
            continue  # a damaged run belongs to no group
        seeds, copies = _one_of_each(places, rows)
        key = {name: rows[name][seeds[0]] for name in by}
        shown = {name: value for name, value in key.items() if name not in ("data", "method")}
        name = cell_name(str(rows["method"][seeds[0]]), shown, str(rows["data"][seeds[0]]) if several else "")
        scores = {metric: _interval([rows[metric][place] for place in seeds], quick) for metric in metrics}
        ids = {
            "runs": [rows["id"][place] for place in seeds],
            "copies": [rows["id"][place] for place in copies],
        }
        listed.append({"key": key, "name": name, **ids, "scores": scores})
    return {"by": by, "groups": listed, "interval": STUDENT if quick else INTERVAL, "stamp": found["stamp"]}


def _one_of_each(places: list[int], rows: Mapping[str, list[Any]]) -> tuple[list[int], list[int]]:
    """Return one run per seed, in the order of seeds, and the others: a copy of a run does not count as another seed.

    Among several, finished runs come before unfinished ones, then the first counts.
    """
    ordered = sorted(places, key=lambda place: (rows["seed"][place], rows["state"][place] != "finished"))
    first: dict[Any, int] = {}
    for place in ordered:
        first.setdefault(rows["seed"][place], place)
    seeds = list(first.values())
    return seeds, [place for place in ordered if place not in set(seeds)]


def _interval(values: list[float | None], quick: bool) -> dict[str, Any]:
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "low": None, "high": None, "n": 0}
    if not quick:
        found = over_seeds(known)
        return {"mean": found.value, "low": found.low, "high": found.high, "n": found.seeds}
    n = len(known)
    mean = sum(known) / n
    if n < FEW_SEEDS:
        return {"mean": mean, "low": None, "high": None, "n": n}
    half = student(n - 1) * sqrt(sum((value - mean) ** 2 for value in known) / (n * (n - 1)))  # faster than numpy
    return {"mean": mean, "low": mean - half, "high": mean + half, "n": n}
