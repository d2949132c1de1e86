"""Differences of scores: paired on the same halves, in whatever shape the inputs come."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats

from unweave.data.table import Table
from unweave.errors import UsageError
from unweave.metrics import METRICS, Codebook, LeftOut, dci, evaluate, mcc, mig
from unweave.metrics.compare import compare, compare_inputs
from unweave.metrics.inputs import INTERVAL, generator
from unweave.metrics.request import Request
from unweave.metrics.resampling import Sampled, halves

SIZES = np.array([3, 4])
FEW = {
    **{name: {"votes": 40, "test_votes": 20} for name in ("factor-vae-score", "z-max-variance")},
    "beta-vae-score": {"points": 40, "test_points": 20},
    "unfairness": {"rows": 60, "points": 20},
}
"""Counts of what metrics draw for themselves, small."""


def world(rows: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return clean and noisy codes of the same samples, and their factors."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(SIZES, size=(rows, 2))
    noise = rng.normal(size=(2, rows, 2))
    return factors + 0.1 * noise[0], factors + 0.9 * noise[1], factors


def grid_inputs(metric: str, mix: np.ndarray) -> dict[str, Any]:
    """Return all that any metric may ask for, of codes that are factors times `mix`, with noise."""
    _, _, factors = world()
    rng = np.random.default_rng(1)
    codes = factors @ mix + 0.3 * rng.normal(size=(len(factors), mix.shape[1]))
    cells = np.stack(np.unravel_index(np.arange(SIZES.prod()), SIZES), axis=1)
    pictures = Table(np.arange(len(cells), dtype=np.uint8).reshape(-1, 1, 1, 1), cells)
    book = Codebook(lambda images: (cells @ mix)[images[:, 0, 0, 0]], pictures)
    known = {"codes": codes, "means": codes, "sampled": codes, "factors": factors, "test": None, "label_noise": None}
    posterior = {"log_variances": np.zeros_like(codes), "reconstruction": rng.random(len(codes))}
    jacobians = {"jacobians": rng.normal(size=(30, 8, mix.shape[1]))}
    return known | posterior | jacobians | {"encode": book, "source": book, "seed": 0, "continuous": False}


@pytest.mark.parametrize("name", METRICS)
def test_equal_codes_differ_by_nothing_in_any_half(name):
    """Were a half, or a draw within it, another one for the second codes, the interval would have a width."""
    mix = np.random.default_rng(2).normal(size=(2, 3))
    inputs = {key: grid_inputs(name, mix) for key in ("one", "other")}
    request = Request(name, options={name: FEW[name]} if name in FEW else {}, replicates=3)
    table = compare_inputs(inputs, request)
    assert table["metric"].to_list() == [row for row in METRICS[name].names(name) if "10000" not in row][: len(table)]
    assert len(table)
    for row in table.iter_rows(named=True):
        assert row["value_a"] == row["value_b"]
        assert (row["difference"], row["low"], row["high"]) == (0.0, 0.0, 0.0)
        assert (row["differs"], row["better"]) == (False, None)


def test_the_interval_is_that_of_the_halves_scored_one_by_one():
    a, b, factors = world()
    row = compare(a, b, factors, "mcc", seed=5, replicates=12).row(0, named=True)
    kept = halves(len(a), 12, generator(5, INTERVAL))
    apart = [mcc(b[half], factors[half]) - mcc(a[half], factors[half]) for half in kept]
    reach = 1.1 * stats.t.ppf(0.975, 11) * np.std(apart, ddof=1)
    difference = mcc(b, factors) - mcc(a, factors)
    assert (row["value_a"], row["value_b"]) == (mcc(a, factors), mcc(b, factors))
    assert row["difference"] == pytest.approx(difference)
    assert (row["low"], row["high"]) == pytest.approx((difference - reach, difference + reach))


def test_the_better_one_is_named_by_the_direction_of_the_metric():
    rng = np.random.default_rng(0)
    apart = rng.normal(size=(300, 2))
    tied = apart @ [[1.0, 0.9], [0.0, 0.5]]
    rows = {row["metric"]: row for row in compare(tied, apart, metrics="all").iter_rows(named=True)}
    assert rows["total-correlation"]["difference"] < rows["total-correlation"]["high"] < 0
    assert (rows["total-correlation"]["differs"], rows["total-correlation"]["better"]) == (True, "b")
    clean, noisy, factors = world()
    assert compare(clean, noisy, factors, "mig")["better"].item() == "a"
    constant = np.column_stack([clean[:, 0], np.zeros(len(clean))])
    units = compare(clean, constant, metrics="active-units").row(0, named=True)
    assert (units["difference"], units["differs"], units["better"]) == (-1.0, True, None)  # neither end is better


def test_columns_options_and_seconds():
    a, b, factors = world()
    table = compare(a, b, factors, ["mig", "dci"], options={"mig": {"bins": 7}}, seed=3)
    assert table.columns == [
        *("metric", "a", "b", "value_a", "value_b", "difference", "low", "high", "differs", "better", "seconds"),
        "options",
    ]
    assert table["metric"].to_list() == ["mig", "dci-disentanglement", "dci-completeness", "dci-informativeness"]
    assert set(table["a"]) == {"a"}
    assert set(table["b"]) == {"b"}
    assert json.loads(table["options"][0]) == {"bins": 7, "rows": 240, "seed": 3}
    assert table["value_a"][1:].to_list() == list(dci(a, factors, seed=3))
    assert (table["seconds"] > 0).all()


def test_several_are_each_compared_with_the_first():
    a, b, factors = world()
    c = a[:, ::-1]
    names = ["mig", "downstream-gbt"]
    table = compare({"clean": a, "noisy": b, "turned": c}, factors=factors, metrics=names)
    assert list(zip(table["a"], table["b"], strict=True))[:2] == [("clean", "noisy"), ("clean", "turned")]
    for other, codes in {"noisy": b, "turned": c}.items():
        alone = compare({"clean": a, other: codes}, factors=factors, metrics=names)
        assert alone.drop("seconds").equals(table.filter(table["b"] == other).drop("seconds"))


def test_a_difference_of_rounding_is_none():
    codes = np.random.default_rng(0).normal(size=(300, 5)) @ np.random.default_rng(1).normal(size=(5, 5))
    row = compare(codes, codes[:, ::-1], metrics="total-correlation").row(0, named=True)
    assert abs(row["difference"]) < 1e-12
    assert row["differs"] is False


def test_no_interval_reaches_beyond_what_a_difference_can_be():
    rng = np.random.default_rng(0)
    factors = rng.integers(2, size=(24, 2))
    table = compare(factors + 0.0, rng.normal(size=(24, 2)), factors, ["mig", "mcc", "dci"], replicates=4)
    assert (table["low"] >= -1).all()
    assert (table["high"] <= 1).all()
    assert -1.0 in table["low"].to_list()


def test_few_rows_have_no_interval_and_no_verdict():
    a, b, factors = world(rows=19)
    row = compare(a, b, factors, "mig").row(0, named=True)
    assert row["difference"] == mig(b, factors) - mig(a, factors)
    assert [row[name] for name in ("low", "high", "differs", "better")] == [None] * 4
    assert compare(*world(), "mig", intervals=False)["differs"].item() is None


def test_an_infinite_score_has_no_difference(monkeypatch):
    a, b, factors = world()
    monkeypatch.setattr(METRICS["mig"], "sample", lambda **_: Sampled(np.inf, 240, np.zeros_like))
    row = compare(a, b, factors, "mig", intervals=False).row(0, named=True)
    assert [row[name] for name in ("value_a", "value_b", "difference", "differs")] == [None] * 4


def test_test_rows_are_those_given():
    a, b, factors = world()
    other_a, other_b, other_factors = world(seed=9)
    table = compare(a, b, factors, "sap", test=(other_a, other_b, other_factors))
    assert table["value_a"].item() == METRICS["sap"](a, factors, test=(other_a, other_factors))
    assert table["value_b"].item() == METRICS["sap"](b, factors, test=(other_b, other_factors))
    named = compare(
        {"a": a, "b": b}, factors=factors, metrics="sap", test=({"a": other_a, "b": other_b}, other_factors)
    )
    assert named.drop("seconds").equals(table.drop("seconds"))


def test_the_metrics_of_a_group_are_those_of_evaluate():
    a, b, factors = world()
    few = {"preset": "fast", "replicates": 2, "options": {"beta-vae-score": FEW["beta-vae-score"]}}
    scored = evaluate(a, factors, floors=False, intervals=False, preset="fast", options=few["options"])
    assert compare(a, b, factors, **few)["metric"].to_list() == scored["metric"].to_list()


def test_continuous_factors_are_for_metrics_that_take_them():
    a, b, factors = world()
    continuous = factors + 0.5 * np.random.default_rng(0).random(factors.shape)
    with pytest.warns(LeftOut, match="factors are continuous") as told:
        table = compare(a, b, continuous, preset="fast", replicates=2)
    assert len(told) == 1
    assert {"mcc", "r2"} <= set(table["metric"])
    assert "mig" not in set(table["metric"])
    assert "mig" in set(compare(a, b, continuous, "mig", bin_factors=4)["metric"])


def test_the_seed_decides_everything():
    a, b, factors = world()
    once, again, other = (compare(a, b, factors, ["mig", "sap"], seed=seed).drop("seconds") for seed in (1, 1, 2))
    assert once.equals(again)
    assert not once["low"].equals(other["low"])


def test_progress_and_rows_are_told():
    a, b, factors = world()
    seen: list[tuple[str, int, int]] = []
    rows: list[int] = []
    names = ["mig", "dci"]
    compare(a, b, factors, names, on_progress=lambda *news: seen.append(news), on_result=lambda t: rows.append(len(t)))
    assert seen == [("mig", 0, 2), ("dci", 1, 2)]
    assert rows == [1, 3]


A, B, V = world()


@pytest.mark.parametrize(
    ("arguments", "settings", "line"),
    [
        ((A,), {}, "there is nothing to compare with: compare(codes_a, codes_b, factors), or "),
        ((A, B[:100], V), {}, "b: codes have 100 rows but factors have 240"),
        ((A, B[:100]), {}, "'a' has 240 rows and 'b' 100: compare takes codes of the same samples, in the same order"),
        (({"one": A},), {"factors": V}, "compare takes two or more sets of codes, got 1"),
        (({"one": A, "two": B}, V), {}, "a mapping already holds all codes: pass the factors as factors=…"),
        ((A, B, V, "mgi"), {}, "no metric is called 'mgi'; did you mean 'mig'?"),
        ((A, B, V), {"floors": False}, "compare has no option floors, which is for single scores: use evaluate"),
        ((A, B, V), {"sed": 1}, "no argument is called 'sed'; did you mean 'seed'?"),
        ((A, B, V), {"samples": 100}, "samples and test_samples are for runs only: with codes, all rows are scored"),
        ((A, B, V), {"test": (A, V)}, "test must hold three arrays: test=(test_codes_a, test_codes_b, test_factors)"),
        (({"a": A, "b": B},), {"factors": V, "test": ({"a": A}, V)}, "there are no test codes for 'b'"),
        (({"a": A, "b": B},), {"factors": V, "test": (A, V)}, "test must be ({name: test_codes, …}, test_factors)"),
        ((A, B, V, "linearity"), {}, "a: the metric 'linearity' needs codebook"),
        ((A, B, None, "mig"), {}, "a: the metric 'mig' needs factors"),
        (("runs/a", "runs/b"), {}, "'runs/a' is a path: open the run first, as unweave.Run.open('runs/a')"),
        ((A, np.full_like(B, np.nan), V), {}, "b: codes hold NaN, an infinity or a value beyond 1e+100"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments, settings, line):
    with pytest.raises(UsageError) as refusal:
        compare(*arguments, **settings)
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)


def test_a_metric_of_other_units_is_refused():
    """The Jacobians of one were taken at fewer samples."""
    mix = np.eye(2)
    inputs = {name: grid_inputs("ima-contrast", mix) for name in ("one", "other")}
    inputs["other"]["jacobians"] = inputs["other"]["jacobians"][:25]
    with pytest.raises(UsageError, match="from 30 units of 'one' and from 25 of 'other'"):
        compare_inputs(inputs, Request("ima-contrast"))


def test_comparing_arrays_needs_no_torch():
    program = (
        "import sys, unweave\n"
        "table = unweave.compare([[0.0], [1.0]] * 200, [[1.0], [0.0]] * 200, [[0], [1]] * 200, 'mig')\n"
        "print(table['difference'].item(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.0", "False"]
