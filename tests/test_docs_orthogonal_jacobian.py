"""The table of docs/methods/orthogonal-jacobian.md is that of the stored file, which is as the benchmark writes it."""

from __future__ import annotations

import numpy as np
import orthogonal_jacobian as benchmark
import polars
import pytest
from pages import block

ROWS = polars.read_csv(benchmark.STORE)


def test_the_page_says_what_the_file_says():
    """If not: `python benchmarks/orthogonal_jacobian.py --write` writes the page from the file."""
    assert block("worlds", benchmark.text()) in benchmark.PAGE.read_text(encoding="utf-8")


def test_the_file_has_a_row_for_every_world_and_weight_whose_means_are_those_of_its_seeds():
    assert ROWS.select("world", "weight").rows() == [
        (world, weight) for world in benchmark.WORLDS for weight in (0, 10)
    ]
    for row in ROWS.iter_rows(named=True):
        seeds = np.array(row["mcc_of_seeds"].split(), dtype=float)
        assert len(seeds) == 5
        assert row["mcc"] == pytest.approx(seeds.mean(), abs=0.0101)  # both are rounded
        assert row["mcc_error"] == pytest.approx(seeds.std(ddof=1) / 5**0.5, abs=0.0101)


def test_a_row_of_the_file_is_what_seeds_have_on_average():
    found = np.array([[0.5, 0.9, 0.01], [0.7, 0.8, 0.02]])
    row = benchmark.summary("arcs", 10.0, found)
    assert row == {
        "world": "arcs",
        "weight": 10.0,
        "mcc": 0.6,
        "mcc_error": 0.1,
        "orthogonality": 0.85,
        "orthogonality_error": 0.05,
        "mcc_of_seeds": "0.50 0.70",
    }
    assert list(row) == ROWS.columns
