"""The table of scores: what it holds, how it answers mistakes, what it does not import."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from polars.testing import assert_frame_equal

import unweave
from unweave.data.table import Table
from unweave.errors import UsageError
from unweave.metrics import (
    DCI,
    GROUPS,
    METRICS,
    Codebook,
    FewSamples,
    LeftOut,
    dci,
    evaluate,
    factor_vae_score,
    mcc,
    mig,
    noisy_labels,
    pairwise_mi,
    sap,
)
from unweave.metrics.inputs import DRAW, bin_factors, generator
from unweave.metrics.presets import ConstantFactor, UnseenValues

TOP = Path(__file__).parents[2]


@pytest.fixture
def sample(worlds):
    return worlds["noisy"](300, np.random.default_rng(0))


CHEAP = ["mig", "sap", "sap-correlation"]


def test_a_row_a_metric(sample):
    table = evaluate(*sample, metrics=CHEAP)
    assert table.columns == [
        *("metric", "value", "low", "high", "floor", "ceiling", "adjusted", "seconds", "options"),
    ]
    assert table["metric"].to_list() == CHEAP
    assert table["value"].to_list() == [mig(*sample), sap(*sample), sap(*sample, kind="correlation")]
    assert (table["low"] <= table["value"]).all()
    assert (table["value"] <= table["high"]).all()
    assert (table["low"] < table["high"]).all()
    assert (table["floor"] < table["value"]).all()
    assert (table["value"] < table["ceiling"]).all()
    shares = (table["value"] - table["floor"]) / (table["ceiling"] - table["floor"])
    assert table["adjusted"].to_list() == pytest.approx(shares.to_list())
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
    assert "factor-vae-score" in every  # from rows
    assert "z-max-variance" not in every
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
    beyond = tuple(f"-{part}" for part in ("accuracy-1000", "accuracy-10000", "efficiency"))
    rows = [row for name in GROUPS["study"] for row in METRICS[name].names(name) if not row.endswith(beyond)]
    assert table["metric"].to_list() == rows
    options = dict(zip(table["metric"], map(json.loads, table["options"]), strict=True))
    fast = METRICS["factor-vae-score"].chosen_options("fast", {})
    assert options["factor-vae-score"] == {**fast, "pool": 300, "seed": 0}
    assert options["downstream-gbt-accuracy-100"]["learner"] == "gbt"


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
        ({"explicitness": {"bins": 7}}, "the metric has no options"),
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
    with pytest.warns(LeftOut, match="perceived-correlation is left out: this metric needs images"):
        table = evaluate(*sample, metrics="two", codebook=book)
    assert table["metric"].to_list() == ["mig"]
    with pytest.raises(UsageError, match="needs images"):
        evaluate(*sample, metrics="perceived-correlation", codebook=book)


def test_progress_and_scores_are_told_as_they_come(sample):
    seen: list[tuple[str, int, int]] = []
    parts: list[polars.DataFrame] = []
    table = evaluate(
        *sample, metrics=["mig", "irs"], on_progress=lambda *news: seen.append(news), on_result=parts.append
    )
    assert seen == [("mig", 0, 2), ("irs", 1, 2)]
    assert [part["metric"].to_list() for part in parts] == [["mig"], ["irs"]]
    assert_frame_equal(polars.concat(parts), table)


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


@pytest.mark.parametrize(
    ("metrics", "line"),
    [
        ("mgi", "no metric is called 'mgi'; did you mean 'mig'"),
        (["mig", "sap-corelation"], "did you mean 'sap-correlation'"),
        ([], "no metric is requested"),
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
        ({"options": {"sap": {"kind": "correlation"}}}, "options for 'sap', which is not among the requested metrics"),
        ({"options": {"mig": {"bins": "foo"}}}, "bins must be a whole number from 2 up, got 'foo'"),
        ({"options": {"mig": {"bins": 10**40}}}, "bins must be at most 10,000"),
        ({"options": {"dci": {"learner": ["gbt"]}}, "metrics": "dci"}, r"learner must be a string, got \['gbt'\]"),
        ({"options": {"dci": {"learner": "gtb"}}, "metrics": "study"}, "no learner of DCI is called 'gtb'"),
        ({"preset": None}, "no preset is called 'None'"),
        ({"label_noise": 2.0}, "label_noise must be 1, 2 or 3, got 2.0"),
        ({"label_noise": 0}, "label_noise must be 1, 2 or 3, got 0"),
        ({"reconstruction": ["a"] * 300}, "reconstruction must be numbers"),
        ({"bin_factors": 1}, "bin_factors must be a whole number from 2 up, got 1"),
        ({"interval": False}, "no argument is called 'interval'; did you mean 'intervals'"),
        ({"floor": False}, "no argument is called 'floor'; did you mean 'floors'"),
        ({"repliates": 3}, "no argument is called 'repliates'; did you mean 'replicates'"),
        ({"watch": print}, "no argument is called 'watch'"),
    ],
)
def test_a_wrong_request_is_answered_before_any_work(request_, line, sample):
    def on_progress(*_: object) -> None:
        raise AssertionError("a metric was begun")

    codes, factors = sample
    with pytest.raises(UsageError, match=line):
        evaluate(codes, factors, **{"metrics": "mig", "on_progress": on_progress, **request_})


def test_test_rows_that_are_numbered_otherwise_are_warned_of(sample):
    codes, factors = sample
    with pytest.warns(UnseenValues, match="no test row has a value of factor 2 that the train rows have"):
        evaluate(codes, factors, "r2", test=(codes, factors + np.array([0, 50, 0])), intervals=False)


def test_every_score_says_what_it_depends_on(sample):
    codes, factors = sample
    table = evaluate(codes, factors, ["mig", "r2"], seed=3, intervals=False)
    described = [json.loads(row) for row in table["options"]]
    assert described == [
        {"bins": 20, "rows": len(codes), "seed": 3},
        {"rows": len(codes), "test": "split", "seed": 3},
    ]


def test_without_floors(sample):
    table = evaluate(*sample, metrics=["mig", "dci-lasso"], intervals=False, floors=False)
    assert table["value"][0] == mig(*sample)
    assert table.select("low", "high", "floor", "ceiling", "adjusted").null_count().row(0) == (4,) * 5


def test_floors_do_not_change_scores_or_intervals(sample):
    columns = ("metric", "value", "low", "high", "options")
    given, none = (evaluate(*sample, metrics=CHEAP, floors=floors).select(columns) for floors in (True, False))
    assert_frame_equal(given, none)


def test_a_dict_of_codes_gives_one_table_with_their_keys(sample):
    codes, factors = sample
    seen: list[tuple[str, int, int]] = []
    parts: list[polars.DataFrame] = []
    keyed = {"whole": codes, "half": codes[:, :3]}
    table = evaluate(
        keyed, factors, ["mig", "irs"], on_progress=lambda *news: seen.append(news), on_result=parts.append
    )
    assert table.columns[:2] == ["key", "metric"]
    assert table["key"].to_list() == ["whole", "whole", "half", "half"]
    for key, own in keyed.items():
        alone = evaluate(own, factors, ["mig", "irs"]).drop("seconds")
        assert_frame_equal(table.filter(polars.col("key") == key).drop("key", "seconds"), alone)
    assert seen == [("whole: mig", 0, 2), ("whole: irs", 1, 2), ("half: mig", 0, 2), ("half: irs", 1, 2)]
    assert_frame_equal(polars.concat(parts), table)


def test_a_dict_of_codes_may_have_a_dict_of_test_codes(sample):
    codes, factors = sample
    test: Any
    keyed, test = {"a": codes[:200], "b": codes[:200, :3]}, {"a": codes[200:], "b": codes[200:, :3]}
    table = evaluate(keyed, factors[:200], "sap", test=(test, factors[200:]), intervals=False, floors=False)
    assert table["value"].to_list() == [
        sap(codes[:200], factors[:200], test=(codes[200:], factors[200:])),
        sap(codes[:200, :3], factors[:200], test=(codes[200:, :3], factors[200:])),
    ]
    test = {"a": codes[200:]}
    with pytest.raises(UsageError, match="there are no test codes for 'b'"):
        evaluate(keyed, factors[:200], "sap", test=(test, factors[200:]))


def test_what_a_dict_of_codes_cannot_have(sample, grids):
    codes, factors = sample
    with pytest.raises(UsageError, match="the mapping of codes is empty"):
        evaluate({}, factors)
    with pytest.raises(UsageError, match="a mapping of codes takes only factors and test"):
        evaluate({"a": codes}, factors, codebook=Codebook.of_grid(grids["noisy"], (4, 8, 10)))


def test_details_are_the_values_of_the_factors(sample):
    codes, factors = sample
    names = ["shape", "size", "hue"]
    settings = {"details": True, "intervals": False, "floors": False, "names": names}
    table = evaluate(codes, factors, ["mig", "dci", "irs"], **settings)
    whole = table.filter(polars.col("factor").is_null())
    assert whole["metric"].to_list() == ["mig", "dci-disentanglement", "dci-completeness", "dci-informativeness", "irs"]
    found = {
        row["factor"]: row["value"] for row in table.filter(metric="mig").drop_nulls("factor").iter_rows(named=True)
    }
    assert found == {
        name: pytest.approx(mig(codes, factors[:, [k]])) for k, name in enumerate(names)
    }  # a score of one factor
    assert np.mean(list(found.values())) == pytest.approx(mig(codes, factors))
    informativeness = table.filter(metric="dci-informativeness")
    assert informativeness["factor"].to_list() == [None, *names]
    assert informativeness["value"][1:].mean() == pytest.approx(informativeness["value"][0])
    assert table.filter(metric="irs").height == 1  # it has none
    plain = evaluate(codes, factors, "mig", **(settings | {"names": None}))
    assert plain["factor"].to_list() == [None, "factor 1", "factor 2", "factor 3"]
    assert "factor" not in evaluate(codes, factors, "mig", intervals=False).columns


def test_details_are_called_by_the_factors_that_vary(sample):
    """Factor 1 varies among the test rows alone: no metric of the other rows has a value of it."""
    codes, factors = sample
    train = np.insert(factors[:200, 1:], 0, 2, axis=1)
    test = codes[200:], factors[200:]
    settings = {"details": True, "intervals": False, "floors": False, "test": test}
    with pytest.warns(ConstantFactor, match="factor 1 has a single value and is left out"):
        table = evaluate(codes[:200], train, ["mig", "r2"], **settings)
    assert table.filter(metric="mig")["factor"].to_list() == [None, "factor 2", "factor 3"]
    assert table.filter(metric="mig")["value"][1] == pytest.approx(mig(codes[:200], train[:, [1]]))
    assert table.filter(metric="r2")["factor"].to_list() == [None, "factor 1", "factor 2", "factor 3"]


def test_details_of_a_codebook(grids):
    book = Codebook.of_grid(grids["noisy"], (4, 8, 10))
    table = evaluate(grids["noisy"], metrics="unfairness", codebook=book, preset="fast", details=True, intervals=False)
    assert table.filter(metric="unfairness-mean")["factor"].to_list() == [None, "factor0", "factor1", "factor2"]


CONTINUOUS = [name for name, metric in METRICS.items() if metric.continuous]


@pytest.fixture
def continuous():
    """Three continuous factors, a noisy code of each, and three codes of noise."""
    rng = np.random.default_rng(0)
    factors = rng.uniform(-1, 1, size=(400, 3))
    return np.hstack([factors + 0.1 * rng.normal(size=(400, 3)), rng.normal(size=(400, 3))]), factors


def test_continuous_factors_are_for_these_metrics():
    assert set(CONTINUOUS) == {
        *("mcc", "mcc-rank", "mcc-rdc", "r2", "im", "sap-correlation", "distance-correlation", "dci-lasso"),
        "info-mec",
    }


@pytest.mark.parametrize("name", CONTINUOUS)
def test_metrics_that_take_values_as_numbers_take_continuous_factors(name, continuous):
    codes, factors = continuous
    table = evaluate(codes, factors, name, replicates=4)
    assert table["metric"].to_list() == METRICS[name].names(name)
    assert table.select("value", "low", "high", "ceiling").null_count().row(0) == (0,) * 4
    assert table["floor"].null_count() == len(METRICS[name].no_floor)
    assert (table["value"] > table["floor"]).any()
    assert (table["ceiling"] >= table["value"] - 0.02).all()


def test_a_continuous_factor_has_the_score_of_its_formula(continuous):
    codes, factors = continuous
    found = dict(evaluate(codes, factors, ["mcc", "sap-correlation"], intervals=False).select("metric", "value").rows())
    squares = np.corrcoef(codes.T, factors.T)[:6, 6:] ** 2
    assert found["mcc"] == pytest.approx(np.sqrt(squares).max(axis=0).mean())
    top = np.sort(squares, axis=0)
    assert found["sap-correlation"] == pytest.approx((top[-1] - top[-2]).mean())


def test_a_group_leaves_out_what_needs_classes_with_one_warning(continuous):
    with pytest.warns(LeftOut) as warned:
        table = evaluate(*continuous, intervals=False, floors=False, preset="fast")
    missing = [
        name
        for name in GROUPS["all"]
        if METRICS[name].supervised and name not in CONTINUOUS and "encode" not in METRICS[name].needs
    ]
    assert [str(warning.message) for warning in warned] == [
        f"factors are continuous: {len(missing)} metrics that need classes are left out; "
        "bin_factors=10 (--bin-factors 10) includes them"
    ]
    expected = {row for name in CONTINUOUS if name in GROUPS["all"] for row in METRICS[name].names(name)}
    assert expected <= set(table["metric"])
    assert not set(table["metric"]) & {"mig", "dci-completeness", "factor-vae-score", "sap"}
    assert "total-correlation" in table["metric"]


@pytest.mark.parametrize("name", ["mig", "sap", "dci", "factor-vae-score", "downstream-logistic"])
def test_by_name_continuous_factors_are_refused_in_one_line(name, continuous):
    with pytest.raises(UsageError, match=f"the metric '{name}' needs .*bin_factors=10 \\(--bin-factors 10\\)"):
        evaluate(continuous[0], continuous[1], name)


def test_a_codebook_has_classes_whatever_the_rows_have(continuous, grids):
    book = Codebook.of_grid(grids["noisy"], (4, 8, 10))
    codes, factors = continuous
    names = ["linearity", "factor-vae-score"]
    table = evaluate(codes, factors, names, codebook=book, intervals=False, floors=False)
    assert table["metric"].to_list() == ["linearity", "factor-vae-score"]
    assert table["value"][1] == factor_vae_score(book)


def test_binned_factors_suffice_for_every_metric(continuous):
    codes, factors = continuous
    named = [name for name in GROUPS["all"] if {"factors", "source"} & {*METRICS[name].needs}]
    table = evaluate(codes, factors, "all", bin_factors=4, intervals=False, floors=False, preset="fast")
    assert {row for name in named for row in METRICS[name].names(name)} - set(table["metric"]) == {
        f"downstream-{kind}-{part}"
        for kind in ("logistic", "gbt")
        for part in (*(f"accuracy-{n}" for n in (1000, 10000)), "efficiency")
    }
    binned = bin_factors(factors, 4)
    assert table.filter(metric="mig")["value"].item() == mig(codes, binned)
    assert table.filter(metric="factor-vae-score").height == 1


def test_one_continuous_factor_is_enough(continuous):
    codes, factors = continuous
    mixed = np.hstack([np.round(3 * factors[:, :2]), factors[:, 2:]])
    with pytest.raises(UsageError, match="bin_factors"):
        evaluate(codes, mixed, "mig")
    table = evaluate(codes, mixed, ["mig", "mcc"], bin_factors=5, intervals=False, floors=False)
    expected = np.hstack([mixed[:, :2], bin_factors(factors[:, 2:], 5)]).astype(int)
    assert table["value"].to_list() == [mig(codes, expected), mcc(codes, expected)]


def test_label_noise_is_for_classes(continuous):
    with pytest.raises(UsageError, match="label noise needs factors that are classes: set bin_factors"):
        evaluate(continuous[0], continuous[1], "mcc", label_noise=1)


def test_sizes_beyond_the_rows_are_not_in_the_table(worlds):
    codes, factors = worlds["noisy"](2_000, np.random.default_rng(0))
    table = evaluate(codes, factors, "downstream-gbt", test=(codes[:300], factors[:300]), intervals=False)
    assert table["metric"].to_list() == [f"downstream-gbt-accuracy-{size}" for size in (10, 100, 1000)]
    assert table["value"].null_count() == 0


def test_seconds_of_encoding_have_a_row_of_their_own(grids, monkeypatch):
    """Whichever metric comes first is not charged with them. The clock stands still but for encoding."""
    clock = [5.0]
    for module in ("metrics.codebook", "metrics.evaluate", "late"):
        monkeypatch.setattr(import_module(f"unweave.{module}"), "perf_counter", lambda: clock[0])

    def slowly(images: np.ndarray) -> np.ndarray:
        clock[0] += 0.25
        return grids["noisy"][images[:, 0, 0, 0].astype(int) + 256 * images[:, 0, 1, 0].astype(int)]

    cells = np.stack(np.unravel_index(np.arange(320), (4, 8, 10)), axis=1)
    numbers = np.stack([np.arange(320) % 256, np.arange(320) // 256], axis=1).astype(np.uint8)
    book = Codebook(slowly, Table(numbers.reshape(320, 1, 2, 1), cells))
    table = evaluate(grids["noisy"], metrics=["linearity", "axis-alignment"], codebook=book, preset="fast")
    assert table["metric"].to_list() == ["linearity", "axis-alignment", "encoding"]
    last = table.row(-1, named=True)
    assert last["seconds"] == clock[0] - 5.0 > 0
    assert last["value"] is last["low"] is last["floor"] is None
    assert table["seconds"].to_list()[:2] == [0.0, 0.0]
    again = evaluate(grids["noisy"], metrics=["linearity"], codebook=book, preset="fast")
    assert again["metric"].to_list() == ["linearity"]  # nothing was encoded


def test_a_warning_about_the_factors_of_several_codes_is_given_once():
    rng = np.random.default_rng(0)
    codes = {"a": rng.normal(size=(50, 2)), "b": rng.normal(size=(50, 2))}
    shapes = np.array([["square"], ["heart"]] * 25)
    for call in (evaluate, unweave.compare):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(codes, factors=shapes, metrics="mig", intervals=False)
        assert sorted(warning.category.__name__ for warning in caught) == ["FewSamples", "NumberedLabels"]
