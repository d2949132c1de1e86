"""Does a 95 % interval hold the score of a very large sample, over fresh samples, in 95 % ± 5 of cases?

Where the number of fitted rows belongs to the score (SAP, DCI), it is the score at that number.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

COVERAGE = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "intervals.py"))
SIZES = (4, 8, 10)


CASES = [
    (metric, world)
    for metric in ("mig", "sap", "sap-correlation", "modularity", "total-correlation")
    for world in ("good", "twice", "mixed")
    if (metric, world) != ("modularity", "good")
]


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "world"), CASES)
def test_the_interval_holds_the_large_samples_score(metric, world):
    _, hits = COVERAGE["held"](metric, world, SIZES, 2_000, range(20_000, 20_200))
    assert hits.mean() >= 0.9


@pytest.mark.slow
def test_the_interval_of_modularity_with_codes_of_noise():
    """They have no large-sample score: it stays random with any number of rows. The mean of large samples stands in."""
    _, hits = COVERAGE["held"]("modularity", "good", SIZES, 2_000, range(20_000, 20_200))
    assert hits.mean() >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("world", ["twice", "mixed", "noise"])
def test_the_interval_of_the_votes_holds_that_of_many_votes(world):
    _, hits = COVERAGE["held"]("factor-vae-score", world, SIZES, 1_000, range(20_000, 20_200))
    assert hits.mean() >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("world", ["good", "mixed"])
def test_the_interval_of_dci_holds_the_score_at_this_number_of_rows(world):
    _, hits = COVERAGE["held"]("dci", world, SIZES, 2_000, range(20_000, 20_020))
    assert (hits.mean(axis=0) >= 0.9).all()
