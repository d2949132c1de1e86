"""Analyses of tables whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars
import pytest
from scipy import stats

import unweave
from unweave.study import analysis
from unweave.study.analysis import seeds


def table(rows: list[dict[str, Any]], score: Callable[[dict[str, Any]], dict[str, float]]) -> polars.DataFrame:
    """Return a tidy table with the scores of each run."""
    found = []
    for number, row in enumerate(rows):
        settings = {"run": str(number), "data": row["data"], "method": row["method"], "beta": row["beta"]}
        for metric, value in score(row).items():
            found.append({**settings, "seed": row["seed"], "step": 10, "metric": metric, "value": value})
    return polars.DataFrame(found)


def grid(data: int = 1, methods: int = 3, betas: int = 4, count: int = 20) -> list[dict[str, Any]]:
    return [
        {"data": f"data{d}", "method": f"method{m}", "beta": float(b), "seed": s}
        for s in range(count)
        for d in range(data)
        for m in range(methods)
        for b in range(betas)
    ]


def test_planted_shares_of_variance_are_found():
    rng = np.random.default_rng(0)
    methods, strengths = np.array([-1.0, 0.0, 1.0]), np.array([-0.6, 0.6, -0.6, 0.6])
    rows = grid(count=200)
    planted = table(
        rows,
        lambda row: {"mig": methods[int(row["method"][-1])] + strengths[int(row["beta"])] + 0.8 * rng.normal()},
    )
    (found,) = analysis.variance_shares(planted, "mig")
    between, strength, noise = methods.var(), strengths.var(), 0.64
    total = between + strength + noise
    assert found.method == pytest.approx(between / total, abs=0.03)
    assert found.cell == pytest.approx((between + strength) / total, abs=0.03)
    assert found.seed == 1 - found.cell
    assert found.runs == len(rows)


def test_the_adjusted_share_of_meaningless_groups_is_zero():
    rng = np.random.default_rng(1)
    shares = [
        analysis.variance_shares(table(grid(count=5), lambda row: {"mig": rng.normal()}), "mig")[0] for _ in range(60)
    ]
    assert np.mean([share.cell for share in shares]) == pytest.approx(11 / 59, abs=0.03)  # (G - 1) / (N - 1)
    assert np.mean([share.cell_adjusted for share in shares]) == pytest.approx(0, abs=0.03)


def test_shares_agree_with_least_squares():
    rng = np.random.default_rng(2)
    planted = table(grid(count=3), lambda row: {"mig": rng.normal() + row["beta"]})
    (found,) = analysis.variance_shares(planted, "mig")
    y = planted["value"].to_numpy()
    x = planted.select("method", "beta").to_dummies(["method", "beta"]).to_numpy()
    cells = np.unique(planted.select(polars.struct("method", "beta").rank("dense")).to_numpy(), return_inverse=True)[1]
    one_hot = np.eye(cells.max() + 1)[cells.ravel()]
    for design, share in ((x[:, :3], found.method), (one_hot, found.cell)):
        residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        assert share == pytest.approx(1 - residual @ residual / np.square(y - y.mean()).sum())


def test_rank_correlations_of_metrics_are_scipys_on_each_data_set():
    rng = np.random.default_rng(3)

    def score(row: dict[str, Any]) -> dict[str, float]:
        base, sign = rng.normal(), 1 if row["data"] == "data0" else -1
        return {"mig": base, "dci": np.exp(sign * base), "sap": rng.normal(), "still": 1.0}

    found = analysis.metric_agreement(table(grid(data=2, count=10), score))
    by_pair = {(row["data"], row["first"], row["second"]): row["correlation"] for row in found.iter_rows(named=True)}
    assert by_pair["data0", "mig", "dci"] == pytest.approx(1)
    assert by_pair["data1", "mig", "dci"] == pytest.approx(-1)
    assert abs(by_pair["data0", "mig", "sap"]) < 0.3
    assert by_pair["data0", "mig", "still"] is None
    assert len(found) == 2 * 6


@pytest.mark.parametrize("linked", ["everything", "metric", "nothing"])
def test_transfer_of_worlds_with_known_answers(linked: str):
    rng = np.random.default_rng(4)
    shared = rng.normal(size=12)
    own = rng.normal(size=(2, 3, 12))  # by metric and data set

    def score(row: dict[str, Any]) -> dict[str, float]:
        cell, data = 4 * int(row["method"][-1]) + int(row["beta"]), int(row["data"][-1])
        values = {}
        for number, metric in enumerate(("mig", "dci")):
            quality = {"everything": shared[cell], "metric": own[number, 0, cell], "nothing": own[number, data, cell]}
            values[metric] = quality[linked] + 1e-3 * rng.normal()
        return values

    found = analysis.transfer(table(grid(data=3, count=4), score))
    assert None not in (found.same, found.other_data, found.other_metric, found.both_other)
    beaten = pytest.approx(11.5 / 12, abs=0.02)  # all other cells, and about half of its own
    assert found.same == beaten
    assert (found.other_data == beaten) == (linked != "nothing")
    assert (found.both_other == beaten) == (linked == "everything")


def test_transfer_of_noise_is_a_coin():
    rng = np.random.default_rng(5)
    found = analysis.transfer(table(grid(data=4, count=10), lambda row: {"mig": rng.normal(), "dci": rng.normal()}))
    for chance in (found.same, found.other_data, found.other_metric, found.both_other):
        assert chance == pytest.approx(0.5, abs=0.12)


def test_the_interquartile_mean_is_that_of_a_repeated_sample():
    rng = np.random.default_rng(6)
    for n in (3, 5, 8, 11):
        scores = rng.normal(size=n)
        four = np.sort(np.repeat(scores, 4))  # whose quarters are whole
        assert analysis.interquartile_mean(scores) == pytest.approx(four[n : 3 * n].mean())


def test_improvement_is_the_area_under_the_curve():
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 5, 12), rng.integers(0, 5, 9)
    found = analysis.improvement(a, b)
    assert found.value == pytest.approx(stats.mannwhitneyu(a, b).statistic / (12 * 9))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


def test_fewer_than_five_seeds_have_no_interval():
    assert analysis.over_seeds([0.1, 0.2, 0.3, 0.4]) == analysis.Interval(0.25, None, None, 4)
    assert analysis.improvement([1.0] * 9, [0.0] * 4).low is None
    few = analysis.summary(table(grid(count=4), lambda row: {"mig": row["seed"] + row["beta"]}), "mig")
    assert few.columns == ["data", "method", "beta", "step", "seeds", "value", "low", "high"]
    assert few["low"].null_count() == len(few) == 12
    assert few.filter(beta=2.0)["value"].to_list() == [3.5] * 3


def test_the_interval_of_a_mean_is_students_for_normal_scores():
    scores = np.random.default_rng(8).normal(size=30)
    found = analysis.over_seeds(scores)
    low, high = stats.t.interval(0.95, 29, scores.mean(), stats.sem(scores))
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)


def covered(draw: Callable[[np.random.Generator, int], np.ndarray], n: int, trials: int, truth: float) -> float:
    intervals = [analysis.over_seeds(draw(np.random.default_rng(k), n), seed=k) for k in range(trials)]
    return float(np.mean([(i.low or 0) <= truth <= (i.high or 0) for i in intervals]))


def test_the_interval_covers_the_mean_of_five_seeds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(seeds, "RESAMPLES", 5000)
    assert 0.90 <= covered(lambda rng, n: rng.normal(1, 0.1, n), 5, 300, 1.0) <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10, 20, 50])
@pytest.mark.parametrize("skewed", [False, True])
def test_intervals_over_seeds_cover_as_often_as_they_say(n: int, skewed: bool):
    draw = (lambda rng, n: rng.beta(8, 4, n)) if skewed else (lambda rng, n: rng.normal(0.5, 0.1, n))
    assert 0.92 <= covered(draw, n, 1500, 2 / 3 if skewed else 0.5) <= 0.98


def test_pairs_of_cells_are_compared_on_the_same_data_with_holms_correction():
    rng = np.random.default_rng(9)
    shifted = table(
        grid(data=2, methods=2, betas=2, count=6),
        lambda row: {"mig": rng.normal() + 5 * (row["method"] == "method1")},
    )
    found = analysis.compare_cells(shifted, "mig")
    assert len(found) == 2 * 6
    apart = found.filter(polars.col("first").str.contains("method0") & polars.col("second").str.contains("method1"))
    assert (apart["p_holm"] < 0.05).all()
    assert (apart["difference"] < 0).all()
    alike = found.join(apart, on=["first", "second"], how="anti")
    assert (alike["p_holm"] > 0.05).all()
    one = shifted.filter(metric="mig", data="data0", beta=0.0)
    expected = stats.ttest_ind(*(one.filter(method=f"method{m}")["value"].to_numpy() for m in (0, 1)), equal_var=False)
    first = found.filter(first="method0 data0 beta=0.0", second="method1 data0 beta=0.0")
    assert first["p"].item() == pytest.approx(np.asarray(expected)[1])


def test_holm_is_never_below_the_plain_value_nor_falling():
    p = np.random.default_rng(10).random(20)
    found = np.array(analysis.holm(p.tolist()))
    assert (found >= p).all()
    assert (np.diff(found[np.argsort(p)]) >= 0).all()
    assert found.min() == pytest.approx(min(1, 20 * p.min()))


def test_a_metric_that_is_not_there_is_named():
    with pytest.raises(unweave.UsageError, match=r"the table has no metric 'dci' \(it has: mig\)"):
        analysis.summary(table(grid(count=2), lambda row: {"mig": 0.0}), "dci")


def test_students_quantile_is_that_of_scipy():
    from unweave.study.analysis.seeds import student

    for df in (*range(1, 60), 255, 999, 1000):
        assert student(df) == pytest.approx(stats.t.ppf(0.975, df), rel=1e-10)  # scipy 1.15 has ten digits
