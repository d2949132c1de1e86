"""The table of scores: what it holds, how it answers mistakes, what it does not import."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import polars
import pytest
from polars.testing import assert_frame_equal

import unweave
from unweave.errors import UsageError
from unweave.metrics import (
    DCI,
    GROUPS,
    METRICS,
    Codebook,
    FewSamples,
    LeftOut,
    Metric,
    dci,
    evaluate,
    mig,
    noisy_labels,
    pairwise_mi,
    sap,
)
from unweave.metrics.inputs import DRAW, generator
from unweave.metrics.presets import Strangers

TOP = Path(__file__).parents[2]


@pytest.fixture
def sample(worlds):
    return worlds["noisy"](300, np.random.default_rng(0))


CHEAP = ["mig", "sap", "sap-correlation"]


def test_a_row_a_metric(sample):
    table = evaluate(*sample, metrics=CHEAP)
    assert table.columns == ["metric", "value", "low", "high", "seconds", "options"]
    assert table["metric"].to_list() == CHEAP
    assert table["value"].to_list() == [mig(*sample), sap(*sample), sap(*sample, kind="correlation")]
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    assert (table["low"] < table["high"]).all()
    assert (table["seconds"] > 0).all()
    assert [json.loads(options) for options in table["options"]] == [
        {"bins": 20, "rows": 300, "seed": 0},
        {"kind": "classifier", "rows": 300, "test": "split", "seed": 0},
        {"kind": "correlation", "rows": 300, "seed": 0},
    ]


def test_all_is_what_the_inputs_suffice_for(sample):
    every = evaluate(*sample, intervals=False)["metric"].to_list()
    alone = evaluate(sample[0], intervals=False)["metric"].to_list()
    assert alone == [
        "total-correlation",
        "wasserstein-distance",
        "wasserstein-normalised",
        "pairwise-mi",
        "active-units",
    ]
    assert set(alone) < set(every)
    assert "dci-completeness" in every
    assert "factor-vae-score" not in every
    with pytest.raises(UsageError, match="the metric 'mig' needs factors"):
        evaluate(sample[0], metrics="mig")
    with pytest.raises(UsageError, match="the metric 'linearity' needs codebook"):
        evaluate(*sample, metrics="linearity")
    with pytest.raises(UsageError, match="the metric 'total-correlation-sampled' needs log_variances"):
        evaluate(*sample, metrics="total-correlation-sampled")


def test_a_group_names_the_study(sample, grids):
    book = Codebook.of_grid(grids["noisy"], (4, 8, 10))
    spread = np.full(sample[0].shape, -4.0)
    table = evaluate(*sample, metrics="study", codebook=book, log_variances=spread, preset="fast", intervals=False)
    rows = [row for name in GROUPS["study"] for row in METRICS[name].names(name)]
    assert table["metric"].to_list() == rows
    options = dict(zip(table["metric"], map(json.loads, table["options"]), strict=True))
    assert options["factor-vae-score"] == {
        **METRICS["factor-vae-score"].chosen_options("fast", {}),
        "exact": True,
        "seed": 0,
    }


def test_a_part_a_row(sample):
    table = evaluate(*sample, metrics="dci-lasso")
    assert table["metric"].to_list() == [f"dci-lasso-{part}" for part in DCI._fields]
    assert table["value"].to_list() == list(dci(*sample, learner="lasso"))
    assert (table["low"] <= table["value"]).all()
    assert table["seconds"].n_unique() == 1


def test_options_by_hand(sample):
    table = evaluate(*sample, metrics=["mig", "modularity"], options={"mig": {"bins": 7}})
    assert table["value"][0] == mig(*sample, bins=7)
    assert [json.loads(options)["bins"] for options in table["options"]] == [7, 20]
    for options, line in (
        ({"mgi": {"bins": 7}}, "no metric is called 'mgi'"),
        ({"mig": {"bin": 7}}, "no option is called 'bin'; did you mean 'bins'"),
        ({"explicitness": {"bins": 7}}, "the metric has none"),
    ):
        with pytest.raises(UsageError, match=line):
            evaluate(*sample, metrics="mig", options=options)
    with pytest.raises(UsageError, match="no preset is called 'papre'"):
        evaluate(*sample, metrics="mig", preset="papre")


def test_posteriors_are_sampled_by_the_seed(sample):
    codes, _ = sample
    spread = np.full(codes.shape, np.log(0.25))
    table = evaluate(codes, metrics=["pairwise-mi-sampled"], log_variances=spread, seed=3)
    drawn = codes + 0.5 * generator(3, DRAW).normal(size=codes.shape)
    assert table["value"].item() == pairwise_mi(drawn)
    assert json.loads(table["options"].item()) == {
        "bins": 20,
        "rows": 300,
        "representation": "sampled",
        "seed": 3,
    }
    with pytest.raises(UsageError, match="log_variances have shape"):
        evaluate(codes, log_variances=spread[:-1])


def test_noise_on_the_labels(sample):
    codes, factors = sample
    test = (codes[200:], factors[200:])
    row = evaluate(codes[:200], factors[:200], "sap", test=test, label_noise=3).row(0, named=True)
    noisy = noisy_labels(factors, regime=3)
    assert row["value"] == sap(codes[:200], noisy[:200], test=(codes[200:], noisy[200:]))
    assert json.loads(row["options"])["label_noise"] == 3
    assert row["value"] != sap(codes[:200], factors[:200], test=test)


@pytest.mark.filterwarnings("default")
def test_few_rows_are_warned_of(worlds):
    """Ten values want 2,000 rows: fewer, and a useless code looks as if it knew something."""
    rng = np.random.default_rng(0)
    with pytest.warns(FewSamples, match=r"1,900 rows are few for a factor of 10 values: below 2,000"):
        evaluate(*worlds["noisy"](1900, rng), metrics="mig", intervals=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(*worlds["noisy"](2000, rng), metrics="mig", intervals=False)


def test_a_group_goes_on_without_a_metric_that_refuses(sample, grids, monkeypatch):
    book = Codebook.of_grid(grids["noisy"], (4, 8, 10))  # without images, which one metric looks at
    monkeypatch.setitem(GROUPS, "two", ("perceived-correlation", "mig"))
    with pytest.warns(LeftOut, match="perceived-correlation is left out: this metric looks at images"):
        table = evaluate(*sample, metrics="two", codebook=book)
    assert table["metric"].to_list() == ["mig"]
    with pytest.raises(UsageError, match="looks at images"):
        evaluate(*sample, metrics="perceived-correlation", codebook=book)


def test_it_is_watched(sample):
    seen = []
    evaluate(*sample, metrics=["mig", "irs"], watch=lambda *news: seen.append(news))
    assert seen == [("mig", 0, 2), ("irs", 1, 2)]


def test_it_is_public(sample):
    assert unweave.evaluate(*sample, metrics="mig")["value"].to_list() == [mig(*sample)]


def test_a_test_set_is_used_and_named(sample):
    codes, factors = sample
    test = (codes[200:], factors[200:])
    table = evaluate(codes[:200], factors[:200], "sap", test=test)
    assert table["value"].item() == sap(codes[:200], factors[:200], test=test)
    assert json.loads(table["options"].item()) == {"kind": "classifier", "rows": 200, "test": "given", "seed": 0}


def test_the_same_seed_gives_the_same_table(sample):
    tables = [evaluate(*sample, metrics=CHEAP, seed=seed).drop("seconds") for seed in (3, 3, 4)]
    assert_frame_equal(tables[0], tables[1])
    assert tables[0]["low"].to_list() != tables[2]["low"].to_list()


def test_a_score_does_not_depend_on_the_company_it_keeps(sample):
    alone = evaluate(*sample, metrics="sap-correlation").drop("seconds")
    assert_frame_equal(alone, evaluate(*sample, metrics=CHEAP).drop("seconds").filter(metric="sap-correlation"))


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
    with pytest.raises(UsageError, match="replicates must be a whole number from 2 up"):
        evaluate(*sample, metrics="mig", replicates=1)
    with pytest.raises(UsageError, match="seed must be"):
        evaluate(*sample, metrics="mig", seed=-1)


def test_nothing_heavy_is_imported():
    script = """
