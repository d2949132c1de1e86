"""Saved scores: what gives way to what, and what becomes of them when several processes save at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars

from unweave.tables import merge_scores, read_scores

PROCESSES, TABLES = 6, 12
SAVE_MANY = f"""
import sys
from pathlib import Path
import polars
from unweave.tables import merge_scores
print("ready", flush=True)
sys.stdin.readline()
for metric in range({TABLES}):
    table = polars.DataFrame({{"metric": [f"{{sys.argv[2]}}-{{metric}}"], "value": [1.0], "options": ["{{}}"]}})
    merge_scores(Path(sys.argv[1]), table, step=1, weights="a")
"""


def test_processes_that_save_at_once_lose_nothing(tmp_path: Path):
    path = tmp_path / "scores.parquet"
    command, pipe = (sys.executable, "-c", SAVE_MANY, str(path)), subprocess.PIPE
    processes = [subprocess.Popen([*command, str(name)], stdin=pipe, stdout=pipe) for name in range(PROCESSES)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0] * PROCESSES
    scores = read_scores(path)
    assert scores is not None
    expected = {f"{name}-{metric}" for name in range(PROCESSES) for metric in range(TABLES)}
    assert sorted(scores["metric"]) == sorted(expected)


def test_a_score_gives_way_to_one_of_the_same_options_and_weights_even_without_options(tmp_path: Path):
    path = tmp_path / "scores.parquet"
    for value, options, weights in [(1.0, None, "a"), (2.0, None, "a"), (3.0, "{}", "a"), (4.0, None, "b")]:
        table = polars.DataFrame({"metric": ["mig"], "low": [value], "options": [options]})
        merge_scores(path, table, step=1, weights=weights)
    scores = read_scores(path)
    assert scores is not None
    assert scores["low"].to_list() == [2.0, 3.0, 4.0]
    assert scores["value"].to_list() == [None] * 3


def test_columns_that_are_not_known_yet_are_kept(tmp_path: Path):
    path = tmp_path / "scores.parquet"
    merge_scores(path, polars.DataFrame({"metric": ["a"], "value": [1], "later": ["x"]}), step=1, weights="a")
    merge_scores(path, polars.DataFrame({"metric": ["b"], "value": [0.5]}), step=1, weights="a")
    scores = read_scores(path)
    assert scores is not None
    assert scores["later"].to_list() == ["x", None]
    assert scores.columns[-3:] == ["step", "weights", "later"]
