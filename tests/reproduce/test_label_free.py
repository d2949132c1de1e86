"""The comparison of label-free scores: planted agreement is found, and the page is that of the stored tables."""

from __future__ import annotations

import json
import re
from math import isnan
from pathlib import Path
from typing import Any

import label_free_docs as docs
import numpy as np
import pages
import polars
import pytest
from scipy.stats import binomtest, spearmanr

from unweave.reproduce import find, reproduce
from unweave.reproduce.label_free_bakeoff import rows_of
from unweave.reproduce.label_free_design import METRICS, PRESETS, SUPERVISED
from unweave.reproduce.label_free_figures import agreement_figure
from unweave.reproduce.label_free_table import (
    AGREEMENT,
    COSTS,
    PUBLISHED,
    as_published,
    conclusions,
    overall,
    preferred,
)
from unweave.reproduce.training_dynamics_tables import over_specifications
from unweave.selection import SCORES


def agreement(count: int = 12) -> polars.DataFrame:
    """Return a table in which "elbo" agrees better than "kl"."""
    rows: list[dict[str, Any]] = [
        {"data": data, "score": score, "supervised": supervised, "over": "specifications", "count": count,
         "correlation": value - 0.1 * place, "low": value - 0.3, "high": None if score == "kl" else value + 0.1,
         "gain": value, "same_latents": 0.5 + value / 2, "same_beta": 0.5}
        for data in ("one", "other")
        for place, supervised in enumerate(("mig", "factor-vae-score"))
        for score, value in (("kl", -0.4), ("elbo", 0.7), ("dynamics", 0.2))
    ]  # fmt: skip
    return polars.DataFrame(rows, schema=AGREEMENT)


def costs() -> polars.DataFrame:
    rows = [{"score": score, "runs": 10, "seconds": 2.0} for score in ("dynamics", "kl", "elbo")]
    return polars.DataFrame(rows, schema=COSTS)


def test_scores_come_in_the_order_of_their_mean_correlation():
    ranked = overall(agreement())
    assert ranked["score"].to_list() == ["elbo", "dynamics", "kl"]
    assert ranked["correlation"].to_list() == pytest.approx([0.65, 0.15, -0.45])
    assert ranked["least"].to_list() == pytest.approx([0.6, 0.1, -0.5])
    said = conclusions(agreement(), costs())
    assert said[0].startswith("elbo agrees best")
    assert [line.partition(":")[0] for line in said[1:4]] == ["elbo", "dynamics", "kl"]
    assert "0.2 s of CPU time per run" in said[1]
    assert "within ±0.59" in said[-1]


def test_of_few_specifications_no_chance_is_told_and_of_none_nothing():
    assert "unrelated" not in " ".join(conclusions(agreement(4), costs()))
    assert conclusions(agreement().head(0), costs()) == ["No score could be compared with a supervised one."]


def test_pairs_that_differ_in_one_thing_are_counted():
    """Two latents: the pair is ordered alike; four: it is not, and one of three pairs is a tie."""
    table = polars.DataFrame(
        {
            "latents": [2, 2, 4, 4, 4],
            "beta": [1, 4, 1, 4, 8],
            "value": [0.1, 0.2, 0.5, 0.4, 0.4],
            "supervised": [0.3, 0.6, 0.1, 0.2, 0.3],
        }
    )
    assert preferred(table, "latents") == pytest.approx((1 + 0 + 0 + 0.5) / 4)
    assert preferred(table, "beta") == pytest.approx((0 + 0) / 2)
    assert preferred(table.head(1), "latents") is None


def test_the_published_number_stands_beside_ours_where_there_is_one():
    rows = {row.what: row for row in rows_of(agreement(), 5)}
    assert rows["one: dynamics with mig"].published == 0.60
    assert rows["one: dynamics with mig"].published_interval == pytest.approx((0.53, 0.67))
    assert rows["one: elbo with mig"].published is None
    assert isnan(rows["one: kl with mig"].high)
    assert as_published("dynamics", "mig", 7) == (None, None)
    assert {*PUBLISHED[5]} < {*SUPERVISED}


