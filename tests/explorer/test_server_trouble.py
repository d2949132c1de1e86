"""Runs that are damaged, half written, changed, gone, without images or without a model: all have a clear answer."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from starlette.testclient import TestClient

import unweave
from unweave.explorer import Explorer, create_app
from unweave.files import exclusive, write_json
from unweave.study.folder import DRIVER, LOCK

TINY: dict[str, Any] = {"net": "mlp", "width": 0.05, "latents": 3, "steps": 20, "batch": 16, "progress": False}


@pytest.fixture
def folder(world: Path, runs: list[str], tmp_path: Path) -> Path:
    """Return a folder with a copy of one run, called run, and of another, called next."""
    for name, run in zip(("run", "next"), runs[:2], strict=True):
        shutil.copytree(world / run, tmp_path / "folder" / name)
    return tmp_path / "folder"


@pytest.fixture
def client(folder: Path) -> TestClient:
    return TestClient(create_app(Explorer(folder, samples=50)), base_url="http://localhost:8000")


def get(client: TestClient, path: str, status: int = 200, **query: object) -> Any:
    answer = client.get(path, params={name: str(value) for name, value in query.items()})
    assert answer.status_code == status, answer.text
    return answer.json() if answer.headers["content-type"] == "application/json" else answer.content


def closed(client: TestClient) -> str:
    """Check that a run's page has no model to show, but a line about why, and return the line."""
    found = get(client, "/api/run", run="run")
    assert (found["kind"], found["latents"], found["order"]) == ("closed", [], [])
    assert "\n" not in found["warning"].strip()
    assert get(client, "/api/run/decode", 400 if found["latents"] == [] else 200, run="run", z="0,0,0,0")["error"]
    assert get(client, "/api/matrix", 409, run="run")["error"] == " ".join(found["warning"].split())
    assert len(get(client, "/api/table")["rows"]["id"]) == 2  # which the table bears
    return found["warning"]


def test_a_run_without_weights_yet(client, folder):
    (folder / "run" / "weights.safetensors").unlink()
    assert "has no weights.safetensors" in closed(client)
    assert get(client, "/api/run/curves", run="run")["steps"]  # what is there is shown


@pytest.mark.parametrize("size", [0, 7, 100, 5_000])
def test_half_written_weights(client, folder, size):
    weights = folder / "run" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:size])
    assert "does not hold this run's weights" in closed(client)


def test_weights_that_are_no_numbers(client, folder):
    weights = folder / "run" / "weights.safetensors"
    metadata = json.loads(weights.read_bytes()[8:][: int.from_bytes(weights.read_bytes()[:8], "little")])
    tensors = {name: torch.full_like(tensor, float("nan")) for name, tensor in load_file(weights).items()}
    save_file(tensors, weights, metadata["__metadata__"])
    assert "weights that are not finite" in closed(client)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"method": 3}', '{"method": {"name": ["x"]}}', "\x00\xff"])
def test_a_damaged_configuration(client, folder, text):
    (folder / "run" / "config.json").write_text(text)
    closed(client)
    rows = get(client, "/api/table")["rows"]
    assert sorted(zip(rows["id"], rows["state"], strict=True)) == [("next", "finished"), ("run", "damaged")]
    assert [group["runs"] for group in get(client, "/api/groups")["groups"]] == [["next"]]


@pytest.mark.parametrize("name", ["status.json", "scores.parquet", "log.parquet"])
def test_other_files_that_are_damaged(client, folder, name):
    (folder / "run" / name).write_bytes(b"PAR1 \xff {")
    found = get(client, "/api/run", run="run")
    assert found["kind"] == "images"
    assert get(client, "/api/table")["total"] == 2
    curves = client.get("/api/run/curves", params={"run": "run"})
    assert curves.status_code == (409 if name == "log.parquet" else 200)


def test_damaged_scores_cost_a_run_neither_its_settings_nor_its_place(client, folder):
    before = get(client, "/api/table")["rows"]
    assert get(client, "/api/run", run="run")["warning"] is None
    (folder / "run" / "scores.parquet").write_bytes(b"PAR1 damaged")
    again = TestClient(create_app(Explorer(folder, samples=50)), base_url="http://localhost:8000")
    for _ in range(2):  # as it is read first, and as it is kept
        after = get(again, "/api/table")["rows"]
        here, there = before["id"].index("run"), after["id"].index("run")
        for name in ("data", "method", "beta", "seed", "state", "step", "seconds"):
            assert after[name][there] == before[name][here]
        assert after["mig"][there] is None
    found = get(again, "/api/run", run="run")
    assert (found["kind"], found["scores"]) == ("images", [])
    assert "scores.parquet cannot be read" in found["warning"]
    assert str(folder) not in found["warning"]


