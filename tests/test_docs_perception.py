"""The page of perceive says what the stored files say, and these can be."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import polars
import pytest

TOP = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def docs() -> dict[str, Any]:
    sys.path.insert(0, str(TOP / "benchmarks"))
    try:
        return runpy.run_path(str(TOP / "benchmarks" / "perception_docs.py"))
    finally:
        sys.path.pop(0)


def test_the_page_says_what_the_files_say(docs):
    """If not: `python benchmarks/perception_docs.py` writes the page from the files."""
    page = docs["PAGE"].read_text(encoding="utf-8")
    for name, text in docs["blocks"]().items():
        assert f"<!-- {name} -->\n{text}\n<!-- /{name} -->" in page


def test_what_is_stored_can_be(docs):
    seen: polars.DataFrame = docs["stored"](docs["SEEN"])
    assert set(seen["data"]) == {name for name, _ in docs["MEASURED"]}
    assert seen["order"].drop_nulls().is_between(0, 1).all()
    assert seen["rank"].is_between(-1, 1).all()
    assert seen.filter(factor="random")["relative"].to_list() == [1.0] * len(docs["MEASURED"])
    random: polars.DataFrame = docs["stored"](docs["RANDOM"])
    assert random["cpu_seconds"].max() < 60  # pyright: ignore[reportOptionalOperand, reportOperatorIssue]
    assert random["bytes"].max() < 2e9  # pyright: ignore[reportOptionalOperand, reportOperatorIssue]


def test_what_was_learnt_becomes_two_tables(docs, tmp_path, monkeypatch):
    rows = [
        {"run": f"a/runs/{run}", "data": "shapes2d", "factor": str(k), "order": k / 4, "rank": k / 4, "relative": None}
        | {"worth": 10.0 * k, "verdict": "seen" if k > 2 else "confused", "information": k / 5, "gap": k / 10}
        for run in range(5)
        for k in range(5)
    ]
    text = docs["learnt_tables"](docs["Predictions"](polars.DataFrame(rows)))
    assert "5 runs on 1 data sets, 25 factors in all." in text
    assert "| order of triplets | share that the best latent knows | 1.00 |" in text
    assert "| seen | 10 | 0.70 | 0.35 |" in text
    assert "| confused | 15 | 0.20 | 0.10 |" in text
