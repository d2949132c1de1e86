"""Planted noise, spreads and effects are found again, and the page is that of the stored table."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan
from pathlib import Path

import metric_audit_docs as docs
import numpy as np
import pages
import polars
import pytest

from unweave.metrics import METRICS
from unweave.reproduce import find, reproduce
from unweave.reproduce.metric_audit_design import COSTLY, PRESETS, Settings, metric_of_part, scores_rows
from unweave.reproduce.metric_audit_figures import audit_figure
from unweave.reproduce.metric_audit_table import Audit, Contrast, as_csv, audits, conclusions, noise_of, read_csv
from unweave.study.analysis.power import seeds_for_power

SETTINGS = Settings(
    data=("world",), strengths=(1.0, 4.0, 16.0), seeds=400, steps=100, snapshot=50,
    metrics=("mig", "factor-vae-score", "dci"), rows=(1000, 4000),
)  # fmt: skip
EFFECTS = {(1.0, 100): 0.0, (4.0, 100): 0.5, (16.0, 100): 2.5, (1.0, 50): 0.0, (4.0, 50): -0.5, (16.0, 50): 2.5}
"""The mean of each cell in standard deviations over seeds: effects of 0.5, 2 and 1."""
SPREAD = {"mig": 0.1, "factor-vae-score": 0.02, "dci-completeness": 0.3}
NOISE = 0.06
"""At 1,000 rows."""


def planted(seeds: int = SETTINGS.seeds) -> polars.DataFrame:
    """Return a table of scores with known effects and spreads."""
    rng = np.random.default_rng(0)
    rows = [
        {"run": f"{beta}-{seed}", "data": "world", "method": "beta-vae", "beta": beta, "seed": seed, "step": step,
         "metric": metric, "value": 0.4 + spread * (shift + rng.normal())}
        for metric, spread in SPREAD.items() for (beta, step), shift in EFFECTS.items() for seed in range(seeds)
    ]  # fmt: skip
    return polars.DataFrame(rows)


def scored_again(draws: int = 300) -> polars.DataFrame:
    """Return scores of two runs whose noise falls with the root of the number of rows."""
    rng = np.random.default_rng(1)
    rows = [
        {"run": run, "data": "world", "rows": rows, "metric": metric,
         "value": place + spread * NOISE * np.sqrt(1000 / rows) * rng.normal()}
        for metric, spread in SPREAD.items() for rows in (1000, 4000)
        for place, run in enumerate(("one", "other")) for _ in range(draws)
    ]  # fmt: skip
    return polars.DataFrame(rows)


@pytest.fixture(scope="module")
def found() -> list[Audit]:
    return audits(SETTINGS, planted(), scored_again(), {"mig": 0.75})


def test_planted_spread_noise_and_effects_are_found(found: list[Audit]):
    by_metric = {audit.metric: audit for audit in found}
    assert set(by_metric) == set(SPREAD)
    for metric, spread in SPREAD.items():
        audit = by_metric[metric]
        assert audit.spread == pytest.approx(spread, rel=0.05)
        assert audit.mean == pytest.approx(0.4 + 0.5 * spread, abs=0.2 * spread)
        assert audit.few_noise == pytest.approx(spread * NOISE, rel=0.1)
        assert audit.many_noise == pytest.approx(spread * NOISE / 2, rel=0.1)
        assert audit.noise_share(audit.few_noise) == pytest.approx(NOISE, rel=0.15)
        effects = {name: each.effect for name, each in audit.contrasts.items()}
        assert effects == {name: pytest.approx(effect, abs=0.25) for name, effect in zip(
            ("weak", "strong", "steps"), (0.5, 2.0, 1.0), strict=True
        )}  # fmt: skip
        assert all(each.low < each.effect < each.high for each in audit.contrasts.values())
        assert audit.typical is audit.contrasts["steps"]
        assert audit.typical.seeds == seeds_for_power(audit.contrasts["steps"].effect)


def test_rows_are_needed_of_metrics_that_score_rows_and_claims_of_those_that_have_one(found: list[Audit]):
    by_metric = {audit.metric: audit for audit in found}
    expected = 4000 * (3 * NOISE / 2) ** 2
    for metric in ("mig", "dci-completeness"):
        assert by_metric[metric].rows_needed == pytest.approx(expected, rel=0.3)
    assert by_metric["factor-vae-score"].rows_needed is None
    assert (by_metric["mig"].claims_met, by_metric["factor-vae-score"].claims_met) == (0.75, None)


def test_metrics_come_in_the_order_of_the_seeds_they_need():
    table = planted(20)
    sharper = polars.col("value") + polars.when(polars.col("beta") == 16).then(9.0).otherwise(0.0)
    sharper += polars.when(polars.col("step") == 100).then(5.0).otherwise(0.0)
    table = table.with_columns(value=polars.when(polars.col("metric") == "mig").then(sharper).otherwise("value"))
    ordered = audits(SETTINGS, table, scored_again(5), {})
    assert ordered[0].metric == "mig"
    assert ordered[0].typical.seeds == 2
    assert [audit.typical.seeds for audit in ordered] == sorted(audit.typical.seeds for audit in ordered)


def test_two_strengths_have_two_contrasts_and_the_harder_one_counts():
    two = replace(SETTINGS, strengths=(1.0, 4.0))
    audit = audits(two, planted().filter(polars.col("metric") == "mig"), scored_again(), {})[0]
    assert set(audit.contrasts) == {"weak", "steps"}
    assert audit.typical is audit.contrasts["weak"]


def test_a_score_that_never_varies_tells_nothing():
    table = planted(4).with_columns(value=polars.lit(0.25))
    again = scored_again(4).with_columns(value=polars.lit(0.25))
    audit = audits(SETTINGS, table, again, {})[0]
    assert (audit.spread, audit.few_noise, audit.rows_needed) == (0, 0, None)
    assert {each.seeds for each in audit.contrasts.values()} == {inf}
    assert isnan(audit.noise_share(audit.few_noise))
    assert audit_figure([audit]).axes
    assert isnan(noise_of(again.head(0)))


def test_the_interval_of_seeds_is_that_of_the_effect():
    contrast = Contrast(1.0, 0.4, 1.6)
    assert (contrast.fewest_seeds, contrast.seeds, contrast.most_seeds) == (8, 17, 100)
    assert Contrast(-1.0, -1.6, -0.4).most_seeds == 100
    assert Contrast(0.2, -0.4, 0.8).most_seeds == inf


def test_the_table_survives_its_file(found: list[Audit]):
    constant = audits(SETTINGS, planted(3).with_columns(value=polars.lit(1.0)), scored_again(3).head(0), {})
    for table in (found, constant):
        again = read_csv(as_csv(table))
        assert as_csv(again) == as_csv(table)
        assert [each.metric for each in again] == [each.metric for each in table]
    first = read_csv(as_csv(found))[0]
    assert first.contrasts["weak"] == pytest.approx(found[0].contrasts["weak"], rel=1e-5)


def test_the_conclusions_count(found: list[Audit]):
    text = " ".join(conclusions(found))
    assert "of 3 scores, 0 distinguish the cells of the typical contrast with five seeds or fewer: none." in text
    assert "at 1,000 rows, scoring again changes 0 scores" in text


def test_what_is_scored_is_known():
    parts = metric_of_part(PRESETS["small"].metrics)
    assert parts["dci-disentanglement"] == "dci"
    assert not {*parts.values()} & {*COSTLY}
    assert [scores_rows(name) for name in ("mig", "dci", "factor-vae-score", "ima-contrast")] == [
        True,
        True,
        False,
        False,
    ]
    for settings in PRESETS.values():
        assert set(settings.metrics) <= set(METRICS)
        assert settings.middle in settings.strengths
        assert settings.snapshot < settings.steps
    assert PRESETS["small"].count() == 30


def test_the_page_is_that_of_the_stored_table():
    """If not: `python benchmarks/metric_audit_docs.py` writes the page from the file."""
    page = docs.PAGE.read_text(encoding="utf-8")
    for name, text in docs.blocks(docs.stored()).items():
        assert pages.block(name, text) in page


def test_a_stored_table_is_written_into_the_page(found: list[Audit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page, audit = tmp_path / "page.md", tmp_path / "audit.csv"
    page.write_text(docs.PAGE.read_text())
    audit.write_text(as_csv(found))
    for name, path in (("PAGE", page), ("STORED", tmp_path / "stored.csv"), ("FIGURE", tmp_path / "figure.png")):
        monkeypatch.setattr(docs, name, path)
    docs.main(["--audit", str(audit)])
    text = page.read_text()
    assert "| metric | mean | spread | noise, 1,000 rows | noise, 4,000 rows |" in text
    assert text.count("\n| `") == 3 + docs.PAGE.read_text().count("\n| `") - len(docs.stored())
    assert (tmp_path / "figure.png").stat().st_size > 5_000
    assert "stored." not in text.partition("<!-- /notes -->")[0].partition("<!-- notes -->")[2]


def test_smoke_audits_every_metric_and_keeps_the_study(tmp_path: Path):
    outcome = reproduce("metric-audit", preset="smoke", out=tmp_path / "result", workers=1)
    settings = PRESETS["smoke"]
    assert len(list((tmp_path / "result" / "study" / "runs").glob("*/weights.safetensors"))) == settings.count()
    audit = read_csv((tmp_path / "result" / "audit.csv").read_text())
    assert {each.metric for each in audit} == {*settings.metrics}
    assert len(outcome.findings.rows) == len(settings.metrics)
    by_metric = {each.metric: each for each in audit}
    assert by_metric["mig"].few_noise > by_metric["mig"].many_noise * 0.5 > 0
    assert by_metric["mig"].claims_met is not None
    assert by_metric["total-correlation"].claims_met is None
    scores = polars.read_csv(tmp_path / "result" / "rescored.csv")
    assert len(scores) == 2 * 2 * settings.rescorings * len(settings.metrics)
    # Scoring again leaves the study's own scores as they are: one for each run, step and metric.
    run = next((tmp_path / "result" / "study" / "runs").glob("*/scores.parquet"))
    kept = polars.read_parquet(run).drop_nulls("value")
    assert kept.select("step", "metric").is_unique().all()
    assert find("metric-audit")().folder is None