def test_factors_that_do_not_fit_their_codes_are_left_out_with_a_reason(tmp_path):
    codes = np.random.default_rng(0).normal(size=(40, 2))
    odd = {"short": np.zeros((30, 2)), "flat": np.zeros(40), "nan": np.full((40, 1), np.nan)}
    for name, factors in odd.items():
        np.savez(tmp_path / f"{name}.npz", codes=codes, factors=factors)
    client = TestClient(create_app(Explorer(tmp_path)), base_url="http://localhost:8000")
    lines = {name: get(client, "/api/run", run=f"{name}.npz")["warning"] for name in odd}
    assert "40 codes, but 30 rows of factors" in lines["short"]
    assert "(40,)" in lines["flat"]
    assert "not finite numbers" in lines["nan"]
    assert get(client, "/api/matrix", 409, run="short.npz")["error"] == lines["short"]
    assert "no decoder" in get(client, "/api/run/decode", 409, run="short.npz", z="0,0")["error"]


def test_status_with_numbers_that_json_lacks(client, folder):
    status = json.loads((folder / "run" / "status.json").read_text())
    (folder / "run" / "status.json").write_text(json.dumps({**status, "seconds": float("nan")}))
    rows = get(client, "/api/table")["rows"]
    assert rows["seconds"][rows["id"].index("run")] is None


def test_a_run_that_is_deleted_while_it_is_shown(client, folder):
    assert get(client, "/api/run", run="run")["kind"] == "images"
    shutil.rmtree(folder / "run")
    for path in ("/api/run", "/api/run/decode", "/api/run/traversals", "/api/matrix", "/api/data"):
        assert "no longer there" in get(client, path, 404, run="run")["error"]
    assert get(client, "/api/run", run="next")["kind"] == "images"


def test_a_run_that_is_trained_further_is_opened_again(client, folder):
    before = get(client, "/api/run", run="run")["start"]
    assert get(client, "/api/run", run="run")["start"] == before
    shutil.copy(folder / "next" / "weights.safetensors", folder / "run" / "weights.safetensors")
    assert get(client, "/api/run", run="run")["start"] != before
    assert get(client, "/api/run", run="run")["start"] == get(client, "/api/run", run="next")["start"]


