"""One registration: a metric is one function, and its table entry is read off its signature."""

from __future__ import annotations

import inspect
import json
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
import pytest
from numpy.typing import ArrayLike

import unweave.metrics
from unweave.errors import UsageError
from unweave.metrics import METRICS, Metric, dci, evaluate, mcc, metric, mig
from unweave.metrics.dci import DCI
from unweave.metrics.metric import INPUTS, NO_OPTIONS
from unweave.metrics.resampling import Sampled, by_rows

PUBLIC = [name for name in unweave.metrics.__all__ if isinstance(getattr(unweave.metrics, name), Metric)]
every_metric = pytest.mark.parametrize("name", METRICS)


def test_every_public_metric_is_in_the_table():
    functions = {entry.sample for entry in METRICS.values()}
    public = {getattr(unweave.metrics, name).sample for name in PUBLIC}
    assert len(PUBLIC) > 25
    assert public == functions


@pytest.mark.parametrize("name", PUBLIC)
def test_a_function_that_people_call_says_what_it_takes_and_gives(name):
    function = getattr(unweave.metrics, name)
    assert function.__name__ == name
    assert "Parameters\n" in function.__doc__
    assert "Returns\n" in function.__doc__
    assert ">>> " in function.__doc__
    returned = inspect.signature(function).return_annotation
    assert returned is float or issubclass(returned, tuple)


@every_metric
def test_needs_options_and_parts_are_those_of_the_signature(name):
    entry = METRICS[name]
    parameters = inspect.signature(entry.sample).parameters
    assert {*entry.needs, *entry.options} == {*parameters} - {"data", *entry.unused}
    assert not {*entry.needs} & {*entry.options}
    assert {need for need in entry.needs if need not in ("test", "seed", "categorical")} <= {*INPUTS}
    for option, value in entry.options.items():
        assert value == entry.bound.get(option, parameters[option].default)
        assert value is not inspect.Parameter.empty
    (scored,) = get_args(get_type_hints(entry.sample)["return"])
    assert entry.parts == tuple(part.replace("_", "-") for part in getattr(scored, "_fields", ()))


@every_metric
def test_what_an_entry_says_is_about_that_metric(name):
    entry = METRICS[name]
    assert {*entry.fast, *entry.bound} <= {*entry.options}
    assert {*entry.unsteady, *entry.no_floor} <= {*(entry.parts or ("",))}
    assert entry.range[0] < entry.range[1]
    assert entry.reference
    assert entry.measures
    assert entry.shuffles >= 1
    assert entry.representation in ("mean", "sampled")
    assert entry.supervised == any(need in entry.needs for need in ("factors", "encode", "source"))


def test_calling_a_metric_gives_the_score_and_sample_what_can_be_resampled():
    codes, factors = np.arange(40.0)[:, None], np.arange(40)[:, None] % 2
    assert mig(codes, factors, bins=4) == mig.sample(codes, factors, bins=4).score
    assert isinstance(dci(codes, factors, learner="lasso"), DCI)


def test_a_variant_is_the_same_function_with_other_options(worlds):
    codes, factors = worlds["noisy"](300, np.random.default_rng(0))
    rank = mcc.variant({"kind": "rank"}, continuous=False)
    assert rank.options == {"kind": "rank"}
    assert mcc.options == {"kind": "linear"}
    assert rank(codes, factors) == mcc(codes, factors, kind="rank") != mcc(codes, factors)
    assert rank(codes, factors, kind="linear") == mcc(codes, factors)
    assert mcc.continuous
    assert not rank.continuous


def test_options_by_hand_stand_in_for_those_of_a_preset():
    entry = METRICS["distance-correlation"]
    assert entry.chosen_options("paper", {}) == {"pairs": 131_072}
    assert entry.chosen_options("fast", {}) == {"pairs": 16_384}
    assert entry.chosen_options("fast", {"pairs": 7}) == {"pairs": 7}
    with pytest.raises(UsageError, match="no option is called 'pair'; did you mean 'pairs'"):
        entry.chosen_options("paper", {"pair": 7})
    with pytest.raises(UsageError, match="the metric has no options: leave out 'bins'"):
        METRICS["explicitness"].chosen_options("paper", {"bins": 7})