import sys, unweave.metrics
assert not {"torch", "sklearn", "scipy", "polars", "numba"} & set(sys.modules), "too much at import"
unweave.metrics.mig([[0.0], [1.0]], [[0], [1]])
unweave.metrics.evaluate([[0.0], [1.0]] * 200, [[0], [1]] * 200, intervals=False)
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_example_runs(capsys):
    runpy.run_path(str(TOP / "examples" / "score_codes.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(name in printed for name in ["mig", "dci-completeness", "the last 500 rows"])


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"metrics": None}, "metrics must be a name or several names, got None"),
        ({"metrics": 3}, "metrics must be a name or several names, got 3"),
        ({"options": ["mig"]}, "options must be a mapping such as"),
        ({"options": {"mig": 3}}, "options must be a mapping such as"),
        ({"options": {"sap": {"kind": "correlation"}}}, "options for 'sap', which is not among the metrics asked for"),
        ({"options": {"mig": {"bins": "foo"}}}, "bins must be a whole number from 2 up, got 'foo'"),
        ({"options": {"mig": {"bins": 10**40}}}, "bins must be at most 10,000"),
        ({"options": {"dci": {"learner": ["gbt"]}}, "metrics": "dci"}, r"learner must be a text, got \['gbt'\]"),
        ({"options": {"dci": {"learner": "gtb"}}, "metrics": "study"}, "no learner of DCI is called 'gtb'"),
        ({"preset": None}, "no preset is called 'None'"),
        ({"label_noise": 2.0}, "label_noise must be 1, 2 or 3, got 2.0"),
        ({"label_noise": 0}, "label_noise must be 1, 2 or 3, got 0"),
        ({"reconstruction": ["a"] * 300}, "reconstruction must be numbers"),
    ],
)
def test_a_wrong_request_is_answered_before_any_work(request_, line, sample):
    def watch(*_: object) -> None:
        raise AssertionError("a metric was begun")

    codes, factors = sample
    with pytest.raises(UsageError, match=line):
        evaluate(codes, factors, **{"metrics": "mig", "watch": watch, **request_})


def test_test_rows_that_are_numbered_otherwise_are_warned_of(sample):
    codes, factors = sample
    with pytest.warns(Strangers, match="no test row has a value of factor 2 that was fitted"):
        evaluate(codes, factors, "r2", test=(codes, factors + np.array([0, 50, 0])), intervals=False)


def test_every_score_says_what_it_depends_on(sample):
    codes, factors = sample
    table = evaluate(codes, factors, ["mig", "r2"], seed=3, intervals=False)
    described = [json.loads(row) for row in table["options"]]
    assert described == [
        {"bins": 20, "rows": len(codes), "seed": 3},
        {"rows": len(codes), "test": "split", "seed": 3},
    ]
