"""Does a 95 % interval hold the score of a very large sample, over fresh samples, in 95 % ± 5 of cases?"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

COVERAGE = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "intervals.py"))
SIZES = (4, 8, 10)


@pytest.mark.slow
@pytest.mark.parametrize("world", ["good", "twice", "mixed"])
@pytest.mark.parametrize("metric", ["mig", "sap-correlation", "modularity", "total-correlation"])
def test_the_interval_holds_the_large_samples_score(metric, world):
    assert COVERAGE["held"](metric, world, SIZES, 2_000, range(20_000, 20_200)) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("world", ["perfect", "good", "twice", "mixed"])
def test_the_interval_of_a_penalised_score_holds_that_of_a_large_sample(world):
    """SAP of perfect codes is 0.15 at 2,000 rows and 0.44 at 100,000."""
    assert COVERAGE["held"]("sap", world, SIZES, 2_000, range(20_000, 20_200)) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("world", ["perfect", "noise"])
def test_the_interval_of_modularity_with_codes_of_noise(world):
    """They have no large-sample score: it stays random with any number of rows. The mean of large samples stands in."""
    assert COVERAGE["held"]("modularity", world, SIZES, 2_000, range(20_000, 20_200)) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("world", ["twice", "mixed", "noise"])
def test_the_interval_of_the_votes_holds_that_of_many_votes(world):
    assert COVERAGE["held"]("factor-vae-score", world, SIZES, 1_000, range(20_000, 20_200)) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("world", ["good", "twice", "mixed", "noise"])
def test_the_interval_of_a_score_that_keeps_growing_holds_that_of_a_large_sample(world):
    """D of good codes is 0.54 at 2,000 rows and 0.94 at 100,000."""
    assert (COVERAGE["held"]("dci", world, SIZES, 2_000, range(20_000, 20_012)) >= 0.9).all()


@pytest.mark.slow
@pytest.mark.parametrize(("world", "widest"), [("perfect", 0.01), ("noise", 0.12)])
def test_the_interval_of_a_dci_that_has_settled_stays_narrow(world, widest):
    low, _, high = COVERAGE["intervals"]("dci", world, SIZES, 2_000, range(20_000, 20_004))
    assert (high - low).mean(axis=0).max() < widest