def test_the_correlation_over_specifications_is_that_of_means():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=8)
    rows = [
        {"specification": place, "first": truth[place] + 0.1 * rng.normal(), "second": -truth[place]}
        for _ in range(5) for place in range(8)
    ]  # fmt: skip
    table = polars.DataFrame(rows)
    means = table.group_by("specification").mean()
    value, low, high = over_specifications(table, "first", "second", seed=0)
    assert value == pytest.approx(spearmanr(means["first"], means["second"])[0])  # pyright: ignore[reportArgumentType]
    assert -1 <= low <= value <= high < -0.5
    assert over_specifications(table, "first", "second", seed=0) == (value, low, high)


def test_a_run_without_a_score_is_left_out_and_few_seeds_have_no_interval():
    table = polars.DataFrame(
        {"specification": [0, 0, 1, 1, 2, 2], "first": [1.0, None, 2.0, 2.0, 3.0, 3.0], "second": [1, 9, 2, 2, 3, 3]}
    )
    value, low, high = over_specifications(table, "first", "second", seed=0)
    assert value == pytest.approx(1)
    assert isnan(low)
    assert isnan(high)
    constant = table.with_columns(second=polars.lit(1.0))
    assert isnan(over_specifications(constant, "first", "second", seed=0)[0])


def test_presets_are_those_of_the_page():
    assert PRESETS["small"].count() == 120
    assert PRESETS["paper"].count() == 625
    small = find("training-dynamics").presets["small"]
    assert small.count() == 140
    for settings in PRESETS.values():
        assert all(steps % (settings.steps // settings.moments) == 0 for steps in settings.shorter.values())
        assert max(settings.sizes) <= settings.seeds
    names = {part.removesuffix("-disentanglement") for part in SUPERVISED}
    assert names == {*METRICS}


def test_the_page_is_that_of_the_stored_tables():
    """If not: `python benchmarks/label_free_docs.py` writes the pages from the files."""
    page = docs.PAGE.read_text(encoding="utf-8")
    for name, text in docs.blocks().items():
        assert pages.block(name, text) in page
    assert pages.block("bake-off", docs.ranking()) in docs.SELECTION.read_text(encoding="utf-8")


def test_the_recommendation_is_what_the_stored_table_says():
    """docs/selection.md, "Which to trust"."""
    ranked = {row["score"]: row for row in overall(docs.read(docs.AGREEMENT)).iter_rows(named=True)}
    assert set(ranked) == set(SCORES)
    assert max(row["correlation"] for row in ranked.values()) < 0.59
    cells = docs.read(docs.AGREEMENT).filter(polars.col("over") == "specifications")
    for _, part in cells.group_by("score"):
        means = part.group_by("data").agg(polars.col("correlation").mean())["correlation"].to_list()
        assert min(means) < 0.3  # none agrees on both data sets
    pairs = [name for name, score in SCORES.items() if score.compares_pairs]
    order = sorted(pairs, key=lambda name: -ranked[name]["same_latents"])
    assert order[0] == "model-centrality"
    assert "udr-lasso" in order[1:3]
    assert ranked["elbo"]["same_beta"] > 0.7
    assert ranked["udr-lasso"]["same_latents"] > 0.6 > ranked["elbo"]["same_latents"]
    assert PRESETS["small"].pairs() == {"same_latents": 24, "same_beta": 36}
    for row in ranked.values():
        low, high = binomtest(round(24 * row["same_latents"]), 24).proportion_ci(method="exact")
        assert low < 0.5 < high  # no score is clearly better than chance
    costs = dict(docs.read(docs.COSTS).select("score", "seconds").iter_rows())
    assert 30 < costs["model-centrality"] / costs["udr-lasso"] < 50


def test_the_tutorial_quotes_the_table():
    rows = {line.split("`")[1]: line.split(" | ") for line in docs.ranking().splitlines()[2:]}
    text = " ".join((docs.DOCS / "tutorials" / "choose-without-labels.md").read_text(encoding="utf-8").split())
    lasso, central = rows["udr-lasso"], rows["model-centrality"]
    assert f"`udr-lasso` prefers the better of two in {lasso[4]} of 24 pairs" in text
    assert f"and `model-centrality` in {central[4]}." in text
    assert (
        f"costs {lasso[-1].strip(' |')} s of CPU time per run; `model-centrality` costs {central[-1].strip(' |')} s"
        in text
    )
    wrong = " and ".join(rows[name][1] for name in ("total-correlation", "dynamics"))
    assert f"their mean rank correlations are {wrong}." in text


def test_notes_have_minus_signs_and_short_lines():
    notes = docs.blocks()["notes"]
    assert not re.search(r"[ (]-[\d.]", notes)
    assert "lowest −0.89" in notes
    assert max(map(len, notes.splitlines())) <= 120


def test_stored_tables_are_written_into_the_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    results = tmp_path / "results"
    for name in ("label-free-bakeoff", "training-dynamics"):
        (results / f"{name}-small-0").mkdir(parents=True)
    agreement().write_csv(results / "label-free-bakeoff-small-0" / "agreement.csv")
    costs().write_csv(results / "label-free-bakeoff-small-0" / "costs.csv")
    row = {"what": "table 1", "published": -0.6, "ours": -0.25, "low": None, "high": None, "difference": 0.35}
    (results / "training-dynamics-small-0" / "result.json").write_text(json.dumps({"rows": [row]}))
    for name in ("AGREEMENT", "COSTS", "TABLES", "PAGE", "SELECTION", "FIGURE"):
        original = getattr(docs, name)
        copy = tmp_path / original.name
        if original.suffix == ".md":
            copy.write_text(original.read_text())
        monkeypatch.setattr(docs, name, copy)
    docs.main(["--results", str(results)])
    page = (tmp_path / "label-free.md").read_text()
    assert "| table 1 | −0.60 | −0.25 | – |" in page
    assert "| `elbo` | 0.70 (0.40 … 0.80) | 0.60 (0.40 … 0.80) |" in page
    assert (
        "| `elbo` | 0.65 | 0.60 | 70 % | 85 % (63 … 95) | 50 % (33 … 67) | 0.2 |"
        in (tmp_path / "selection.md").read_text()
    )
    assert (tmp_path / "label-free.png").stat().st_size > 5_000


def test_the_figure_has_a_panel_for_each_data_set():
    figure = agreement_figure(agreement())
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one", "other"]
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["elbo", "dynamics", "kl"]


def test_smoke_compares_every_score(tmp_path: Path):
    outcome = reproduce("label-free-bakeoff", preset="smoke", out=tmp_path / "result", workers=1)
    table = polars.read_csv(tmp_path / "result" / "agreement.csv")
    assert {*table["score"]} == {*SCORES}
    assert {*table["supervised"]} == {*SUPERVISED}
    assert len(outcome.findings.rows) == len(SCORES) * len(SUPERVISED)
    assert (polars.read_csv(tmp_path / "result" / "costs.csv")["seconds"] > 0).all()
    known = table["correlation"].drop_nulls()
    assert known.is_between(-1, 1).all()
    assert (table["gain"].drop_nulls() <= 1 + 1e-9).all()


def test_smoke_of_the_paper_has_its_three_tables(tmp_path: Path):
    outcome = reproduce("training-dynamics", preset="smoke", out=tmp_path / "result", workers=1)
    rows = outcome.findings.rows
    counts = {table: sum(row.what.startswith(table) for row in rows) for table in ("table 1", "table 3", "table 4")}
    assert counts == {"table 1": 3, "table 3": 9, "table 4": 12}
    scores = polars.read_csv(tmp_path / "result" / "dynamics.csv")
    assert len(scores) == find("training-dynamics").presets["smoke"].count()
    assert not any("failed" in note for note in outcome.findings.notes)
