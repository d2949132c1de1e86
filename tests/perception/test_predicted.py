"""Predictions beside what runs have learnt."""

from __future__ import annotations

import numpy as np
import polars
import pytest

import unweave
from unweave.errors import UsageError
from unweave.perception import Predictions, predicted_and_learned
from unweave.perception.predicted import LEARNT, NOISE, PREDICTED, LeftOut, interchangeable, learned


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("study")
    for seed in (0, 1):
        unweave.train(
            "beta-vae",
            data="shapes2d:size=32",
            steps=3,
            batch=8,
            net="mlp",
            width=0.02,
            loss="mse",
            seed=seed,
            out=place / "runs" / f"run{seed}",
            progress=False,
        )
    return place


def test_every_factor_of_every_run_has_a_row(folder):
    found = predicted_and_learned(folder, pairs=500, samples=300).rows
    assert len(found) == 10
    assert found["run"].n_unique() == 2
    assert found["factor"].unique(maintain_order=True).to_list() == ["shape", "scale", "orientation", "x", "y"]
    assert set(PREDICTED) | set(LEARNT) | {"verdict", "data", "loss", "method", "seed"} <= set(found.columns)
    for name in LEARNT:
        assert found[name].is_between(0, 1).all()


def test_runs_may_be_given_in_any_way(folder):
    from unweave import Run

    one = folder / "runs" / "run0"
    by_folder = predicted_and_learned(one, pairs=200, samples=100)
    by_run = predicted_and_learned([Run.open(one)], pairs=200, samples=100)
    by_folder_of_runs = predicted_and_learned(folder / "runs", pairs=200, samples=100)
    assert by_folder.rows.equals(by_run.rows)
    assert len(by_folder_of_runs.rows) == 10


def rows(learnt: list[list[float]], predicted: list[float]) -> Predictions:
    """Return predictions for runs of four factors."""
    table = [
        {
            "run": f"run{run}",
            "factor": str(k),
            **dict.fromkeys(PREDICTED, predicted[k]),
            **dict.fromkeys(LEARNT, value),
            "verdict": "seen" if predicted[k] > 0.5 else "confused",
        }
        for run, values in enumerate(learnt)
        for k, value in enumerate(values)
    ]
    return Predictions(polars.DataFrame(table))


def test_agreement_is_spearman_s_with_an_interval_over_runs():
    rng = np.random.default_rng(0)
    predicted = [0.1, 0.4, 0.6, 0.9]
    found = rows([(np.array(predicted) + rng.normal(0, 0.1, 4)).tolist() for _ in range(8)], predicted)
    agreement = found.agreement().filter(predicted="order", learnt="information").row(0, named=True)
    assert (agreement["runs"], agreement["runs_within"]) == (8, 8)
    assert 0.7 < agreement["low"] < agreement["correlation"] < agreement["high"] < 1
    assert agreement["within_low"] < agreement["within"]
    assert agreement["correlation"] > 0.85
    shuffled = rows([rng.random(4).tolist() for _ in range(8)], predicted)
    chance = shuffled.agreement().filter(predicted="order", learnt="gap").row(0, named=True)
    assert chance["low"] < 0 < chance["high"]


def test_equal_predictions_say_nothing_within_a_run():
    agreement = rows([[0.1, 0.2, 0.3, 0.4]] * 3, [0.5] * 4).agreement().row(0, named=True)
    assert agreement["correlation"] is None
    assert agreement["within"] is None
    assert agreement["runs_within"] == 0


def referee(predicted: list[float], learnt: list[float]) -> float:
    """Return 1 - 6 Σ d² / (n (n² - 1)), d the differences of ranks without ties."""
    n = len(predicted)
    first, second = ([sorted(values).index(value) for value in values] for values in (predicted, learnt))
    return 1 - 6 * sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) / (n * (n**2 - 1))


