"""The table of scores: what it holds, how it answers mistakes, what it does not import."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest
from polars.testing import assert_frame_equal

import unweave
from unweave.errors import UsageError
from unweave.metrics import METRICS, Metric, evaluate, mig, sap

TOP = Path(__file__).parents[2]


@pytest.fixture
def sample(worlds):
    return worlds["noisy"](300, np.random.default_rng(0))


def test_a_row_a_metric(sample):
    table = evaluate(*sample)
    assert table.columns == ["metric", "value", "low", "high", "seconds", "options"]
    assert table["metric"].to_list() == list(METRICS)
    assert table["value"].to_list() == [mig(*sample), sap(*sample), sap(*sample, kind="correlation")]
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    assert (table["low"] < table["high"]).all()
    assert (table["seconds"] > 0).all()
    assert [json.loads(options) for options in table["options"]] == [
        {"bins": 20},
        {"kind": "classifier", "rows": 300, "test": "split", "seed": 0},
        {"kind": "correlation"},
    ]


def test_it_is_public(sample):
    assert unweave.evaluate(*sample, metrics="mig")["value"].to_list() == [mig(*sample)]


def test_a_test_set_is_used_and_named(sample):
    codes, factors = sample
    test = (codes[200:], factors[200:])
    table = evaluate(codes[:200], factors[:200], "sap", test=test)
    assert table["value"].item() == sap(codes[:200], factors[:200], test=test)
    assert json.loads(table["options"].item()) == {"kind": "classifier", "rows": 200, "test": "given"}


def test_the_same_seed_gives_the_same_table(sample):
    tables = [evaluate(*sample, seed=seed).drop("seconds") for seed in (3, 3, 4)]
    assert_frame_equal(tables[0], tables[1])
    assert tables[0]["low"].to_list() != tables[2]["low"].to_list()


def test_a_score_does_not_depend_on_the_company_it_keeps(sample):
    alone = evaluate(*sample, metrics="sap-correlation").drop("seconds")
    assert_frame_equal(alone, evaluate(*sample).drop("seconds").filter(metric="sap-correlation"))


def test_without_intervals(sample):
    table = evaluate(*sample, metrics=["sap-correlation", "mig", "mig"], intervals=False)
    assert table["metric"].to_list() == ["sap-correlation", "mig"]
    assert table["low"].null_count() == table["high"].null_count() == 2
    assert table.schema["low"] == polars.Float64


def test_few_rows_have_no_interval(sample):
    codes, factors = sample
    assert evaluate(codes[:19], factors[:19], "mig")["low"].item() is None
    assert evaluate(codes[:20], factors[:20], "mig")["low"].item() is not None


def test_more_replicates_change_the_interval_only_a_little(sample):
    few, many = (evaluate(*sample, metrics="mig", replicates=replicates) for replicates in (200, 2000))
    assert few["high"].item() != many["high"].item()
    assert few["high"].item() == pytest.approx(many["high"].item(), abs=0.01)


@pytest.mark.parametrize("needs", [("codes", "factors"), ("codes",)])
def test_a_metric_of_your_own_is_resampled_by_rows(needs, sample, monkeypatch):
    def spread(*arrays, power):
        codes = arrays[0]
        assert [len(array) for array in arrays] == [len(codes)] * len(needs)
        return float(np.std(codes) ** power)

    own = Metric(spread, "nobody", "nothing", needs=needs, options={"power": 2}, range=(0, 9))
    monkeypatch.setitem(METRICS, "spread", own)
    row = evaluate(*sample, metrics="spread").row(0, named=True)
    assert row["value"] == pytest.approx(sample[0].var())
    assert row["low"] < row["value"] < row["high"]


@pytest.mark.parametrize(
    ("metrics", "line"),
    [
        ("mgi", "no metric is called 'mgi'; did you mean 'mig'"),
        (["mig", "sap-corelation"], "did you mean 'sap-correlation'"),
        ([], "no metric is asked for"),
        ([3], "no metric is called '3'"),
    ],
)
def test_a_wrong_name_gets_one_line(metrics, line, sample):
    with pytest.raises(UsageError, match=line):
        evaluate(*sample, metrics=metrics)


def test_mistakes_are_refused_before_any_work(sample):
    with pytest.raises(UsageError, match="codes have 299 rows"):
        evaluate(sample[0][:299], sample[1], "mig")
    with pytest.raises(UsageError, match="replicates must be a whole number from 10 up"):
        evaluate(*sample, metrics="mig", replicates=5)
    with pytest.raises(UsageError, match="seed must be"):
        evaluate(*sample, metrics="mig", seed=-1)


def test_nothing_heavy_is_imported():
    script = """
import sys, unweave.metrics
assert not {"torch", "sklearn", "scipy", "polars"} & set(sys.modules), "too much at import"
unweave.metrics.mig([[0.0], [1.0]], [[0], [1]])
unweave.metrics.evaluate([[0.0], [1.0]] * 30, [[0], [1]] * 30)
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_example_runs(capsys):
    runpy.run_path(str(TOP / "examples" / "score_codes.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(name in printed for name in [*METRICS, "the last 500 rows"])
