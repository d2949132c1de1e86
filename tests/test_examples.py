"""The scripts in examples/ run as they are, and those of "write your own" are short and are plugins."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path

import pytest
from torch.nn.functional import binary_cross_entropy_with_logits

import unweave
from unweave import plugins

EXAMPLES = Path(__file__).parents[1] / "examples"
OWN = {
    "own_method.py": {"method": ["ordered-vae"]},
    "own_net.py": {"net": ["pooled"]},
    "own_metric.py": {"metric": ["best-r2"]},
    "own_data.py": {"data set": ["discs"]},
}


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")  # which a model of a few steps may be
@pytest.mark.parametrize("name", [name for name in OWN if name != "own_method.py"])
def test_an_example_of_your_own_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", OWN)
def test_an_example_of_your_own_is_short_and_a_plugin(name):
    assert len((EXAMPLES / name).read_text().splitlines()) <= 60
    assert plugins.load(EXAMPLES / name) == OWN[name]


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_the_new_method_leaves_a_scored_run_beside_that_of_a_beta_vae(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "own_method.py"), run_name="__main__")
    ordered, plain = unweave.Run.open("runs/ordered"), unweave.Run.open("runs/plain")
    assert [run.config["method"]["name"] for run in (ordered, plain)] == ["ordered-vae", "beta-vae"]
    scores = ordered.scores()
    assert scores is not None
    assert set(scores["metric"]) == {"mig", "mcc"}
    assert ordered.plugins == [os.path.relpath(EXAMPLES / "own_method.py")]
    out = capsys.readouterr().out
    assert "difference" in out


def test_the_loop_with_a_penalty_is_plain_torch_short_and_learns(capsys):
    text = (EXAMPLES / "penalties_in_a_loop.py").read_text()
    assert len(text.splitlines()) <= 60
    assert re.findall(r"unweave\.\w+|import unweave", text) == ["import unweave", "unweave.penalties", "unweave.load"]
    names = runpy.run_path(str(EXAMPLES / "penalties_in_a_loop.py"))
    errors = [binary_cross_entropy_with_logits(*names["main"](steps=steps)).item() for steps in (1, 300)]
    assert errors[1] < errors[0] / 2
    assert "total correlation" in capsys.readouterr().out


def test_the_example_of_vectors_finds_what_moves_the_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(EXAMPLES / "vectors.py"), run_name="__main__")
    assert "(5, 60)" in capsys.readouterr().out
    assert Path("runs/counts/report.html").is_file()
    assert unweave.metrics.mcc(names["run"].encode(names["counts"]), names["programmes"]) > 0.7
