"""The tidy table of all scores, and its cache."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import polars
import pytest

from unweave.config import Training
from unweave.fields import earlier_values
from unweave.nets import Net
from unweave.study import run_files, table
from unweave.study.plan import Plan
from unweave.study.table import LeftOut, read_records, score_table
from unweave.study.task import UNWRITTEN, Task, differing, settings_of
from unweave.tables import write_table

from .conftest import config


def write_run(folder: Path, values: dict[str, Any], scores: dict[str, float], state: str = "finished") -> None:
    """Write the folder of a run as training and scoring leave it."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"unweave": "0", "id": "x", **values}))
    (folder / "status.json").write_text(json.dumps({"state": state, "step": 10, "seconds": 1.5}))
    rows = [{"metric": name, "value": value, "low": value - 0.1, "high": value + 0.1} for name, value in scores.items()]
    write_table(folder / "scores.parquet", polars.DataFrame(rows).with_columns(step=polars.lit(10)))


def write_scored(study: Path, task: Task, plan: Plan) -> None:
    """Record that a run of a study has the scores of its plan."""
    step = str(task.config["training"]["steps"])
    (study / "runs" / task.name / "scored.json").write_text(json.dumps({"scores": {step: plan.wanted()}}))


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for seed in (0, 1):
        for beta in (1.0, 4.0):
            write_run(tmp_path / f"b{beta:g}-{seed}", config(seed, beta=beta), {"mig": beta / 10 + seed})
    return tmp_path


def test_what_differs_is_a_column_and_what_is_equal_is_not(runs: Path):
    found = score_table(read_records(runs))
    assert found.columns[:8] == ["run", "data", "method", "beta", "seed", "step", "metric", "value"]
    rows = set(found.select("beta", "seed", "value").rows())
    assert rows == {(1.0, 0, 0.1), (1.0, 1, 1.1), (4.0, 0, 0.4), (4.0, 1, 1.4)}
    assert set(found["data"]) == {"xysquares:size=32"}
    assert found.filter(polars.col("value") == 0.4)["low"].item() == pytest.approx(0.3)


def test_fields_with_one_name_in_two_parts_are_told_apart():
    values = {**config(), "labels": {"count": 10, "batch": 4}}
    found = settings_of(values)
    assert (found["batch"], found["labels.batch"], found["count"]) == (8, 4, 10)


def test_foreign_and_unfinished_folders_are_left_out_with_a_count(runs: Path):
    write_run(runs / "half", config(9), {"mig": 0.9}, state="unfinished")
    (runs / "foreign").mkdir()
    (runs / "damaged").mkdir()
    (runs / "damaged" / "config.json").write_text("{")
    with pytest.warns(LeftOut, match="2 folders that are not runs and 1 unfinished runs"):
        found = score_table(read_records(runs))
    assert found["run"].n_unique() == 4


def test_only_runs_that_changed_are_read_again(runs: Path, monkeypatch: pytest.MonkeyPatch):
    first = score_table(read_records(runs))
    read: list[str] = []
    original = run_files._row
    monkeypatch.setattr(
        run_files, "_row", lambda folder, name, stamp: read.append(name) or original(folder, name, stamp)
    )
    assert score_table(read_records(runs)).equals(first)
    assert not read
    time.sleep(0.01)
    write_table(runs / "b4-0" / "scores.parquet", polars.DataFrame({"metric": ["mig"], "value": [7.0], "step": [10]}))
    write_run(runs / "new", config(5), {"mig": 0.5})
    found = score_table(read_records(runs))
    assert read == ["b4-0", "new"]
    assert sorted(found["value"]) == [0.1, 0.5, 1.1, 1.4, 7.0]
    for path in (runs / "b1-0").iterdir():
        path.unlink()
    (runs / "b1-0").rmdir()
    assert sorted(score_table(read_records(runs))["value"]) == [0.5, 1.1, 1.4, 7.0]
    assert (
        score_table(read_records(runs, cache=False))
        .sort("run", "metric")
        .equals(score_table(read_records(runs)).sort("run", "metric"))
    )


@pytest.mark.parametrize("odd", ["none", "other columns", "damaged"])
def test_scores_read_together_are_those_read_one_by_one(runs: Path, monkeypatch: pytest.MonkeyPatch, odd: str):
    file = runs / "b4-0" / "scores.parquet"
    if odd == "other columns":
        write_table(file, polars.DataFrame({"metric": ["mig"], "value": [7.0], "step": [10], "more": ["x"]}))
    elif odd == "damaged":
        file.write_bytes(file.read_bytes()[:-20])
    together = read_records(runs, cache=False)
    monkeypatch.setattr(run_files, "read_scores_at_once", lambda *given: None)
    apart = read_records(runs, cache=False)
    assert together.runs.equals(apart.runs)
    assert together.scores.equals(apart.scores.select(together.scores.columns))
    damaged = together.runs.filter(polars.col("config").is_null())["run"].to_list()
    assert damaged == (["b4-0"] if odd == "damaged" else [])
    assert together.scores["run"].n_unique() == len(together.runs) - len(damaged)


def test_reading_says_how_far_it_is(runs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_files, "TOGETHER", 3)
    names = sorted(path.name for path in runs.iterdir())
    said: list[tuple[float, float | None]] = []
    found = table.updated(None, runs, names, lambda what, done, of: said.append((done, of)))
    assert {of for _, of in said} == {len(names)} == {4}
    assert said == sorted(said)
    assert said[-1] == (4, 4)
    assert found.scores.equals(read_records(runs).scores)


def test_a_damaged_cache_is_made_again(runs: Path):
    first = score_table(read_records(runs))
    (runs / table.RUNS).write_bytes(b"no table")
    assert score_table(read_records(runs)).equals(first)


def test_no_runs_are_an_empty_table(tmp_path: Path):
    assert len(score_table(read_records(tmp_path / "none", cache=False))) == 0


def test_a_setting_that_one_record_leaves_out_at_its_default_differs(tmp_path: Path):
    deeper = {**config(1), "net": {**config(1)["net"], "depth": 2}}
    write_run(tmp_path / "usual", config(0), {"mig": 0.1})
    write_run(tmp_path / "deeper", deeper, {"mig": 0.2})
    found = score_table(read_records(tmp_path))
    assert dict(found.select("run", "depth").iter_rows()) == {"usual": 1, "deeper": 2}


def test_a_field_of_a_method_that_one_record_leaves_out_differs():
    rows = [{"method": "ada-gvae", "data": "a"}, {"method": "ada-gvae", "data": "a", "known_count": True}]
    assert differing(rows) == ["known_count"]
    assert differing([rows[0], {**rows[1], "method": "another"}]) == []


def test_what_records_leave_out_is_at_the_default_of_the_class():
    defaults = {"net": Net, "training": Training}
    for part, values in UNWRITTEN.items():
        assert values == {name: earlier_values(defaults[part])[name] for name in values}
