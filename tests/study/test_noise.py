"""Scores under label noise over a folder of runs, and how they correlate with clean ones."""

from __future__ import annotations

import numpy as np
import polars
import pytest
from scipy.stats import pearsonr, spearmanr

import unweave
from unweave.errors import UsageError
from unweave.study import score_under_noise
from unweave.study.analysis import noise_robustness
from unweave.study.table import score_table

OPTIONS = {"net": "mlp", "width": 0.05, "latents": 3, "steps": 2, "batch": 4, "device": "cpu", "threads": 1}
FEW = {"samples": 300, "test_samples": 100, "preset": "fast"}
QUIET = pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for seed in range(2):
        unweave.train("beta-vae", data="xyobject:size=32", out=place / f"s{seed}", seed=seed, **OPTIONS)
    return place


@QUIET
def test_every_regime_is_scored_as_evaluate_does_and_kept(folder, monkeypatch):
    table = score_under_noise(folder, ["mig", "factor-vae-score"], **FEW)
    assert table.columns == ["run", "data", "method", "seed", "metric", "label_noise", "value"]
    assert len(table) == 2 * 2 * 4
    run = unweave.Run.open(folder / "s0")
    for regime in (0, 2):
        found = run.evaluate("mig", label_noise=regime or None, floors=False, intervals=False, **FEW)
        row = table.filter(run="s0", metric="mig", label_noise=regime)
        assert row["value"].item() == found["value"][0]
    monkeypatch.setattr(unweave.Run, "posterior", lambda *_: pytest.fail("encoded again"))
    again = score_under_noise(folder, ["mig", "factor-vae-score"], **FEW)
    assert again.sort(again.columns).equals(table.sort(table.columns))


@QUIET
def test_other_settings_are_kept_beside(folder):
    first = score_under_noise(folder, "mig", regimes=[1], **FEW)
    score_under_noise(folder, "mig", regimes=[1], **{**FEW, "samples": 200})
    assert score_under_noise(folder, "mig", regimes=[1], **FEW).equals(first)


@QUIET
def test_a_clean_score_stays_in_the_table_of_the_study(folder):
    from unweave.study.table import read_records

    run = unweave.Run.open(folder / "s1")
    clean = run.evaluate("mig", floors=False, intervals=False, **FEW)["value"][0]
    run.evaluate("mig", label_noise=3, floors=False, intervals=False, **FEW)
    table = score_table(read_records(folder, cache=False), ["s1"])
    assert table.filter(metric="mig")["value"].to_list() == [clean]


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        ("total-correlation", {}, "'total-correlation' uses no labels, so noise cannot change it; leave it out"),
        ("z-max-variance", {}, "'z-max-variance' intervenes on factors"),
        ("mig", {"regimes": [4]}, "a regime of label noise must be 1, 2 or 3, not 4"),
        ("mig", {"label_noise": 1}, "as regimes, not as label_noise"),
    ],
)
def test_mistakes_get_one_clear_line(folder, metrics, options, message):
    with pytest.raises(UsageError, match=message):
        score_under_noise(folder, metrics, **FEW, **options)


def synthetic(cells: int = 8, seeds: int = 6) -> polars.DataFrame:
    """Scores of cells × seeds whose noise under regime r has deviation r / 10."""
    rng = np.random.default_rng(0)
    rows = []
    for cell in range(cells):
        for seed in range(seeds):
            clean = cell / cells + 0.02 * rng.normal()
            common = {"run": f"{cell}-{seed}", "data": "toy", "method": "beta-vae", "beta": cell, "seed": seed}
            for regime in (0, 1, 3):
                value = clean + regime / 10 * rng.normal() * (regime > 0)
                rows.append({**common, "metric": "mig", "label_noise": regime, "value": value})
    return polars.DataFrame(rows)


def test_the_correlations_are_those_of_the_means_over_seeds():
    table = synthetic()
    found = noise_robustness(table)
    assert found["label_noise"].to_list() == [1, 3]
    means = table.group_by("label_noise", "beta").agg(polars.col("value").mean()).sort("label_noise", "beta")
    clean, *noisy = (part["value"].to_numpy() for part in means.partition_by("label_noise"))
    for row, scores in zip(found.iter_rows(named=True), noisy, strict=True):
        assert row["pearson"] == pytest.approx(pearsonr(clean, scores)[0])
        assert row["spearman"] == pytest.approx(spearmanr(clean, scores)[0])
        assert (row["points"], row["seeds"]) == (8, 6)
        assert row["pearson_low"] < row["pearson"] < row["pearson_high"] <= 1
    assert found["pearson"][0] > found["pearson"][1]


def test_over_runs_every_run_is_a_point():
    table = synthetic()
    found = noise_robustness(table, over="runs").row(1, named=True)
    clean, noisy = (table.filter(label_noise=regime)["value"] for regime in (0, 3))
    assert found["pearson"] == pytest.approx(pearsonr(clean, noisy)[0])
    assert found["points"] == 48


def test_scores_that_noise_does_not_change_correlate_perfectly():
    table = synthetic().filter(label_noise=0)
    same = polars.concat([table, table.with_columns(label_noise=polars.lit(2, polars.Int64))])
    row = noise_robustness(same).row(0, named=True)
    assert (row["pearson"], row["spearman"]) == (pytest.approx(1.0), pytest.approx(1.0))


def test_few_seeds_have_no_interval_and_constant_scores_no_correlation():
    table = synthetic(seeds=3)
    assert noise_robustness(table)["pearson_low"].null_count() == 2
    flat = noise_robustness(table.with_columns(value=polars.lit(0.5)))
    assert flat["pearson"].null_count() == 2


def test_a_run_that_lacks_a_regime_is_left_out():
    table = synthetic()
    fewer = table.filter(~((polars.col("run") == "0-0") & (polars.col("label_noise") == 3)))
    whole = noise_robustness(table.filter(polars.col("run") != "0-0"))
    assert noise_robustness(fewer).equals(whole)


def test_wrong_tables_are_refused():
    with pytest.raises(UsageError, match="no column label_noise"):
        noise_robustness(synthetic().drop("label_noise"))
    with pytest.raises(UsageError, match="no metric 'dci'"):
        noise_robustness(synthetic(), ["dci"])
