"""The design is that of the published study, and planted answers are found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import challenging_docs
import numpy as np
import pages
import polars
import pytest

from unweave.reproduce import find, reproduce
from unweave.reproduce.challenging_design import PRESETS, PUBLISHED_DATA, SWEEPS, with_strengths
from unweave.reproduce.challenging_findings import (
    ACCURACY,
    FEW_ROWS,
    MEAN,
    SAMPLED,
    agreeing_metrics,
    answers,
    choosing,
    correlated_codes,
    downstream,
    good_run_of_a_bad_strength,
    method_or_seed,
)
from unweave.reproduce.challenging_published import BY_CELL, BY_METHOD, METRICS, published_shares
from unweave.tables import read_table


def table(score: Any, methods: int = 3, strengths: int = 3, seeds: int = 6, data: int = 2) -> polars.DataFrame:
    """Return a table whose scores are `score(data, method, strength, noise)`, a dict by metric."""
    rng = np.random.default_rng(0)
    rows = []
    for d, m, s, seed in np.ndindex(data, methods, strengths, seeds):
        found = score(d, m, s, rng.normal(size=3))
        told = {"run": f"{d}-{m}-{s}-{seed}", "data": f"data{d}", "method": f"method{m}", "strength": float(s)}
        rows += [{**told, "seed": seed, "step": 10, "metric": name, "value": float(v)} for name, v in found.items()]
    return polars.DataFrame(rows)


def test_the_design_is_that_of_the_published_study():
    paper = PRESETS["paper"]
    assert paper.count() == 12_600
    assert [len(sweep) for sweep in SWEEPS.values()] == [6] * 6
    assert (len(paper.data), paper.seeds, len(paper.entries())) == (7, 50, 36)
    assert [entry["beta"] for entry in SWEEPS["beta-vae"]] == [1, 2, 4, 6, 8, 16]
    assert [entry["lambda_d"] / entry["lambda_od"] for entry in SWEEPS["dip-vae-I"]] == [10] * 6
    assert paper.entries()[-1] == {
        "name": "annealed-vae", "gamma": 1000, "capacity": "0:100@100000", "preset": "dlib"
    }  # fmt: skip
    assert set(PUBLISHED_DATA) == set(BY_METHOD) == set(BY_CELL)


def test_more_groups_explain_more_in_every_published_case():
    for data in BY_METHOD:
        for metric in METRICS:
            found = published_shares(data, metric)
            assert found
            assert 0 <= found[0] <= found[1] <= 100
    assert published_shares("rooms3d:size=32", "mig") == (20, 59)
    assert published_shares("xysquares", "mig") is None


def test_every_run_of_the_study_has_a_strength_and_dip_vae_is_two_methods(tmp_path: Path):
    settings = PRESETS["smoke"]
    study = find("challenging-assumptions")().study(settings, seed=3, out=tmp_path)  # pyright: ignore[reportAttributeAccessIssue]
    assert len(study.plan.tasks) == settings.count() == 48
    assert {task.seed for task in study.plan.tasks} == {3, 4}
    columns = {"run": ["a", "b", "c"], "data": ["x"] * 3, "method": ["dip-vae", "annealed-vae", "beta-vae"]}
    fields = {"kind": ["II", None, None], "lambda_od": [50.0, None, None], "capacity": [None, "0:25@33%", None]}
    rest = {"beta": [None, None, 16.0], "gamma": [None, 1000.0, None], "seed": [0] * 3, "step": [1] * 3}
    found = with_strengths(polars.DataFrame({**columns, **fields, **rest, "metric": ["mig"] * 3, "value": [0.1] * 3}))
    assert found["method"].to_list() == ["dip-vae-II", "annealed-vae", "beta-vae"]
    assert found["strength"].to_list() == [50.0, 25.0, 16.0]
    assert found.columns == ["run", "data", "method", "strength", "seed", "step", "metric", "value"]


def test_question_1_tells_falling_from_rising():
    found = correlated_codes(table(lambda d, m, s, e: {SAMPLED: -s + 0.1 * e[0], MEAN: s + 0.1 * e[1]}))
    assert "falls in 6 and rises in 6 of 6" in found.notes[0]
    assert all(row.ours < -0.9 for row in found.rows if "sampled" in row.what)
    assert all(row.ours > 0.9 for row in found.rows if "mean codes" in row.what)


def test_question_2_finds_the_metrics_that_agree():
    def score(d: int, m: int, s: int, e: np.ndarray) -> dict[str, float]:
        return {"mig": e[0], "dci-disentanglement": e[0] + 0.1 * e[1], "modularity": -e[0], "sap": e[2]}

    found = agreeing_metrics(table(score))
    assert "MIG with DCI D" in found.notes[0] or "DCI D with MIG" in found.notes[0]
    values = {row.what: row.ours for row in found.rows}
    assert values["2. mean rank correlation of modularity with the others, data0"] < -0.5
    assert values["2. mean rank correlation of metrics but modularity, data0"] > 0.1


@pytest.mark.parametrize(("method", "strength", "noise"), [(1.0, 0.0, 0.01), (0.0, 1.0, 0.01), (0.0, 0.0, 1.0)])
def test_question_3_finds_what_the_variance_is_due_to(method: float, strength: float, noise: float):
    planted = table(lambda d, m, s, e: {"mig": method * m + strength * s + noise * e[0]})
    found = method_or_seed(planted)
    by_method, by_cell = found.rows[0].ours, found.rows[1].ours
    assert by_method == pytest.approx(100 * (method > 0), abs=20)
    assert by_cell == pytest.approx(100 * (noise < 1), abs=25)
    assert all(row.low <= row.ours <= row.high for row in found.rows)
    chance = good_run_of_a_bad_strength(planted)[0]
    assert (chance < 0.05) == (strength > 0)


def test_question_4_a_choice_transfers_only_where_cells_keep_their_order():
    stable = table(lambda d, m, s, e: {"mig": m + s / 3 + 0.01 * e[0], "sap": m + s / 3 + 0.01 * e[1]})
    noise = table(lambda d, m, s, e: {"mig": e[0], "sap": e[1]}, seeds=40)
    for planted, chance in ((stable, 94), (noise, 50)):  # the best of nine cells beats the other eight, ties halved
        for row in choosing(planted).rows:
            assert row.ours == pytest.approx(chance, abs=6), row.what
    turned = table(lambda d, m, s, e: {"mig": (1 - 2 * d) * (m + s / 3) + 0.01 * e[0]})
    rows = {row.what: row.ours for row in choosing(turned).rows}
    assert rows["4. chosen by the same metric, other data: better than a random choice, %"] < 10


def test_question_5_correlates_scores_with_downstream_tasks():
    def score(d: int, m: int, s: int, e: np.ndarray) -> dict[str, float]:
        accuracy = 10 + e[0] + 0.1 * e[1]
        return {"mig": e[0], ACCURACY: accuracy, FEW_ROWS: accuracy * (1 + e[2])}

    found = downstream(table(score))
    assert [row.ours > 0.9 for row in found.rows] == [True, True, False, False]
    assert all(row.low < row.ours < row.high for row in found.rows)


def test_the_answers_and_figures_of_all_questions_stand_together():
    from unweave.reproduce.challenging_figures import figures

    names = (*METRICS, SAMPLED, MEAN, "elbo-bound", ACCURACY, FEW_ROWS)
    planted = table(lambda d, m, s, e: {name: e[0] * (place + 1) + e[1] for place, name in enumerate(names)})
    found = answers(planted)
    assert {row.what[0] for row in found.rows} == {"1", "2", "3", "4", "5"}
    assert {note[0] for note in found.notes} == {"1", "2", "3", "4", "5"}
    assert set(figures(planted)) == {"total-correlation", "agreement", "methods", "label-free", "downstream"}


def test_smoke_runs_the_study_and_keeps_it(tmp_path: Path):
    outcome = reproduce("challenging-assumptions", preset="smoke", out=tmp_path / "result", workers=2)
    assert len(list((tmp_path / "result" / "study" / "runs").glob("*/weights.safetensors"))) == 48
    scores = polars.read_csv(tmp_path / "result" / "scores.csv")
    assert scores["run"].n_unique() == 48
    assert {"mig", "elbo-bound", SAMPLED} <= {*scores["metric"]}
    assert any("explained by the method" in row.what for row in outcome.findings.rows)


def test_stored_shares_lie_in_their_intervals_in_one_format():
    """Adjusted shares below 0 are 0, as their intervals are within 0 and 1."""
    rows = method_or_seed(read_table(challenging_docs.STORED)).rows
    assert all(row.low <= row.ours <= row.high for row in rows)
    assert min(row.ours for row in rows) == 0
    lines = challenging_docs.as_table(rows).splitlines()[2:]
    assert all(re.search(r" \| \d+\.\d \| \d+\.\d … \d+\.\d \|$", line) for line in lines)


def test_notes_are_sentences_with_minus_signs():
    notes = challenging_docs.blocks(read_table(challenging_docs.STORED))["notes"]
    assert [line for line in notes.splitlines() if line.startswith("- 1.")] == []
    assert notes.startswith("- Question 1. Published:")
    assert not re.search(r"[ (][-+][\d.]", notes)


def test_the_page_is_that_of_the_stored_scores():
    table = read_table(challenging_docs.STORED)
    text = challenging_docs.PAGE.read_text()
    for name, found in challenging_docs.blocks(table).items():
        assert pages.block(name, found) in text, name
