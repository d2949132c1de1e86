"""The scores of a run: what the metrics are given of it, and that a score does not depend on the others asked for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import unweave
from unweave.errors import UsageError
from unweave.metrics import METRICS, Pool, elbo, factor_vae_score, mig
from unweave.metrics.codebook import Codebook
from unweave.metrics.presets import Preset
from unweave.metrics.request import Request
from unweave.scoring import CHUNK, Collapsed, Unfinished, gather_run, score_run

TINY: dict[str, Any] = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1, "batch": 8}
FEW: dict[str, Any] = {"samples": 200, "test_samples": 100}
COUNTS: dict[str, Any] = {"votes": 200, "test_votes": 100, "variance_rows": 200}
VOTES = {"factor-vae-score": COUNTS, "z-max-variance": COUNTS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "first"
    unweave.train("vae", data="xysquares:size=32", out=path, steps=30, **TINY)
    return path


@pytest.fixture
def run(folder, tmp_path) -> unweave.Run:
    return unweave.Run.open(shutil.copytree(folder, tmp_path / "copy"))


def request(*metrics: str, **settings: Any) -> Request:
    chosen = {name: VOTES[name] for name in metrics if name in VOTES}
    return Request(metrics, **{"options": chosen, "intervals": False, "floors": False, **settings})


def row_of(table: polars.DataFrame, name: str) -> dict[str, Any]:
    return table.filter(metric=name).row(0, named=True)


def test_a_score_does_not_depend_on_the_company_it_keeps(run):
    """Alone too, votes of the full preset come from the grid and not from the rows at hand."""
    alone = row_of(score_run(run, request("factor-vae-score"), **FEW), "factor-vae-score")
    beside = score_run(run, request("mig", "z-max-variance", "factor-vae-score"), **FEW)
    among = row_of(beside, "factor-vae-score")
    assert json.loads(alone["options"]) == {**json.loads(alone["options"]), "exact": True}
    assert (alone["value"], alone["options"]) == (among["value"], among["options"])
    assert alone["value"] == factor_vae_score(Codebook(run.encode, run.data), **COUNTS)
    assert row_of(beside, "mig")["value"] == row_of(score_run(run, request("mig"), **FEW), "mig")["value"]


def test_in_a_hurry_votes_come_from_a_pool_of_images(run, monkeypatch):
    monkeypatch.setitem(unweave.metrics.PRESETS, "fast", Preset(200, 100, 900))
    inputs = gather_run(run, request("factor-vae-score", "mig", preset="fast"))
    assert isinstance(inputs["source"], Pool)
    assert len(inputs["source"]) == 900
    assert inputs["encode"] is None
    assert len(inputs["codes"]) == 200
    assert len(inputs["test"][0]) == 100
    np.testing.assert_array_equal(inputs["source"].table[:200], inputs["codes"])
    plain = gather_run(run, request("mig", preset="fast"))
    np.testing.assert_array_equal(plain["codes"], inputs["codes"])  # the pool does not change the other rows


def test_rows_are_the_posterior_means_of_images_and_their_factors(run):
    inputs = gather_run(run, request("mig", seed=4), **FEW)
    indices = np.random.default_rng(4).integers(len(run.data), size=300)
    codes = run.encode(run.data.images(indices))
    np.testing.assert_allclose(inputs["codes"], codes[:200], atol=1e-6)
    np.testing.assert_array_equal(inputs["factors"], run.data.values(indices)[:200])
    np.testing.assert_array_equal(inputs["test"][1], run.data.values(indices)[200:])
    table = score_run(run, request("mig", seed=4), **FEW)
    assert row_of(table, "mig")["value"] == mig(inputs["codes"], inputs["factors"])


def test_rate_and_distortion_are_those_of_the_model(run):
    inputs = gather_run(run, request("elbo"), **FEW)
    row = score_run(run, request("elbo"), **FEW)
    expected = elbo(inputs["means"], inputs["log_variances"], inputs["reconstruction"])
    assert [row_of(row, f"elbo-{part}")["value"] for part in expected._fields] == list(expected)
    assert inputs["reconstruction"].shape == (200,)


def test_encoding_is_a_row_of_its_own(run):
    table = score_run(run, request("mig", "mcc"), **FEW)
    assert table["metric"].to_list() == ["mig", "mcc", "encoding"]
    last = row_of(table, "encoding")
    assert last["seconds"] > 0
    assert last["value"] is None


@pytest.fixture(scope="module")
def points(tmp_path_factory) -> unweave.Run:
    """A run whose codes are points: they have no posterior variance."""
    return unweave.train("ae", data="xysquares:size=32", out=tmp_path_factory.mktemp("ae") / "run", steps=10, **TINY)


def test_codes_that_are_points_have_no_scores_of_posteriors(points):
    inputs = gather_run(points, request("all"), **FEW)
    assert "log_variances" not in inputs
    assert "sampled" not in inputs
    chosen = request("all").choose(inputs)
    of_posteriors = [
        name
        for name, metric in METRICS.items()
        if metric.representation == "sampled" or "log_variances" in metric.needs
    ]
    assert of_posteriors
    assert not {*of_posteriors} & {*chosen}
    assert {"mig", "total-correlation", "active-units"} <= {*chosen}


@pytest.mark.parametrize("name", ["elbo", "total-correlation-sampled"])
def test_by_name_they_are_refused_in_one_line(points, name):
    with pytest.raises(UsageError, match=f"the metric '{name}' needs posteriors, but the codes of this model"):
        score_run(points, request(name), **FEW)


def test_gaussian_latents_beside_categorical_ones_are_no_points(tmp_path):
    run = unweave.train("joint-vae", data="xysquares:size=32", out=tmp_path / "run", steps=2, **TINY)
    with pytest.raises(UsageError, match="'elbo' needs Gaussian posteriors of all latents, but some latents are categ"):
        score_run(run, request("elbo"), **FEW)


def test_progress_names_the_images_and_the_metrics(run):
    seen: list[tuple[str, int, int]] = []
    score_run(run, request("mig", "mcc"), **FEW, on_progress=lambda *news: seen.append(news))
    assert seen[0][0] == "encoding"
    assert seen[0][1] == seen[0][2] <= 300  # each distinct image once
    assert seen[1:] == [("mig", 0, 2), ("mcc", 1, 2)]


@pytest.mark.parametrize("counts", [{"samples": 1}, {"test_samples": 1}])
def test_two_samples_are_the_least(run, counts):
    with pytest.raises(UsageError, match="scores need at least two samples, and two test samples"):
        score_run(run, request("mig"), **counts)


@pytest.mark.parametrize(("state", "said"), [("unfinished", "is unfinished"), ("failed", "has failed")])
def test_an_unfinished_run_is_said_to_be_half_trained(run, state, said):
    path = run.path / "status.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"state": state, "step": 12}))
    line = f"the run {said}, at step 12 of 30: these are scores of a half-trained model"
    with pytest.warns(Unfinished, match=line):
        score_run(run, request("mig"), **FEW)


def test_a_model_that_uses_no_latent_is_called_collapsed(run, monkeypatch):
    nothing = np.zeros((CHUNK, 3), np.float32)
    monkeypatch.setattr(run, "posterior", lambda images: (nothing[: len(images)], nothing[: len(images)]))
    with pytest.warns(Collapsed, match="This model has collapsed: no latent carries information"):
        table = score_run(run, request("mig"), **FEW)
    assert row_of(table, "mig")["value"] == 0.0


def test_a_model_without_an_active_unit_is_called_nearly_collapsed(run, monkeypatch):
    """As a FactorVAE with a large γ: mean KLs just above what counts as used, and `active-units` 0."""
    means = np.random.default_rng(0).normal(scale=0.08, size=(CHUNK, 3)).astype(np.float32)
    logs = np.full_like(means, 0.2)
    monkeypatch.setattr(run, "posterior", lambda images: (means[: len(images)], logs[: len(images)]))
    with pytest.warns(Collapsed, match="This model has nearly collapsed: no latent is active"):
        table = score_run(run, request("active-units"), **FEW)
    assert row_of(table, "active-units")["value"] == 0.0
