"""A run whose method has no decoder: what needs one says so in a line, and everything else works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from starlette.testclient import TestClient

import unweave
from unweave.errors import UsageError
from unweave.explorer import Explorer, create_app
from unweave.methods import METHODS
from unweave.perception import distance_matrices
from unweave.selection import select

TINY = {"data": "xysquares:size=32", "net": "mlp", "width": 0.02, "latents": 3, "steps": 20, "batch": 16}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two seeds of a LeJEPA."""
    place = tmp_path_factory.mktemp("runs")
    for seed in range(2):
        unweave.train("lejepa", **TINY, seed=seed, out=place / f"seed{seed}", progress=False, threads=1)
    return place


@pytest.fixture(scope="module")
def run(folder: Path) -> unweave.Run:
    return unweave.Run.open(folder / "seed0")


def test_two_methods_have_no_decoder():
    assert {name for name, kind in METHODS.items() if not kind.decoder} == {"pcl", "lejepa"}


def test_codes_can_be_had_and_images_of_them_cannot(run):
    images = run.data.images(np.arange(5))
    codes = run.encode(images)
    assert codes.shape == (5, 3)
    assert not run.has_decoder
    for call in (
        lambda: run.decode(codes),
        lambda: run.reconstruct(images),
        lambda: run.losses(images, codes),
        lambda: run.jacobians(codes),
        run.traversals,
        run.reconstructions,
    ):
        with pytest.raises(UsageError, match="this model has no decoder: its method learns only codes"):
            call()


def test_its_weights_hold_no_decoder(run):
    with safe_open(run.path / "weights.safetensors", "pt") as file:
        names = set(file.keys())
    assert any(name.startswith("encoder.") for name in names)
    assert not any(name.startswith(("decoder.", "spread")) for name in names)


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_scores_leave_out_what_needs_a_decoder(run):
    table = run.evaluate("all", samples=200, test_samples=100, preset="fast", intervals=False, floors=False)
    assert "mig" in set(table["metric"])
    assert not {"jacobian-orthogonality", "ima-contrast", "elbo-bound"} & set(table["metric"])
    for name in ("jacobian-orthogonality", "elbo"):
        with pytest.raises(UsageError, match=f"the metric '{name}' needs a decoder"):
            run.evaluate([name], samples=200, test_samples=100)


def test_the_page_and_the_notebook_say_so(run):
    page = Path(run.report()).read_text(encoding="utf-8")
    assert "lejepa learns only codes: without a decoder" in page
    assert "<h2>Traversals</h2>" not in page
    assert "Factors × latents" in page
    assert "Training curve" in page
    assert "lejepa" in run._repr_html_()


def test_the_explorer_shows_its_codes_and_its_data(folder):
    client = TestClient(create_app(Explorer(folder, samples=100)), base_url="http://127.0.0.1:8000")
    name = next(row for row in client.get("/api/table").json()["rows"]["id"] if "seed0" in row)
    about = client.get("/api/run", params={"run": name}).json()
    assert about["kind"] == "codes-only"
    assert "without a decoder" in about["warning"]
    assert len(about["latents"]) == 3
    assert about["sampled"] == 100
    for path in ("run/decode", "run/traversal", "run/traversals", "run/reconstructions"):
        answer = client.get(f"/api/{path}", params={"run": name, "latent": 0})
        assert answer.status_code == 409, path
        assert "has no decoder: its method learns only codes" in answer.text
    for path in ("run/image", "data/samples", "data/traversal"):
        answer = client.get(f"/api/{path}", params={"run": name, "image": 3, "factor": "x_R"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "image/png"
    assert client.get("/api/data", params={"run": name}).json()["kind"] == "images"
    levels = client.get("/api/data/distances", params={"run": name, "factor": "x_R"}).json()["levels"]
    assert set(levels) == {"factors", "data", "latents"}
    assert client.get("/api/matrix", params={"run": name, "kind": "mi"}).status_code == 200


def test_distances_are_of_data_and_codes(run):
    found = distance_matrices(None, run=run, traversals=2, factors=["x_R"], progress=False)["x_R"]
    assert set(found) == {"factors", "data", "latents"}


def test_choosing_without_labels_says_which_scores_cannot_be_had(folder):
    found = select(folder, "all", samples=80, progress=False)
    assert "udr-spearman" in set(found.specifications["score"])
    for name in ("model-centrality", "jacobian-orthogonality"):
        assert name not in set(found.specifications["score"])
        assert any(f"{name} needs decoders, but some runs have none" in note for note in found.notes)


def test_it_cannot_be_traced(tmp_path):
    with pytest.raises(UsageError, match="lejepa has no decoder to trace"):
        unweave.train("lejepa", **TINY, trace_every=10, trace_samples=4, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_loss_with_learnt_variances_adds_nothing(tmp_path):
    run = unweave.train("pcl", **{**TINY, "steps": 2}, loss="gaussian", out=tmp_path / "run")
    assert run.model.spread is None