def test_within_a_run_is_the_mean_of_the_formula_over_the_same_runs_for_all_predictions():
    predictions = {
        "signal": [10.0, 20.0, 30.0, 40.0],
        "order": [0.6, 0.8, 0.7, 0.9],
        "rank": [0.9, 0.8, 0.7, 0.6],
        "relative": [0.4, 0.1, 0.3, 0.2],
        "worth": [50.0, 33.0, 75.0, 50.1],
    }
    learnt = [[0.1, 0.3, 0.2, 0.4], [0.4, 0.2, 0.1, 0.3], [0.0, 0.1, 0.2, 0.3]]
    table = rows(learnt, [0.0] * 4).rows.with_columns(
        polars.Series(name, values * 3) for name, values in predictions.items()
    )
    equal = rows([[0.1, 0.2, 0.3, 0.4]] * 4, [0.0] * 4).rows.with_columns(  # only noise orders these factors
        polars.Series(name, [1.0, 1.01, 1.02, 1.03] * 4) for name in PREDICTED
    )
    both = Predictions(polars.concat([table, equal.with_columns(run=polars.lit("equal ") + polars.col("run"))]))
    assert both.within()["run"].unique().sort().to_list() == ["run0", "run1", "run2"]
    for row in both.agreement().iter_rows(named=True):
        expected = np.mean([referee(predictions[row["predicted"]], values) for values in learnt])
        assert row["within"] == pytest.approx(expected)
        assert (row["runs"], row["runs_within"]) == (7, 3)


def test_every_prediction_is_compared_on_the_same_factors_and_runs():
    """A prediction that is constant or unknown in a run leaves the run, or the factor, out for all of them."""
    table = rows([[0.1, 0.2, 0.3, 0.4]] * 3, [0.1, 0.4, 0.6, 0.9]).rows
    one = polars.col("run") == "run1"
    constant = table.with_columns(order=polars.when(one).then(0.5).otherwise(polars.col("order")))
    agreement = Predictions(constant).agreement()
    assert set(agreement["runs_within"]) == {2}
    unknown = table.with_columns(worth=polars.when(one & (polars.col("factor") > "1")).then(None).otherwise("worth"))
    agreement = Predictions(unknown).agreement()
    assert set(agreement["runs_within"]) == {2}
    assert agreement["correlation"].to_list() == pytest.approx([1.0] * len(agreement))


def test_fewer_pairs_leave_more_noise():
    worth, order = np.array([100.0, 90.0]), np.array([0.5, 0.5])
    assert not interchangeable(worth, order, 16_384)
    assert interchangeable(worth, order, 512)
    limit = (NOISE / 0.1) ** 2
    assert interchangeable(worth, order, int(limit) - 10)
    assert not interchangeable(worth, order, int(limit) + 10)


def test_means_by_verdict():
    found = rows([[0.0, 0.2, 0.8, 1.0]], [0.1, 0.4, 0.6, 0.9]).by_verdict()
    assert dict(found.select("verdict", "information").iter_rows()) == pytest.approx({"seen": 0.9, "confused": 0.1})


def test_what_is_learnt_is_the_share_that_the_best_latent_knows():
    factors = np.stack(np.unravel_index(np.arange(40), (4, 10)), axis=1)
    codes = np.stack([factors[:, 0], factors[:, 0], np.zeros(40)], axis=1).astype(np.float32)
    found = learned(codes, factors)
    assert found["information"] == pytest.approx([1.0, 0.0], abs=1e-9)
    assert found["gap"] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_runs_that_say_nothing_are_left_out(folder, tmp_path):
    images = np.random.default_rng(0).integers(0, 256, size=(20, 8, 8, 1), dtype=np.uint8)
    bare = unweave.train(
        "beta-vae", data=images, steps=2, batch=4, net="mlp", width=0.02, out=tmp_path / "bare", progress=False
    )
    with pytest.warns(LeftOut, match="left out: 1 of 2 runs"):
        found = predicted_and_learned([bare, folder / "runs" / "run0"], pairs=200, samples=100)
    assert found.rows["run"].n_unique() == 1
    with pytest.raises(UsageError, match="none of 1 runs is finished"):
        predicted_and_learned(bare)


def test_mistakes_get_one_line(tmp_path):
    with pytest.raises(UsageError, match="there is no folder"):
        predicted_and_learned(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="holds no runs"):
        predicted_and_learned(tmp_path)
