"""The table of costs on the page is that of the stored file, and it has every metric."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import polars

from unweave.metrics import METRICS

COSTS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "metrics.py"))


def test_the_table_of_the_page_is_that_of_the_stored_file():
    assert f"<!-- costs -->\n{COSTS['render']()}\n<!-- /costs -->" in COSTS["PAGE"].read_text()


def test_every_metric_has_its_cost():
    table = polars.read_csv(COSTS["STORED"])
    assert set(METRICS) - set(table["metric"]) <= {"dci-random-forest"}  # minutes
    sums = table.filter(polars.col("metric").is_in(COSTS["SUMS"]["all of rows"])).sum()
    assert sums["score"].item() <= 15.0  # CPU seconds
    assert sums["score"].item() + sums["floors"].item() <= 24.0
    assert sums["floors"].item() <= 0.6 * sums["score"].item()


def test_intervals_that_were_not_measured_are_kept(tmp_path):
    path = tmp_path / "costs.csv"
    COSTS["store"](polars.DataFrame({"metric": ["a", "b"], "score": 1.0, "interval": [3.0, 4.0]}), path, False)
    new = polars.DataFrame({"metric": ["b", "a"], "score": 2.0, "interval": 0.0})
    COSTS["store"](new, path, True)
    assert polars.read_csv(path).rows() == [("b", 2.0, 4.0), ("a", 2.0, 3.0)]
    COSTS["store"](new, path, False)
    assert polars.read_csv(path)["interval"].to_list() == [0.0, 0.0]


def test_a_cost_is_measured(capsys):
    rng = np.random.default_rng(0)
    inputs = {"codes": rng.normal(size=(200, 3)), "factors": rng.integers(3, size=(200, 2)), "seed": 0}
    table = COSTS["costs"](["mig", "mcc"], inputs, intervals=True)
    assert table["metric"].to_list() == ["mig", "mcc"]
    assert (table["interval"] > 0).all()
    assert "CPU seconds" in capsys.readouterr().out
