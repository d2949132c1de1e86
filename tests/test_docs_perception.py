"""The page of perceive says what the stored files say, and these can be."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import polars
import pytest

from unweave.perception.predicted import NOISE, PAIRS
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
            **dict.fromkeys(("signal", "order", "rank", "relative", "worth"), k / 4),
            "verdict": "seen" if k > 2 else "confused",
            "information": k / 5,
            "gap": k / 10,
        }
        for study in ("thesis-3.10", "other")
        for run in range(5)
        for k in range(5)
    ]
    text = docs["learnt_tables"](docs["Predictions"](polars.DataFrame(rows)))
    assert "10 runs on 1 data sets, 50 factors in all; 10 runs compare within a run." in text
    assert "| order | 1.00 (1.00 … 1.00) | 0.00 (0.00 … 0.00) |" in text
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


def test_within_a_run_xysquares_is_left_out_and_the_page_says_by_which_rule(docs):
    found = docs["Predictions"](docs["stored"](docs["LEARNED"]))
    inside = found.rows.join(found.within(), on="run", how="semi")
    data = inside["data"].str.split(":").list.first()
    assert set(data) == {"rooms3d", "shapes2d"}
    others = found.rows.join(found.within(), on="run", how="anti")
    assert others["data"].str.starts_with("xysquares").all()
    assert found.agreement()["runs_within"].unique().to_list() == [inside["run"].n_unique()]
    assert f"({100 * NOISE / PAIRS**0.5:.1f} % for {PAIRS:,} pairs)" in docs["PAGE"].read_text(encoding="utf-8")


def test_what_the_page_says_of_methods(docs):
    """Confused factors are learnt from triplets only, and on rooms3d more is learnt of half seen factors."""
    rows = docs["stored"](docs["LEARNED"])
    means = rows.group_by("method", "verdict").agg(polars.col("information").mean())
    learnt = {(method, verdict): value for method, verdict, value in means.iter_rows()}
    assert learnt["ada-tvae", "confused"] > 0.5 > 0.15 > learnt["ada-gvae", "confused"] > learnt["beta-vae", "confused"]
    assert learnt["beta-vae", "half seen"] > learnt["beta-vae", "seen"]
    rooms = rows.filter(polars.col("data").str.starts_with("rooms3d")).group_by("method", "verdict")
    for _, part in rooms.agg(polars.col("information").mean()).sort("verdict").group_by("method"):
        half, whole = part["information"]
        assert half > whole
    others = rows.filter(~polars.col("data").str.starts_with("rooms3d"), method="beta-vae").group_by("verdict")
    elsewhere = dict(others.agg(polars.col("information").mean()).iter_rows())
    assert elsewhere["seen"] > elsewhere["half seen"]
    found = docs["Predictions"](rows).agreement()
    assert found["correlation"].abs().max() < 0.25
    shares = dict(found.filter(learnt="information").select("predicted", "within").iter_rows())
    assert min(shares[name] for name in ("signal", "worth", "relative")) > 0.75 > 0.2 > shares["order"]


def test_a_learnt_loss_is_named_by_its_study(docs):
    path = "learnt:path=/a folder/thesis-6.4/learnt.loss,weight=1,sha256=e3"
    found = polars.DataFrame({"loss": ["mse", path, "learnt:path=learnt.loss"]}).select(docs["loss_in"]("thesis-6.4"))
    named = "learnt:path=thesis-6.4/learnt.loss"
    assert found["loss"].to_list() == ["mse", f"{named},weight=1,sha256=e3", named]
    assert not docs["stored"](docs["LEARNED"])["loss"].str.contains("=/").any()


def test_stored_verdicts_are_those_of_today(docs):
    rows = docs["stored"](docs["LEARNED"])
    assert docs["with_verdicts"](rows).equals(rows)
