"""Tables of studies: which scores count, intervals over seeds, and large tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from unweave.explorer.answers_matrix import KINDS, followed, matrix
from unweave.explorer.answers_study import STUDENT, groups, last_scores, table
from unweave.explorer.opened import Opened, surveyed
from unweave.explorer.records import Look
from unweave.explorer.table_json import table_json
from unweave.study.analysis import over_seeds
from unweave.study.table import Records

NONE: set[str] = set()


def config(beta: float, seed: int) -> str:
    parts = {
        "method": {"name": "beta-vae", "beta": beta},
        "data": {"name": "shapes2d"},
        "net": {"name": "mlp"},
        "training": {"steps": 10, "seed": seed},
    }
    return json.dumps(parts)


def look(rows: int, seeds: int = 5) -> Look:
    """Return the records of so many runs, each with a score."""
    names = [f"runs/{place}" for place in range(rows)]
    runs = {
        "run": names,
        "config": [config(float(place // seeds), place % seeds) for place in range(rows)],
        "state": ["finished"] * rows,
        "step": [10] * rows,
        "seconds": [1.0] * rows,
    }
    values = np.random.default_rng(0).normal(size=rows)
    scores = {"run": names, "metric": ["mig"] * rows, "value": values, "options": ["{}"] * rows, "step": [10] * rows}
    return Look(Records(polars.DataFrame(runs), polars.DataFrame(scores)), "stamp")


def scored(runs: list[dict[str, Any]], scores: list[dict[str, Any]]) -> dict[str, list[float | None]]:
    rest = {"metric": "mig", "options": "{}"}
    return last_scores(polars.DataFrame(runs), polars.DataFrame([{**rest, **score} for score in scores]))


def test_a_score_counts_at_the_last_step_only():
    finished, training = {"run": "a", "state": "finished", "step": 20}, {"run": "b", "state": "unfinished", "step": 20}
    scores = [{"run": run, "step": step, "value": 0.1 * step} for run in "ab" for step in (5, 10)]
    assert scored([finished, training], scores) == {"mig": [None, 1.0]}
    assert scored([finished, training], [*scores, {"run": "a", "step": 20, "value": 3.0}]) == {"mig": [3.0, 1.0]}


def test_the_newest_score_counts_and_clean_labels_before_noisy_ones():
    run = {"run": "a", "state": "finished", "step": 5}
    scores = [{"run": "a", "step": 5, "value": value} for value in (0.1, 0.2)]
    noisy = {"run": "a", "step": 5, "value": 0.9, "options": '{"label_noise": 1}'}
    assert scored([run], [*scores, noisy]) == {"mig": [0.2]}


def test_a_score_that_is_no_number_is_none():
    run = {"run": "a", "state": "finished", "step": 5}
    assert scored([run], [{"run": "a", "step": 5, "value": float("nan")}]) == {"mig": [None]}


def test_an_interval_is_that_of_the_library():
    found = table(look(10), NONE, NONE)
    group = groups(found)["groups"][1]
    expected = over_seeds(found["rows"]["mig"][5:])
    score = group["scores"]["mig"]
    assert (score["mean"], score["low"], score["high"], score["n"]) == (expected.value, expected.low, expected.high, 5)


def test_of_many_groups_it_is_student_s():
    from scipy.stats import t

    runs = table(look(12_000), NONE, NONE)
    found = groups(runs)
    assert (len(found["groups"]), found["interval"]) == (2_400, STUDENT)
    group = found["groups"][7]
    score = group["scores"]["mig"]
    values = np.array([runs["rows"]["mig"][runs["rows"]["id"].index(run)] for run in group["runs"]])
    assert len(values) == 5
    low, high = t.interval(0.95, 4, values.mean(), values.std(ddof=1) / 5**0.5)
    assert (score["low"], score["high"]) == (pytest.approx(low), pytest.approx(high))


def test_copies_of_a_run_are_no_further_seeds():
    seen = look(5)
    copies = [part.with_columns(run="copies/" + polars.col("run")) for part in (seen.records.runs, seen.records.scores)]
    both = Records(
        polars.concat([seen.records.runs, copies[0]]),
        polars.concat([seen.records.scores, copies[1].with_columns(value=polars.lit(9.0))]),
    )
    (alone,) = groups(table(seen, NONE, NONE))["groups"]
    (group,) = groups(table(Look(both, "s"), NONE, NONE))["groups"]
    assert {**group, "copies": []} == alone
    assert group["copies"] == [f"copies/runs/{place}" for place in range(5)]
    assert group["scores"]["mig"]["n"] == 5
    (other,) = groups(table(Look(both, "s"), {"runs/2"}, NONE))["groups"]  # being trained: its copy has finished
    assert other["runs"] == ["runs/0", "runs/1", "copies/runs/2", "runs/3", "runs/4"]


def test_running_and_failed_runs_say_so():
    found = table(look(3), {"runs/0"}, {"runs/1"})
    assert found["rows"]["state"] == ["running", "failed", "finished"]


def test_a_setting_called_like_a_column_is_told_apart():
    seen = look(2)
    odd = json.loads(config(1.0, 0))
    odd["method"]["state"] = "mine"
    runs = seen.records.runs.with_columns(config=polars.lit(json.dumps(odd)))
    rows = table(Look(Records(runs, seen.records.scores), "s"), NONE, NONE)["rows"]
    assert (rows["state"], rows["state (setting)"]) == (["finished"] * 2, ["mine"] * 2)


def coded(codes: np.ndarray, factors: np.ndarray) -> Opened:
    """Return codes and factors as the pages show them."""
    names = tuple(f"v{place}" for place in range(factors.shape[1]))
    survey = surveyed(codes, None, factors)
    return Opened("codes", "codes-only", codes.shape[1], survey=survey, total=len(codes), factors=names)


@pytest.mark.parametrize("rows", [60, 2_000])
@pytest.mark.parametrize("kind", KINDS)
def test_noise_follows_no_factor(rows, kind):
    rng = np.random.default_rng(3)
    opened = coded(rng.normal(size=(rows, 6)), rng.integers(8, size=(rows, 4)))
    assert followed(opened) == [None] * 6
    found = matrix(opened, kind)
    assert found["matched"] == [None] * 4
    assert found["order"] == opened.seen().order.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_factor_that_a_latent_follows_is_named_among_noise(kind):
    rng = np.random.default_rng(4)
    codes, factors = rng.normal(size=(1_000, 5)), rng.integers(6, size=(1_000, 3))
    codes[:, 3] += factors[:, 1]
    opened = coded(codes, factors)
    assert followed(opened) == [None, None, None, "v1", None]
    assert matrix(opened, kind)["matched"] == [None, 3, None]
    assert matrix(opened, kind)["order"][0] == 3


def test_the_floor_lies_above_what_shuffled_factors_reach():
    rng = np.random.default_rng(5)
    codes, factors = rng.normal(size=(400, 4)), rng.integers(9, size=(400, 2))
    floor = matrix(coded(codes, factors), "correlation")["floor"]
    others = [abs(np.corrcoef(codes.T, rng.permutation(factors).T)[:4, 4:]).max() for _ in range(100)]
    assert np.mean(np.array(others) > floor) < 0.03
    assert max(others) / 2 < floor < 0.4


def test_a_seed_of_something_else_is_no_seed_of_training():
    parts = [json.loads(config(1.0, seed)) for seed in (0, 1, 2)]
    parts[1]["data"]["seed"] = 7  # two numbers of this name: the text says not which is which
    parts[2]["method"]["note"] = '"seed": 5, or "seed": 6'
    runs = {
        "run": ["a", "b", "c"],
        "config": [json.dumps(part) for part in parts],
        "state": ["finished"] * 3,
        "step": [10] * 3,
        "seconds": [1.0] * 3,
    }
    scores = {"run": ["a", "b", "c"], "metric": ["mig"] * 3, "value": [0.1, 0.2, 0.3], "step": [10] * 3}
    found = table(Look(Records(polars.DataFrame(runs), polars.DataFrame(scores)), "-"), NONE, NONE)
    assert found["rows"]["seed"] == [0, 1, 2]
    assert found["rows"]["data"] == ["shapes2d", "shapes2d:seed=7", "shapes2d"]
    assert found["rows"]["note"] == [None, None, '"seed": 5, or "seed": 6']
    assert [group["runs"] for group in groups(found)["groups"]] == [["a"], ["b"], ["c"]]


def test_a_table_is_the_same_as_json_whether_a_column_has_few_values_or_many():
    columns = {
        "id": [f'run "{place}" é' for place in range(40)],
        "beta": [0.5, 1, None, 4.0] * 10,
        "state": ["finished", 'of "quotes", and é'] * 20,
        "mig": [place / 7 for place in range(40)],
        "none": [None] * 40,
    }
    found = {"columns": [{"name": name, "differs": True} for name in columns], "rows": columns, "total": 40}
    assert json.loads(table_json(found)) == found
    assert json.loads(table_json({"rows": {"id": []}, "total": 0})) == {"rows": {"id": []}, "total": 0}
    with pytest.raises(ValueError, match="JSON"):
        table_json({"rows": {"mig": [float("nan")]}})


LOADED = """
import sys
from pathlib import Path
from unweave.explorer.app import create_app
from unweave.explorer.state import Explorer
explorer = Explorer(Path(sys.argv[1]))
create_app(explorer)
assert b'"mig"' in explorer.groups("study")
print([name for name in ("unweave.metrics", "unweave.runs", "scipy", "torch", "matplotlib") if name in sys.modules])
"""


def test_the_first_table_does_not_wait_for_what_only_other_pages_need(world: Path):
    done = subprocess.run([sys.executable, "-c", LOADED, str(world)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