class Toy(NamedTuple):
    """Two parts."""

    near: float
    far_off: float


@metric("nobody", "nothing", range=(0.0, 2.0), fast={"power": 1})
def toy(codes: ArrayLike, factors: ArrayLike, *, power: int = 2, seed: int = 0) -> Sampled[Toy]:
    """Do codes follow factors?"""

    def score(some: np.ndarray, of: np.ndarray) -> Toy:
        follows = np.abs(np.corrcoef(some[:, 0], of[:, 0])[0, 1]) ** power
        return Toy(float(follows), float(2 * follows))

    return by_rows(score, np.asarray(codes), np.asarray(factors), replicates=20)


@metric("nobody", "nothing", higher_is_better=False)
def distance(codes: ArrayLike, factors: ArrayLike) -> Sampled[float]:
    """How far are codes from factors?"""

    def score(some: np.ndarray, of: np.ndarray) -> float:
        return float(np.mean(some[:, :1] != of[:, :1]))

    return by_rows(score, np.asarray(codes), np.asarray(factors), replicates=20)


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(800, 1))
    return factors + rng.normal(0, 0.5, size=(800, 3)), factors


def rows_of(*args: Any, **settings: Any) -> list[dict[str, Any]]:
    return list(evaluate(*args, **settings).iter_rows(named=True))


def test_a_metric_of_your_own_takes_one_line(sample, monkeypatch):
    monkeypatch.setitem(METRICS, "toy", toy)
    codes, factors = sample
    near, far = rows_of(codes, factors, "toy")
    expected = np.corrcoef(codes[:, 0], factors[:, 0])[0, 1] ** 2
    assert (near["metric"], far["metric"]) == ("toy-near", "toy-far-off")
    for row, times in ((near, 1), (far, 2)):
        assert row["value"] == pytest.approx(times * expected)
        assert row["low"] < row["value"] < row["high"] <= 2.0
        assert row["floor"] == pytest.approx(0.0, abs=0.02)
        assert row["ceiling"] == pytest.approx(times)
        assert row["adjusted"] == pytest.approx(expected, abs=0.02)
        assert json.loads(row["options"]) == {"power": 2, "rows": 800, "seed": 0}
    fast, _ = rows_of(codes, factors, "toy", preset="fast")
    assert fast["value"] == pytest.approx(np.sqrt(expected))
    by_hand, _ = rows_of(codes, factors, "toy", options={"toy": {"power": 4}})
    assert by_hand["value"] == pytest.approx(expected**2)
    with pytest.raises(UsageError, match="the metric 'toy' needs factors"):
        evaluate(codes, metrics="toy")


def test_a_metric_of_which_less_is_better(monkeypatch):
    monkeypatch.setitem(METRICS, "distance", distance)
    rng = np.random.default_rng(0)
    factors = rng.integers(4, size=(4000, 1))
    wrong = rng.random((4000, 1)) < 0.3
    (row,) = rows_of(np.where(wrong, 9, factors).astype(float), factors, "distance", intervals=False)
    assert row["ceiling"] == 0.0
    assert row["floor"] == pytest.approx(1 - 0.7 / 4, abs=0.02)
    assert row["adjusted"] == pytest.approx((row["floor"] - wrong.mean()) / row["floor"])


def test_a_metric_of_codes_alone(sample, monkeypatch):
    @metric("nobody", "capacity", range=(0.0, np.inf), higher_is_better=None)
    def widest(codes: ArrayLike) -> Sampled[float]:
        return by_rows(lambda rows: float(np.ptp(rows, axis=0).max()), np.asarray(codes))

    monkeypatch.setitem(METRICS, "widest", widest)
    (row,) = rows_of(*sample, "widest")
    assert row["value"] == pytest.approx(np.ptp(sample[0], axis=0).max())
    assert row["floor"] is row["ceiling"] is row["adjusted"] is None


def test_names_that_hold_data_are_no_options():
    assert {*INPUTS} < NO_OPTIONS
    assert not {option for entry in METRICS.values() for option in entry.options} & NO_OPTIONS
