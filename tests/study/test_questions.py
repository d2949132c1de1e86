"""The questions that studies ask, on tables whose answers are planted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars
import pytest
from scipy import stats

import unweave
from unweave.study import analysis

from .test_analysis import grid, table

NAN = pytest.approx(math.nan, nan_ok=True)


def nested(rng: np.random.Generator, counts: list[list[int]], cell: float, seed: float) -> polars.DataFrame:
    """Return a table of methods with cells of so many seeds, drawn with these standard deviations."""
    rows = []
    for m, cells in enumerate(counts):
        for c, n in enumerate(cells):
            rows += [{"data": "data0", "method": f"method{m}", "beta": float(c), "seed": s} for s in range(n)]
    effects = {(f"method{m}", float(c)): m + cell * rng.normal() for m in range(len(counts)) for c in range(9)}
    return table(rows, lambda row: {"mig": effects[row["method"], row["beta"]] + seed * rng.normal()})


def restricted_deviance(found: polars.DataFrame, cell: float, seed: float) -> float:
    """Return minus twice the restricted log-likelihood of variances, from full matrices."""
    y = found["value"].to_numpy()
    x = found.select("method").to_dummies().to_numpy().astype(float)
    same = found.select(polars.struct("method", "beta").rank("dense")).to_series().to_numpy()
    v = cell * (same[:, None] == same) + seed * np.eye(len(y))
    inverse = np.linalg.inv(v)
    means = np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ y)
    residual = y - x @ means
    parts = np.linalg.slogdet(v)[1] + np.linalg.slogdet(x.T @ inverse @ x)[1]
    return float(parts + residual @ inverse @ residual)


@pytest.mark.parametrize("counts", [[[5] * 4] * 3, [[2, 9, 4], [1, 6], [3, 3, 8, 5]]], ids=["balanced", "unbalanced"])
def test_variance_components_have_the_largest_restricted_likelihood(counts: list[list[int]]):
    from scipy.optimize import minimize

    found = nested(np.random.default_rng(0), counts, cell=0.5, seed=0.3)
    (model,) = analysis.variance_components(found, "mig")
    best = minimize(
        lambda logs: restricted_deviance(found, *np.exp(logs)), [-1.0, -1.0], method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12},
    )  # fmt: skip
    assert (model.cell, model.seed) == pytest.approx(tuple(np.exp(best.x)), rel=1e-4)
    assert restricted_deviance(found, model.cell, model.seed) == pytest.approx(best.fun, abs=1e-9)
    assert model.runs == len(found)
    assert sum(model.shares) == pytest.approx(1)


def test_variance_components_of_equal_numbers_of_seeds_are_mean_squares():
    found = nested(np.random.default_rng(1), [[6] * 5] * 3, cell=0.5, seed=0.3)
    (model,) = analysis.variance_components(found, "mig")
    cells = found.group_by("method", "beta").agg(polars.col("value").mean(), polars.col("value").var().alias("within"))
    methods = cells.group_by("method").agg(polars.col("value").var().alias("between"), polars.col("value").mean())
    within, between = cells["within"].to_numpy().mean(), methods["between"].to_numpy().mean()
    assert model.seed == pytest.approx(within)
    assert model.cell == pytest.approx(between - within / 6)
    assert model.means == pytest.approx(dict(methods.select("method", "value").iter_rows()))
    variance = float(np.var(list(model.means.values()), ddof=1)) - between / 5
    assert model.method == pytest.approx(variance * 2 / 3)  # of three given methods, and not of a population


def test_planted_variance_components_are_found_on_average():
    rng = np.random.default_rng(2)
    models = [
        analysis.variance_components(nested(rng, [[5] * 6, [5, 5, 2, 3], [5] * 6], 0.5, 0.3), "mig")[0]
        for _ in range(100)
    ]
    assert np.mean([model.cell for model in models]) == pytest.approx(0.25, rel=0.1)
    assert np.mean([model.seed for model in models]) == pytest.approx(0.09, rel=0.03)
    assert np.mean([model.method for model in models]) == pytest.approx(
        0.8, rel=0.1
    )  # of 0, 1 and 2, with 30, 15 and 30 runs


def test_variance_components_that_the_design_cannot_tell_are_nan():
    rng = np.random.default_rng(3)
    (one_cell,) = analysis.variance_components(nested(rng, [[5], [5]], 0.5, 0.3), "mig")
    assert one_cell.cell == NAN
    assert one_cell.seed == pytest.approx(0.09, rel=0.9)
    (one_run,) = analysis.variance_components(nested(rng, [[1] * 4, [1] * 4], 0.5, 0.3), "mig")
    assert (one_run.cell, one_run.seed) == (NAN, NAN)
    (still,) = analysis.variance_components(nested(rng, [[3] * 4, [3] * 4], 0.5, 0.0), "mig")
    assert still.seed == pytest.approx(0, abs=1e-12)
    assert still.cell > 0.01
    (noise,) = analysis.variance_components(nested(np.random.default_rng(1), [[40] * 3] * 2, 0.0, 1.0), "mig")
    assert noise.cell < 0.03


def scored(seed: int = 4, **changes: Any) -> polars.DataFrame:
    """Return runs whose label-free scores follow, oppose or ignore their quality, on two data sets."""
    rng = np.random.default_rng(seed)

    def score(row: dict[str, Any]) -> dict[str, float]:
        quality = rng.normal() + row["beta"]
        few, more = 0.5 + 0.01 * quality, 0.9 - 0.002 * quality
        return {
            "mig": quality,
            "elbo-bound": -np.exp(quality) if row["data"] == "data0" else rng.normal(),
            "total-correlation": rng.normal(),
            "downstream-logistic-accuracy-100": few,
            "downstream-logistic-accuracy-1000": more,
            "downstream-logistic-accuracy-10000": more if row["data"] == "data0" else few,
            "downstream-gbt-accuracy-100": few,
            "downstream-gbt-accuracy-10000": math.nan,
        }

    return table(grid(**{"data": 2, "count": 10, **changes}), score)


def test_label_free_scores_are_ranked_against_supervised_ones():
    found = analysis.label_free_agreement(scored(), ["elbo-bound", "total-correlation"], ["mig"])
    assert found.columns == ["data", "label_free", "supervised", "correlation", "low", "high", "runs", "seeds"]
    by_name = {(row["data"], row["label_free"]): row for row in found.iter_rows(named=True)}
    assert len(by_name) == 4
    assert by_name["data0", "elbo-bound"]["correlation"] == pytest.approx(-1)
    for data, name in (("data1", "elbo-bound"), ("data0", "total-correlation"), ("data1", "total-correlation")):
        row = by_name[data, name]
        assert row["low"] < 0 < row["high"]
        assert row["low"] < row["correlation"] < row["high"]
        assert (row["runs"], row["seeds"]) == (120, 10)
    with pytest.raises(unweave.UsageError, match="the table has no metric 'elbow'"):
        analysis.label_free_agreement(scored(), ["elbow"], ["mig"])


def test_downstream_accuracy_and_sample_efficiency_are_ranked_against_scores():
    found = analysis.downstream_agreement(scored(), ["mig", "total-correlation"])
    assert found.columns[:4] == ["data", "score", "learner", "target"]
    mig = {
        (row["data"], row["learner"], row["target"]): row["correlation"]
        for row in found.filter(score="mig").iter_rows(named=True)
    }
    assert mig["data0", "logistic", "accuracy-100"] == pytest.approx(1)
    assert mig["data0", "logistic", "accuracy-10000"] == pytest.approx(-1)
    assert mig["data0", "logistic", "efficiency-100"] == pytest.approx(1)
    assert mig["data0", "logistic", "efficiency-1000"] is None  # it is 1 for every run
    assert mig["data1", "logistic", "efficiency-100"] is None
    assert mig["data1", "logistic", "efficiency-1000"] == pytest.approx(-1)
    assert mig["data0", "gbt", "accuracy-100"] == pytest.approx(1)
    assert mig["data0", "gbt", "efficiency-100"] is None  # of too few rows
    assert ("data0", "gbt", "efficiency-1000") not in mig
    other = found.filter(score="total-correlation", target="accuracy-100")["correlation"].to_numpy()
    assert np.abs(other).max() < 0.3
    with pytest.raises(unweave.UsageError, match="no downstream accuracy; add the metric downstream-logistic"):
        analysis.downstream_agreement(scored().filter(metric="mig"), ["mig"])


def test_total_correlation_is_laid_out_by_strength():
    rows = [{**row, "beta": row["beta"] if row["method"] != "method2" else None} for row in grid(data=2, count=5)]
    rng = np.random.default_rng(5)

    def score(row: dict[str, Any]) -> dict[str, float]:
        strength = row["beta"] or 0.0
        return {
            "total-correlation": strength + 0.01 * rng.normal(),
            "total-correlation-sampled": 1 / (1 + strength) + 0.01 * rng.normal(),
            "mig": 0.0,
        }

    given = table(rows, score).with_columns(polars.lit(0.5).alias("width"))
    found = analysis.correlation_by_strength(given)
    assert found.columns[:4] == ["data", "method", "setting", "strength"]
    one = found.filter(data="data1", method="method0")
    assert one["setting"].to_list() == ["beta"] * 4
    assert one["strength"].to_list() == [0.0, 1.0, 2.0, 3.0]
    assert one["mean"].to_list() == pytest.approx([0, 1, 2, 3], abs=0.05)
    assert one["sampled"].to_list() == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4], abs=0.05)
    assert one["seeds"].to_list() == [5] * 4
    assert ((found["mean_low"] < found["mean"]) & (found["mean"] < found["mean_high"])).all()
    (still,) = found.filter(data="data0", method="method2").rows(named=True)
    assert (still["setting"], still["strength"], still["seeds"]) == (None, None, 20)
    with pytest.raises(unweave.UsageError, match="no metric 'total-correlation-sampled'"):
        analysis.correlation_by_strength(given.filter(polars.col("metric") != "total-correlation-sampled"))


def test_a_rank_correlation_is_scipys_with_an_interval_that_ends_before_one():
    rng = np.random.default_rng(6)
    seeds = np.tile(np.arange(6), 5)
    a = rng.integers(0, 9, 30)
    b = a + rng.integers(0, 4, 30)
    found = analysis.rank_correlation(a, b, seeds)
    assert found.correlation is not None
    assert found.correlation == pytest.approx(float(np.asarray(stats.spearmanr(a, b))[0]))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.correlation < found.high < 1
    assert (found.runs, found.seeds) == (30, 6)
    assert analysis.rank_correlation(a, b, seeds % 4).low is None  # four seeds
    assert analysis.rank_correlation(a[:6], b[:6], seeds[:6]).low is None  # six runs
    assert analysis.rank_correlation(np.ones(30), b, seeds).correlation is None
    with_gaps = analysis.rank_correlation(np.where(np.arange(30) < 2, np.nan, a), b, seeds)
    assert with_gaps.runs == 28