def test_new_runs_and_scores_are_noticed(folder):
    explorer = Explorer(folder, samples=50)
    client = TestClient(create_app(explorer), base_url="http://localhost:8000")
    stamp = get(client, "/api/table")["stamp"]
    shutil.copytree(folder / "run", folder / "third")
    until = time.monotonic() + 120
    while not (found := get(client, "/api/changes", stamp=stamp))["changed"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert found["counts"] == {"done": 3}
    assert get(client, "/api/run", run="third")["kind"] == "images"


def test_a_study_that_runs_says_so(world, tmp_path):
    study = shutil.copytree(world / "study", tmp_path / "study")
    run, other, *_ = sorted(path.name for path in (study / "runs").iterdir())
    (study / "failures" / f"{other}.txt").write_text("no luck\n")
    client = TestClient(create_app(Explorer(tmp_path)), base_url="http://localhost:8000")
    with exclusive(study / LOCK):
        write_json(study / DRIVER, {"running": [run]})
        found = get(client, "/api/index")["studies"]
        assert [(each["id"], each["running"], each["done"]) for each in found] == [("study", True, 2)]
        assert get(client, "/api/changes", study="study")["counts"] == {"done": 2, "running": 1, "failed": 1, "todo": 0}
    assert get(client, "/api/index")["studies"][0]["running"] is False


def test_a_run_whose_data_set_is_gone_still_has_sliders(tmp_path):
    images = np.random.default_rng(0).integers(0, 255, (40, 32, 32, 3), dtype=np.uint8)
    np.savez(tmp_path / "mine.npz", images=images)
    unweave.train("vae", data=str(tmp_path / "mine.npz"), out=tmp_path / "runs" / "run", **TINY)
    (tmp_path / "mine.npz").unlink()
    client = TestClient(create_app(Explorer(tmp_path / "runs")), base_url="http://localhost:8000")
    found = get(client, "/api/run", run="run")
    assert (found["kind"], found["sampled"], found["labelled"]) == ("images", 0, False)
    assert "sliders follow the prior" in found["warning"]
    assert found["latents"][0]["quantiles"][10] == pytest.approx(0)
    assert get(client, "/api/run/decode", run="run", z="0,1,0").startswith(b"\x89PNG")
    assert get(client, "/api/run/traversals", run="run").startswith(b"\x89PNG")
    for path in ("/api/matrix", "/api/run/reconstructions"):
        assert get(client, path, 409, run="run")["error"]
    for path in ("/api/run/code", "/api/run/image"):
        assert get(client, path, 409, run="run", image=0)["error"]


def test_a_run_of_vectors_has_numbers_in_the_place_of_images(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 6)).astype(np.float32)
    unweave.train("vae", data=rows, out=tmp_path / "run", **TINY)
    run = unweave.Run.open(tmp_path / "run", data=rows)
    client = TestClient(create_app(Explorer(tmp_path / "run", given={".": run})), base_url="http://localhost:8000")
    found = get(client, "/api/run", run=".")
    assert (found["kind"], found["shape"]) == ("vectors", [6])
    values = get(client, "/api/run/decode", run=".", z="1,0,0")["values"]
    assert values == pytest.approx(run.decode(np.array([[1.0, 0, 0]]))[0].tolist())
    assert len(get(client, "/api/run/traversal", run=".", latent=0, steps=4)["values"]) == 4
    assert get(client, "/api/run/image", run=".", image=3)["values"] == pytest.approx(rows[3].tolist())
    assert "no images" in get(client, "/api/run/traversals", 409, run=".")["error"]


def test_a_net_of_modules_is_closed_until_they_are_given(tmp_path):
    def modules():
        encoder = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(32 * 32 * 3, 6))
        decoder = torch.nn.Sequential(torch.nn.Linear(3, 32 * 32 * 3), torch.nn.Unflatten(1, (3, 32, 32)))
        return encoder, decoder

    options = {name: value for name, value in TINY.items() if name not in ("net", "width")}
    unweave.train("vae", data="xysquares:size=32", net=modules(), out=tmp_path / "run", **options)
    client = TestClient(create_app(Explorer(tmp_path)), base_url="http://localhost:8000")
    found = get(client, "/api/run", run="run")
    assert (found["kind"], "consists of your modules" in found["warning"]) == ("closed", True)
    assert found["method"] == "vae"
    run = unweave.Run.open(tmp_path / "run", net=modules())
    given = TestClient(
        create_app(Explorer(tmp_path / "run", given={".": run}, samples=50)), base_url="http://localhost"
    )
    assert get(given, "/api/run", run=".")["kind"] == "images"


def test_a_file_of_codes_has_a_matrix_and_no_decoder(tmp_path):
    rng = np.random.default_rng(0)
    factors = rng.integers(5, size=(400, 2))
    np.savez(tmp_path / "codes.npz", codes=factors[:, ::-1] + 0.1 * rng.normal(size=(400, 2)), factors=factors)
    np.savez(tmp_path / "broken.npz", codes=np.full((4, 2), np.nan))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "codes.npz").read_bytes()[:300])
    np.savez(tmp_path / "pickle.npz", codes=np.array([[{}]], dtype=object))
    client = TestClient(create_app(Explorer(tmp_path)), base_url="http://localhost:8000")
    listed = {each["id"]: (each["rows"], each["latents"]) for each in get(client, "/api/index")["codes"]}
    assert listed["codes.npz"] == (400, 2)
    found = get(client, "/api/run", run="codes.npz")
    assert (found["kind"], found["sampled"], found["of"]) == ("codes-only", 400, 400)
    assert get(client, "/api/matrix", run="codes.npz")["matched"] == [1, 0]
    assert get(client, "/api/run/decode", 409, run="codes.npz", z="0,0")["error"]
    for name in ("broken.npz", "pickle.npz"):
        assert get(client, "/api/run", 409, run=name)["error"]
    assert get(client, "/api/run", 404, run="cut.npz")["error"]
