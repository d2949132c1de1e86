"""The page of perceive says what the stored files say, and these can be."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import polars
import pytest

from unweave.perception.verdict import CLEAR

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


def test_what_was_learnt_becomes_two_tables(docs):
    rows = [
        {
            "run": f"{study}/runs/{run}",
            "data": "shapes2d",
            "method": "ada-gvae",
            "factor": str(k),
            **dict.fromkeys(("signal", "order", "rank", "worth"), k / 4),
            "relative": None,
            "verdict": "seen" if k > 2 else "confused",
            "information": k / 5,
            "gap": k / 10,
        }
        for study in ("thesis-3.10", "other")
        for run in range(5)
        for k in range(5)
    ]
    text = docs["learnt_tables"](docs["Predictions"](polars.DataFrame(rows)))
    assert "10 runs on 1 data sets, 50 factors in all." in text
    assert "| order | share of its entropy in the best latent | 1.00 |" in text
    for runs in ("the limit's own: ada-gvae, thesis-3.10", "others: ada-gvae"):
        assert f"| {runs} | seen | 10 | 0.70 | 0.35 |" in text
        assert f"| {runs} | confused | 15 | 0.20 | 0.10 |" in text


def test_the_limit_of_what_is_seen_is_the_middle_of_two_spacings(docs):
    """And it tells apart the runs that it was not chosen on."""
    rows = docs["stored"](docs["LEARNED"]).filter(method="ada-gvae")
    mean = {name: polars.col(name).mean() for name in ("order", "information")}
    chosen = rows.filter(polars.col("run").str.starts_with(docs["CHOSEN"])).group_by("data").agg(**mean).sort("order")
    known = chosen["information"].to_numpy() > 0.5
    below, above = chosen["order"].to_numpy()[~known].max(), chosen["order"].to_numpy()[known].min()
    assert round((below + above) / 2, 3) == pytest.approx(CLEAR, abs=0.0015)
    others = rows.filter(~polars.col("run").str.starts_with(docs["CHOSEN"])).group_by("verdict").agg(**mean)
    learnt = dict(others.select("verdict", "information").iter_rows())
    assert learnt["seen"] > learnt["half seen"] > learnt["confused"]


def test_stored_verdicts_are_those_of_today(docs):
    rows = docs["stored"](docs["LEARNED"])
    assert docs["with_verdicts"](rows).equals(rows)
