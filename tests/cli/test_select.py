"""`unweave select`: tables, the choice in words, files, and mistakes."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import polars
import pytest

from .conftest import TINY, call, main


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of two strengths and five seeds below it."""
    folder = tmp_path_factory.mktemp("select") / "runs"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for beta in ("1", "8"):
            for seed in range(5):
                out = folder / f"beta{beta}-seed{seed}"
                traced = ["--trace-every", "5", "--trace-samples", "10", "--latents", "3"]
                main(["train", "beta-vae", "--beta", beta, "--seed", str(seed), *TINY, *traced, "--steps", "10",
                      "--out", str(out)])  # fmt: skip
    return folder


def test_it_ranks_and_says_what_to_keep(cli, runs):
    done = cli("select", runs, "--samples", "60", "--score", "udr-spearman", "dynamics", "--against", "mig,sap")
    assert (done.code, done.err) == (0, "")
    assert "xysquares:spacing=8,size=32, udr-spearman (higher is better)" in done.out
    assert "xysquares:spacing=8,size=32, dynamics (lower is better)" in done.out
    assert "rank  specification    value  95 % over seeds  seeds  chance" in done.out
    assert done.out.count("beta-vae beta=8") >= 2
    assert done.out.count(f"; keep {runs}/beta") == 2
    assert "2 specifications" in done.out  # of which there is no rank correlation
    assert done.out.splitlines()[-1].startswith(f"next: unweave report {runs}/beta")


def test_json(cli, runs):
    done = cli("select", runs, "--samples", "60", "--json")
    found = json.loads(done.out)
    assert list(found) == ["choices", "specifications", "runs", "against", "notes"]
    assert len(found["specifications"]) == 2
    assert len(found["runs"]) == 10
    assert Path(found["choices"][0]["run"]).parent == runs
    assert sum(row["chance"] for row in found["specifications"]) == pytest.approx(1)


@pytest.mark.parametrize("name", ["page.html", "table.csv", "table.parquet", "plot.png", "plot.svg"])
def test_files(cli, runs, tmp_path, name):
    out = tmp_path / name
    done = cli("select", runs, "--samples", "60", "--score", "udr-lasso", "--out", out)
    assert done.code == 0, done.err
    assert f"wrote {out}" in done.out
    content = out.read_bytes()
    if name.endswith("html"):
        page = content.decode()
        assert "<svg" in page
        assert "beta-vae beta=8" in page
        assert done.out.splitlines()[-1] == f"next: open {out} in a browser"
    elif name == "table.parquet":
        assert polars.read_parquet(out)["rank"].sort().to_list() == [1, 2]
    elif name == "table.csv":
        assert polars.read_csv(out)["specification"].n_unique() == 2
    else:
        assert content.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml")


def test_mistakes(cli, runs, tmp_path, capsys):
    for words, message in [
        ([tmp_path], f"there is no run below '{tmp_path}'; train some: unweave train --help"),
        ([tmp_path / "no"], f"'{tmp_path / 'no'}' does not exist: name a folder with runs below it"),
        ([runs, "--score", "udr"], "no label-free score is called 'udr'"),
        ([runs, "--score", "all", "--out", tmp_path / "a.txt"], "--out must end in"),
        ([runs, "--against", "migg"], "no metric is called 'migg'; did you mean 'mig'?"),
        ([runs, "--samples", "2"], "--samples must be 10 or more, not 2"),
        ([runs, "--samples", "60", "--score", "udr-lasso", "agreement", "--out", tmp_path / "a.png"],
         "a picture shows one score on one data set, not 2: write a .html page"),
        ([runs / "beta1-seed0", "--samples", "60"], "udr-lasso compares seeds, but no specification has two"),
    ]:  # fmt: skip
        done = call(["select", *words], capsys)
        assert done.code == 2, done
        assert done.err.startswith("unweave: ")
        assert message in done.err, done.err
        assert len(done.err.splitlines()) == 1


def test_help_has_an_example(cli):
    done = cli("select", "--help")
    assert "unweave select studies/sweep" in done.out
    assert "dynamics" in done.out
