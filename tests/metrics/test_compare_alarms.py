"""How often `compare` sees a difference that is not there, and one that is; the page prints what was measured."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import numpy as np
import pytest

import unweave
from unweave.metrics import METRICS

TOP = Path(__file__).parents[2]
MEASURE = runpy.run_path(str(TOP / "benchmarks" / "compare.py"))
STORED = TOP / "docs" / "results" / "compare.csv"
CASES = ("paired", "unpaired")
MOST = 0.08
SETTLED = MEASURE["SETTLED"]


def seen(trials: list[list[tuple[str, float, float]]]) -> np.ndarray:
    """Return the share of trials, for each part of the score, in which the interval excludes 0."""
    return np.mean([[abs(difference) > reach for _, difference, reach in parts] for parts in trials], axis=0)


def test_the_page_prints_what_is_stored():
    page = (TOP / "docs" / "compare.md").read_text()
    for table in MEASURE["tables"](STORED):
        assert table in page


def rows_of(case: str, world: str) -> list[dict[str, str]]:
    with STORED.open(newline="") as file:
        return [row for row in csv.DictReader(file) if (row["case"], row["world"]) == (case, world)]


@pytest.mark.parametrize("world", ["good", "mixed"])
def test_what_is_stored_is_as_good_as_asked_for(world):
    rows = {row["metric"]: row for row in rows_of("equal", world)}
    asked = [name for name in MEASURE["TRIALS"] if (world, name) not in MEASURE["SETTLED"]]
    assert list(rows) == [part for name in asked for part in METRICS[name].names(name)]
    for name, row in rows.items():
        assert int(row["trials"]) >= (200 if name in MEASURE["CHEAP"] else 40)
        assert float(row["seen"]) <= MOST


def test_pairing_sees_what_the_scores_own_intervals_do_not():
    found = {case: {row["metric"]: float(row["seen"]) for row in rows_of(case, "same noise")} for case in CASES}
    assert found["paired"]["dci-disentanglement"] > 0.8 > 0.6 > found["unpaired"]["dci-disentanglement"]


def test_the_benchmark_s_pairing_is_that_of_compare():
    a, b, factors = MEASURE["unequal_encoders"](3, 0.7)
    (paired,), _ = MEASURE["power"]("mig", 0.7, [3])
    row = unweave.compare(a, b, factors, "mig", seed=3).row(0, named=True)
    assert paired[0][1:] == pytest.approx((row["difference"], (row["high"] - row["low"]) / 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "world"),
    [(name, world) for name in MEASURE["TRIALS"] for world in ("good", "mixed") if (world, name) not in SETTLED],
)
def test_equal_encoders_seldom_differ(metric, world):
    """Measured again: on another machine a trial or two may end otherwise, by rounding.

    A rate of `MOST` may show more by chance: 1.64 binomial standard errors more, in one of twenty such tests.
    """
    stored = {row["metric"]: row for row in rows_of("equal", world)}
    names = [name for name in METRICS[metric].names(metric) if name in stored]
    first = MEASURE["FIRST_SEED"]
    trials = int(stored[names[0]]["trials"])
    share = seen(MEASURE["alarms"](world, metric, range(first, first + trials)))
    for name, alarmed in zip(names, share, strict=True):
        assert alarmed <= MOST + 1.64 * np.sqrt(MOST * (1 - MOST) / trials)
        assert abs(alarmed - float(stored[name]["seen"])) <= max(0.03, 2.5 / trials)


@pytest.mark.slow
def test_a_small_difference_is_seen_more_often_paired():
    paired, unpaired = (seen(found)[0] for found in MEASURE["power"]("dci", 1.0, range(20_000, 20_040)))
    assert paired > 0.7
    assert paired - unpaired > 0.15
