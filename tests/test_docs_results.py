"""The scores of methods in the docs are those of the stored files, and these can be."""

from __future__ import annotations

import itertools
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from unweave.methods import METHODS

TOP = Path(__file__).parents[1]
DOCS: dict[str, Any] = runpy.run_path(str(TOP / "benchmarks" / "methods_docs.py"))
RUNS: polars.DataFrame = DOCS["read"]()
SCORES = list(DOCS["TITLES"])


@pytest.mark.parametrize("page", DOCS["pages"](), ids=lambda page: page.stem)
def test_a_page_says_what_the_files_say(page):
    """If not: `python benchmarks/methods_docs.py` writes the pages from the files."""
    assert page.read_text(encoding="utf-8") == DOCS["written"](page)


@pytest.mark.parametrize("page", DOCS["pages"](), ids=lambda page: page.stem)
def test_no_table_or_sentence_of_scores_is_written_by_hand(page):
    """Outside the marks no cell is a number of three decimals, and sentences are on pages that are known."""
    text = DOCS["TABLE"].sub("", page.read_text(encoding="utf-8"))
    assert not re.search(r"^\|.*\b[01]\.\d{3}\b", text, re.MULTILINE) or page.stem == "methods"
    assert ("**Our result.**" in text) == (page.stem in {**DOCS["COMPARED"], **DOCS["OTHERS"]})


def test_every_method_with_a_result_has_a_page_that_gives_it():
    assert set(DOCS["COMPARED"]) | set(DOCS["OTHERS"]) <= set(METHODS) | {"semi-supervised"}
    stored = set(RUNS["method"]) - {"DIP-VAE-II", "β-VAE, β = 1", "Ada-GVAE, β = 1", "β-VAE, box blur"}
    assert stored == {*DOCS["COMPARED"].values(), *DOCS["OTHERS"].values()}


def test_every_run_is_there_once_with_scores_that_can_be():
    assert RUNS.select(DOCS["KEY"]).is_unique().all()
    assert RUNS.columns == [*DOCS["KEY"], *SCORES, DOCS["SECONDS"]]
    values = RUNS.select(SCORES).to_numpy()
    assert ((values >= 0) & (values <= 1)).all()
    compared = RUNS.filter(table="compared")
    for (_, method), runs in compared.group_by("data", "method"):
        assert sorted(runs["seed"]) == [0, 1, 2], method


def test_means_and_spreads_are_those_of_numpy():
    runs = RUNS.filter(table="compared", data="rooms3d", method="β-TCVAE")
    values = runs["mig"].to_numpy()
    expected = f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"
    assert DOCS["mean"](runs["mig"]) == expected
    assert f"| β-TCVAE | {expected} |" in (TOP / "docs" / "results" / "methods.md").read_text()
    assert max(np.std(three, ddof=1) for three in itertools.product((0, 1), repeat=3)) < 0.6  # 0.866 cannot be


def test_storing_replaces_a_run_or_adds_it_and_keeps_names_with_commas(tmp_path):
    path = tmp_path / "methods.csv"
    shutil.copy(DOCS["STORE"], path)
    again = {**RUNS.filter(method="β-VAE, β = 1").row(0, named=True), "mig": 0.123456}
    another = {**again, "seed": 7}
    DOCS["store"]([again, another], path)
    stored = polars.read_csv(path)
    assert len(stored) == len(RUNS) + 1
    assert stored.filter(method="β-VAE, β = 1", seed=0)["mig"].to_list() == [0.1235]
    assert stored.filter(seed=7)["method"].to_list() == ["β-VAE, β = 1"]
    untouched = [run for run in RUNS.to_dicts() if (run["method"], run["seed"]) != ("β-VAE, β = 1", 0)]
    assert [run for run in stored.to_dicts() if run in untouched] == untouched
