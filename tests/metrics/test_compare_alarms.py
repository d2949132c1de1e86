"""How often `compare` sees a difference that is not there, and one that is; the page prints what was measured."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import numpy as np
import pytest

import unweave

TOP = Path(__file__).parents[2]
MEASURE = runpy.run_path(str(TOP / "benchmarks" / "compare.py"))
STORED = TOP / "docs" / "results" / "compare.csv"
MOST = 0.08
NOISE_ALONE = {("modularity", "good"): 0.12, ("jemmig", "mixed"): 0.12}
"""Of codes of noise modularity stays random with any number of rows, and halves show three quarters of its variance;
JEMMIG's entropies move with the edges of the bins, which halves show in part."""


def seen(trials: list[list[tuple[str, float, float]]]) -> np.ndarray:
    """Return the share of trials, for each part of the score, in which the interval excludes 0."""
    return np.mean([[abs(difference) > reach for _, difference, reach in parts] for parts in trials], axis=0)


def test_the_page_prints_what_is_stored():
    page = (TOP / "docs" / "compare.md").read_text()
    for table in MEASURE["tables"](STORED):
        assert table in page


def test_what_is_stored_is_as_good_as_asked_for():
    with STORED.open(newline="") as file:
        rows = list(csv.DictReader(file))
    equal = [row for row in rows if row["case"] == "equal"]
    asked = {*MEASURE["CHEAP"], *MEASURE["REFITTED"]}
    assert {name for name in asked if any(row["metric"].startswith(name) for row in equal)} == asked
    for row in equal:
        cheap = row["metric"] in MEASURE["CHEAP"]
        assert int(row["trials"]) >= (200 if cheap else 40)
        assert float(row["seen"]) <= NOISE_ALONE.get((row["metric"], row["world"]), MOST), row
    found = {
        row["case"]: float(row["seen"])
        for row in rows
        if row["world"] == "same noise" and row["metric"] == "dci-disentanglement"
    }
    assert found["paired"] > 0.8 > 0.65 > found["unpaired"]


def test_the_benchmark_s_pairing_is_that_of_compare():
    a, b, factors = MEASURE["unequal_encoders"](3, 0.7)
    (paired,), _ = MEASURE["power"]("mig", 0.7, [3])
    row = unweave.compare(a, b, factors, "mig", seed=3).row(0, named=True)
    assert paired[0][1:] == pytest.approx((row["difference"], (row["high"] - row["low"]) / 2))


@pytest.mark.slow
@pytest.mark.parametrize("world", ["good", "mixed"])
@pytest.mark.parametrize("metric", MEASURE["CHEAP"])
def test_equal_encoders_seldom_differ(metric, world):
    share = seen(MEASURE["alarms"](world, metric, range(20_000, 20_200)))
    assert (share <= NOISE_ALONE.get((metric, world), MOST)).all()


@pytest.mark.slow
@pytest.mark.parametrize("metric", MEASURE["REFITTED"])
def test_equal_encoders_seldom_differ_in_scores_of_fits(metric):
    assert (seen(MEASURE["alarms"]("mixed", metric, range(20_000, 20_040))) <= MOST).all()


@pytest.mark.slow
def test_a_small_difference_is_seen_more_often_paired():
    paired, unpaired = (seen(found)[0] for found in MEASURE["power"]("dci", 1.0, range(20_000, 20_040)))
    assert paired > 0.75
    assert paired - unpaired > 0.2
