"""Pretrained encoders: what the published choice of images is, and what the table says."""

from __future__ import annotations

from math import isnan

import numpy as np
import pages
import polars
import pytest
import scale_docs as docs

import unweave
from unweave.errors import UsageError
from unweave.reproduce import reproduce
from unweave.reproduce.parts import Parts
from unweave.reproduce.scale_encoders import (
    AS_PUBLISHED,
    FIRST,
    PUBLISHED,
    RANDOM,
    SCHEMA,
    NearlyBlack,
    ScaleEncoders,
    Scored,
    Settings,
    conclusions,
    rows_of,
)
from unweave.reproduce.scale_encoders_figure import encoders_figure


def test_of_the_first_images_nothing_but_the_position_varies():
    data = unweave.load("shapes2d")
    factors = data.values(np.arange(FIRST))
    assert [len(np.unique(column)) for column in factors.T] == [1, 1, 1, 32, 32]


def test_nearly_black_images_are_ones():
    data = unweave.load("shapes2d:size=32")
    dark = NearlyBlack(data)
    indices = np.array([0, 5_000, 700_000])
    assert dark.images(indices).max() == 1
    np.testing.assert_array_equal(dark.images(indices), data.images(indices) > 127)
    np.testing.assert_array_equal(dark.values(indices), data.values(indices))


def planted() -> polars.DataFrame:
    """Return networks whose MIG on random images rises with size and training, and falls as published."""
    rows = [
        {"data": "one", "encoder": f"net{size}", "weights": weights, "parameters": size * 10**6, "codes": 64,
         "images": images, "metric": "mig", "value": value, "low": value - 0.01, "high": value + 0.01}
        for size in (1, 2, 3) for weights, more in (("trained", 0.1), ("random", 0.0))
        for images, value in ((RANDOM, 0.01 * size + more), (AS_PUBLISHED, 0.5 - 0.01 * size - more))
    ]  # fmt: skip
    rows.append({**rows[0], "encoder": "pixels", "parameters": 0})
    return polars.DataFrame(rows, schema=SCHEMA)


def test_planted_answers_are_said():
    ranking, size, training = conclusions(planted())
    assert ranking.startswith("one: 6 networks, trained and random ones, ranked by MIG")
    assert ranking.endswith("rank correlation −1.00.")
    assert size == f"one: 3 trained networks, parameters and MIG ({RANDOM}): rank correlation 1.00."
    assert training.startswith(f"one: training raises MIG ({RANDOM}) for 3 of 3 networks, beyond both intervals for 3;")


def test_networks_of_unknown_size_count_as_networks_and_constant_scores_are_no_ranking():
    unknown = planted().with_columns(
        parameters=polars.when(polars.col("encoder") == "net3").then(None).otherwise(polars.col("parameters")),
        value=polars.when(polars.col("images") == RANDOM).then(0.2).otherwise(polars.col("value")),
    )
    assert [sentence.partition(",")[0] for sentence in conclusions(unknown)] == [
        f"one: training raises MIG ({RANDOM}) for 0 of 3 networks"
    ]
    alone = planted().filter(~((polars.col("encoder") == "net3") & (polars.col("weights") == "trained")))
    assert conclusions(alone)[-1].startswith(f"one: training raises MIG ({RANDOM}) for 2 of 2 networks,")


def test_a_difference_within_the_intervals_is_no_clear_one():
    wide = planted().with_columns(low=polars.col("value") - 0.06, high=polars.col("value") + 0.06)
    said = "for 3 of 3 networks, beyond both intervals for 0; it lowers MIG beyond both intervals for 0."
    assert conclusions(wide)[-1].endswith(said)
    swapped = planted().with_columns(weights=polars.col("weights").replace({"trained": "random", "random": "trained"}))
    assert conclusions(swapped)[-1].endswith(
        "for 0 of 3 networks, beyond both intervals for 0; it lowers MIG beyond both intervals for 3."
    )


def test_the_documents_numbers_come_first():
    rows = list(rows_of(planted()))
    assert [row.published for row in rows[:5]] == [mig for _, mig in PUBLISHED.values()]
    assert all(isnan(row.ours) for row in rows[:5])
    assert rows[5].what == f"net1 (1.0 M), one, {RANDOM}: mig"
    assert rows[7].what == f"net1 (1.0 M), random weights, one, {RANDOM}: mig"


def test_the_figure_has_a_panel_for_each_choice_of_images():
    figure = encoders_figure(planted())
    assert [axes.get_title(loc="left") for axes in figure.axes] == [f"one, {RANDOM}", f"one, {AS_PUBLISHED}"]


def test_it_runs(tmp_path, monkeypatch):
    monkeypatch.setitem(ScaleEncoders.presets, "smoke", Settings(("shapes2d:size=32",), ("pixels",), 150))
    found = reproduce("scale-encoders", preset="smoke", out=tmp_path / "out").findings
    table = polars.read_csv((tmp_path / "out" / "encoders.csv").read_bytes())
    assert set(table["images"]) == {AS_PUBLISHED, RANDOM, "random images, 10 principal components"}
    assert table.filter(polars.col("images") == RANDOM)["codes"].to_list() == [1024]
    assert table["value"].is_between(0, 1).all()
    assert len(found.rows) == len(PUBLISHED) + len(table)


def test_encoders_that_are_not_here_are_said(monkeypatch):
    monkeypatch.setitem(ScaleEncoders.presets, "smoke", Settings(("xyobject:size=32",), ("sscd-student",), 20))
    monkeypatch.setattr("unweave.reproduce.scale_encoders.scored", _refused)
    with pytest.raises(UsageError, match="no encoder could be used; left out, sscd-student: not installed"):
        reproduce("scale-encoders", preset="smoke")


def test_the_page_is_that_of_the_stored_table():
    """If not: `python benchmarks/scale_docs.py` writes the page from the file."""
    assert pages.block("encoders", docs.encoders_text()) in docs.PAGE.read_text()


def test_encoders_that_are_finished_are_stored_beside_earlier_ones(tmp_path, monkeypatch):
    table = planted()
    monkeypatch.setattr(docs, "ENCODERS", tmp_path / "stored.csv")
    table.filter(polars.col("encoder") != "net3").write_csv(docs.ENCODERS)
    kept = Parts(tmp_path, {})
    for weights in ("random", "trained"):
        rows = [
            {"images": RANDOM, "codes": 64, "metric": "mig", "value": 0.9, "low": 0.8, "high": 1.0},
        ]
        kept(weights, lambda r=rows, w=weights: Scored("one", "net2", w == "random", 2, r))
    docs.store_encoders(tmp_path)
    stored = polars.read_csv(docs.ENCODERS, schema=SCHEMA)
    assert stored["encoder"].unique(maintain_order=True).to_list() == ["pixels", "net2", "net1"]
    assert stored.filter(polars.col("encoder") == "net2")["value"].to_list() == [0.9, 0.9]
    assert "pixels with trained weights on shapes2d; " in docs.missing(stored)[0]


def _refused(*_: object) -> None:
    raise UsageError("not installed")
