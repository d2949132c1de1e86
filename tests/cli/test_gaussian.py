from __future__ import annotations

import json

import numpy as np
import pytest

from unweave.cli.commands import COMMANDS, Command
from unweave.cli.gaussian import EXAMPLE


@pytest.fixture(autouse=True)
def command(monkeypatch):
    monkeypatch.setitem(COMMANDS, "gaussian", Command("unweave.cli.gaussian:gaussian", "…", EXAMPLE))


FEW = ("--repeats", "1", "--steps", "60")


def test_it_shows_scores_groups_and_success(cli):
    code, out, err = cli("gaussian", "3-in-2", *FEW)
    assert (code, err) == (0, "")
    assert "{v1, v2} {v3}" in out
    assert "success of I_m" in out
    assert "25 = 5 γ × 5 λ × 1 starts" in out
    assert out.endswith("next: unweave reproduce linear-gaussian\n")


def test_json_and_one_cell(cli):
    code, out, _ = cli("gaussian", "3-in-1", "--gamma", "1.02", "--lam", "-0.01", *FEW, "--json")
    record = json.loads(out)
    assert code == 0
    assert record["lambdas"] == [-0.01]
    assert sum(record["states"].values()) == 1
    assert record["true_groups"] == [[0, 1, 2]]
    assert set(record["scores"]) >= {"im", "sap", "mig", "dci_disentanglement", "total_correlation"}


def test_the_seed_decides(cli):
    words = ("gaussian", "3-in-3", *FEW, "--json")
    first, again, other = cli(*words), cli(*words), cli(*words, "--seed", "1")
    assert first == again != other


def test_the_picture_and_a_covariance_of_ones_own(cli, tmp_path):
    np.savetxt(tmp_path / "v.csv", [[1.0, 0.5], [0.5, 1.0]], delimiter=",")
    picture = tmp_path / "new" / "g.png"
    words = ("--sigma-v", tmp_path / "v.csv", "--n", "3", "--m", "2", "--out", picture)
    code, out, err = cli("gaussian", *FEW, *words)
    assert (code, err) == (0, "")
    assert f"wrote {picture}" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_authors_experiment_can_be_said(cli):
    numbers = ("--variance", "1e-4", "4e-4", "9e-4", "--weight", "0", "2", "4", "--own", "1", "4e-4", "9e-4")
    how = ("--decoder", "diagonal", "--start", "authors", "--stop", "rest", "--codes", "identity", "--best-of", "2")
    code, out, err = cli("gaussian", "3-in-1", *numbers, "--noise", "0.0016", *how, *FEW, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["states"] == {"unfinished": 25}
    assert 0 < record["misfit"]["mean"] <= record["misfit"]["most"] < 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("3-in-4",), "no scenario is called '3-in-4'; did you mean"),
        (("--own", "0"), "the variances of factors must be above 0"),
        (("--weight", "1", "2"), "weight is one number, or one for each of 3 factors, not 2"),
        (("--stop", "rset"), "did you mean 'rest'"),
        (("--codes", "tru"), "did you mean 'true'"),
        (("--m", "3"), "--n and --m need --sigma-v"),
        (("--out", "a.pdf"), "write --out a.png"),
        (("--decoder", "diag"), "did you mean 'diagonal'"),
        (("--lam", "-3"), "rewards error without limit"),
        (("--repeats", "0"), "at least one gamma"),
        (("--seed", "-1"), "--seed must be 0 or more"),
        (("--sigma-v", "missing.npy"), "cannot read 'missing.npy'"),
        (("--gama", "1"), "did you mean --gamma"),
    ],
)
def test_a_mistake_gets_one_line(cli, words, line):
    code, out, err = cli("gaussian", *words)
    assert (code, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1
