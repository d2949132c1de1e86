"""`unweave task clustering` and `unweave study noise`: what they print, keep and refuse."""

from __future__ import annotations

import json

import polars
import pytest

import unweave

OPTIONS = {"net": "mlp", "width": 0.05, "latents": 3, "steps": 2, "batch": 4, "device": "cpu", "threads": 1}
FEW = ("--max-steps", "100", "--every", "50", "--seeds", "2")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for seed in range(2):
        unweave.train("beta-vae", data="scenes2d:size=32", out=place / f"s{seed}", seed=seed, **OPTIONS)
    return place


def test_a_line_for_each_run_and_the_next_command(cli, runs, tmp_path):
    code, out, err = cli("task", "clustering", runs, *FEW, "--out", tmp_path / "steps.csv")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["run", "steps", "fewest", "most", "reached", "accuracy"]
    assert [line.split()[0] for line in lines[1:3]] == ["s0", "s1"]
    assert "0 of 2" in lines[1]
    assert "until 90% accuracy, by colour; 100 if that is not reached" in out
    assert lines[-1].startswith("next: unweave evaluate ")
    assert polars.read_csv(tmp_path / "steps.csv").columns[-4:] == ["initialisation", "steps", "reached", "accuracy"]


def test_for_machines(cli, runs):
    found = json.loads(cli("task", "clustering", runs / "s0", *FEW, "--by", "shape", "--json").out)
    assert (found["by"], found["max_steps"]) == ("shape", 100)
    assert [row["steps"] for row in found["results"]] == [100.0, 100.0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere",), "there is no folder 'nowhere'"),
        ((".",), "'.' holds no runs: it must be a run, a study, or a folder of runs"),
        ((".", "--by", "color"), "no way to cluster is called 'color'; did you mean 'colour'?"),
        ((".", "--target", "0.4"), "--target must be above 0.5, which is chance, and at most 1, not 0.4"),
        ((".", "--seeds", "0"), "--seeds must be 1 or more, not 0"),
        ((".", "--out", "steps.txt"), "write scores to a .csv, .parquet or .json file"),
    ],
)
def test_mistakes(cli, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("task", "clustering", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_noise_over_a_folder(cli, runs, tmp_path):
    words = ("study", "noise", runs, "--metrics", "mig", "--preset", "fast", "--samples", "200")
    code, out, _ = cli(*words, "--out", tmp_path / "noise.parquet")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["data", "metric", "noise", "pearson"]
    assert [line.split()[1:3] for line in lines[1:4]] == [["mig", "1"], ["mig", "2"], ["mig", "3"]]
    assert "next: unweave study table" in out
    assert sorted(set(polars.read_parquet(tmp_path / "noise.parquet")["label_noise"])) == [0, 1, 2, 3]
    found = json.loads(cli(*words, "--json").out)
    assert [row["label_noise"] for row in found["robustness"]] == [1, 2, 3]


def test_noise_cannot_change_what_sees_no_label(cli, runs):
    code, _, err = cli("study", "noise", runs, "--metrics", "active-units")
    assert code == 2
    assert "'active-units' uses no labels" in err
