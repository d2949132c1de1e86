"""The scaling studies: planted growth is found, and the page is that of the stored tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pages
import polars
import pytest
import scale_docs as docs

from unweave.reproduce import find, reproduce
from unweave.reproduce.scale import ScaleData, ScaleParameters, conclusions, published
from unweave.reproduce.scale_design import COMPUTE, DATA, PARAMETERS, SCORES
from unweave.reproduce.scale_figures import growth_figure
from unweave.reproduce.scale_table import curve_of, growths, parameters, points

AXIS = ("steps", "step", ("beta",))


def planted(seeds: int = 5) -> polars.DataFrame:
    """Return a table in which MIG gains 0.1 per decade at β 4 and nothing at β 1."""
    rng = np.random.default_rng(1)
    rows = [
        {"beta": beta, "seed": seed, "step": step, "metric": "mig",
         "value": 0.2 + (0.1 if beta == 4 else 0) * np.log10(step) + 0.005 * rng.normal()}
        for beta in (1.0, 4.0) for seed in range(seeds) for step in (100, 1_000, 10_000, 100_000)
    ]  # fmt: skip
    return polars.DataFrame(rows)


def test_planted_growth_is_found():
    found = {row["of"]: row for row in growths(planted(), *AXIS).iter_rows(named=True)}
    assert found["beta=4"]["slope"] == pytest.approx(0.1, abs=0.005)
    assert found["beta=4"]["low"] > 0.09
    assert found["beta=1"]["low"] < 0 < found["beta=1"]["high"]
    assert found["beta=4"]["curve"] == "logarithmic"
    assert curve_of(found["beta=4"])(1_000) == pytest.approx(0.5, abs=0.01)
    assert conclusions(growths(planted(), *AXIS)) == [
        "steps: 1 of 2 scores rises (mig with beta=4) and 0 fall with the whole interval of the slope over seeds."
    ]


def test_points_are_means_over_seeds():
    table = planted()
    found = points(table, *AXIS)
    chosen = table.filter((polars.col("beta") == 4) & (polars.col("step") == 100))["value"]
    row = found.filter((polars.col("of") == "beta=4") & (polars.col("size") == 100)).row(0, named=True)
    assert row["value"] == pytest.approx(chosen.mean())
    assert row["low"] < row["value"] < row["high"]
    assert row["seeds"] == 5


def test_the_order_of_scores_does_not_depend_on_that_of_rows():
    table = planted()
    table = polars.concat([table.with_columns(metric=polars.lit(name)) for name in reversed(SCORES)])
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    assert points(table, *AXIS).equals(points(shuffled, *AXIS))
    assert growths(table, *AXIS).equals(growths(shuffled, *AXIS))
    assert points(table, *AXIS)["metric"].head(len(SCORES)).to_list() == list(SCORES)


def test_few_seeds_have_no_interval_and_one_size_no_slope():
    assert points(planted(2), *AXIS)["low"].is_null().all()
    assert "none of 2 slopes has an interval" in conclusions(growths(planted(2), *AXIS))[0]
    assert not len(growths(planted().filter(polars.col("step") == 100), *AXIS))


def test_a_seed_that_lacks_a_size_is_left_out():
    whole = planted()
    gap = whole.filter(~((polars.col("seed") == 0) & (polars.col("step") == 100)))
    others = growths(whole.filter(polars.col("seed") > 0), *AXIS)
    assert growths(gap, *AXIS)["slope"].to_list() == pytest.approx(others["slope"].to_list())


def test_the_bars_of_the_document():
    row = {"axis": "steps", "of": "beta=4", "metric": "mig", "size": 20_000.0}
    assert published(row) == 0.046
    assert published({**row, "of": "beta=1", "metric": "sap", "size": 1_000.0}) == 0.027
    assert published({**row, "size": 2_000.0}) is None
    assert published({**row, "of": "beta=16"}) is None
    assert published({**row, "of": "beta=4 width=0.5"}) is None
    assert published({**row, "metric": "elbo-bound"}) is None


def test_parameters_are_counted():
    """64 inputs, 12 hidden units, 2 latents: encoder 64-12-12-(2+2), decoder 2-12-12-12-64, each with biases."""
    data = {"name": "xysquares", "size": 32}
    net = {"name": "mlp", "latents": 2, "width": 0.01}
    values = 32 * 32 * 3
    layers = [(values, 12), (12, 12), (12, 4), (2, 12), (12, 12), (12, 12), (12, values)]
    assert parameters(net, data) == sum(a * b + b for a, b in layers)


def test_axes_of_parameters_change_one_thing_each():
    rows = [
        {"beta": 4.0, "width": width, "depth": depth, "latents": latents, "parameters": 100 * width * depth + latents,
         "seed": seed, "step": 10, "steps": 10, "metric": "mig", "value": 0.1}
        for width, depth, latents in ((1.0, 1, 10), (2.0, 1, 10), (1.0, 2, 10), (1.0, 1, 5)) for seed in range(2)
    ]  # fmt: skip
    found = {axis[0]: part for axis, part in ScaleParameters().measured(PARAMETERS["smoke"], polars.DataFrame(rows))}
    assert sorted(found["parameters (width)"]["width"].unique()) == [1.0, 2.0]
    assert set(found["parameters (width)"]["depth"]) == {1}
    assert sorted(found["parameters (depth)"]["depth"].unique()) == [1, 2]
    assert sorted(found["latents"]["latents"].unique()) == [5, 10]


def test_images_that_are_all_are_counted():
    rows = [{"beta": 4.0, "images": images, "step": 5, "steps": 5} for images in (500, None)]
    ((_, part),) = ScaleData().measured(DATA["small"], polars.DataFrame(rows))
    assert part["images"].to_list() == [500, 737_280]


@pytest.mark.parametrize(("name", "runs"), [("scale-compute", 4), ("scale-data", 2 * 3), ("scale-parameters", 2 * 4)])
def test_smoke_has_these_runs(name, runs, tmp_path):
    assert len(find(name).presets["smoke"].study(seed=0, out=tmp_path).plan.tasks) == runs


def test_small_is_what_the_page_says(tmp_path):
    compute, data, sizes = (presets["small"] for presets in (COMPUTE, DATA, PARAMETERS))
    assert len(compute.study(seed=0, out=tmp_path).plan.tasks) == 2 * 5
    assert [task.config["training"]["steps"] for task in compute.long_study(seed=0, out=tmp_path).plan.tasks] == [
        150_000
    ] * 2
    assert len(data.study(seed=0, out=tmp_path).plan.tasks) == 4 * 5
    assert len(sizes.study(seed=0, out=tmp_path).plan.tasks) == 7 * 5


def test_it_runs(tmp_path, monkeypatch):
    tiny = replace(COMPUTE["smoke"], strengths=(4.0,), steps=8, snapshots=(2, 4), long=6, long_snapshots=(3,))
    monkeypatch.setitem(COMPUTE, "smoke", tiny)
    found = reproduce("scale-compute", preset="smoke", out=tmp_path / "out", workers=1).findings
    table = polars.read_csv((tmp_path / "out" / "points.csv").read_bytes())
    assert table.filter(polars.col("metric") == "mig")["size"].to_list() == [2, 4, 8, 3, 6]
    assert set(found.figures) == {"steps", "steps of one long run"}
    assert all(row.ours == row.ours for row in found.rows)


def test_the_figure_has_a_panel_for_each_score():
    table = planted()
    figure = growth_figure(points(table, *AXIS), growths(table, *AXIS))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["mig"]
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["beta=1", "beta=4"]


def test_panels_that_are_not_needed_are_off():
    four = polars.concat([planted().with_columns(metric=polars.lit(name)) for name in ("a", "b", "c", "d")])
    figure = growth_figure(points(four, *AXIS), growths(four, *AXIS))
    assert [axes.axison for axes in figure.axes] == [True] * 4 + [False] * 2


@pytest.mark.parametrize("part", docs.PARTS)
def test_the_page_is_that_of_the_stored_tables(part):
    """If not: `python benchmarks/scale_docs.py` writes the page from the files."""
    assert pages.block(part, docs.text(part)) in docs.PAGE.read_text()
    assert all(Path(file).is_file() for file in docs.figures(part).values())
