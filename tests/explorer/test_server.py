"""What the server answers about studies and runs, against what the library says of them."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

import unweave
from unweave.explorer import Explorer, create_app
from unweave.study.table import read_records, score_table

ADDRESS = "http://127.0.0.1:8000"
SAMPLES = 300


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    """Return all files below a folder, with their times and sizes."""
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(folder.rglob("*"))}


@pytest.fixture(scope="module")
def client(world: Path):
    """Return a client of the small study; in the end no file of it may have changed."""
    before = files_of(world)
    yield TestClient(create_app(Explorer(world, samples=SAMPLES)), base_url=ADDRESS)
    assert files_of(world) == before


@pytest.fixture(scope="module")
def get(client: TestClient):
    """Return a function that asks for JSON."""

    def ask(path: str, **query: object) -> Any:
        answer = client.get(path, params={name: str(value) for name, value in query.items()})
        assert answer.status_code == 200, answer.text
        return json.loads(answer.content, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))

    return ask


@pytest.fixture(scope="module")
def picture(client: TestClient):
    """Return a function that asks for a picture, as pixels."""

    def ask(path: str, **query: object) -> np.ndarray:
        answer = client.get(path, params={name: str(value) for name, value in query.items()})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "image/png"
        return np.asarray(Image.open(io.BytesIO(answer.content)))

    return ask


@pytest.fixture(scope="module")
def first(world: Path, runs: list[str]) -> unweave.Run:
    return unweave.Run.open(world / runs[0])


@pytest.fixture(scope="module")
def about(get, runs) -> dict[str, Any]:
    return get("/api/run", run=runs[0])


def sampled_images(run: unweave.Run) -> np.ndarray:
    return np.random.default_rng(0).choice(len(run.data), size=SAMPLES, replace=False)


def test_the_index_lists_studies_runs_and_files(get, world):
    found = get("/api/index")
    assert (found["root"], found["runs"], found["static"]) == ("world", 5, False)
    studies = {study["id"]: study for study in found["studies"]}
    assert studies["study"] == {"id": "study", "name": "study", "runs": 4, "planned": 4, "done": 4, "running": False}
    assert studies["."]["runs"] == 5
    assert [point["id"] for point in found["points"]] == ["geometry/factors.npz"]
    assert str(world.parent) not in json.dumps(found)


def test_the_table_has_the_scores_of_the_study(get, world, runs):
    found = get("/api/table", study="study")
    rows, columns = found["rows"], {column["name"]: column for column in found["columns"]}
    assert (found["total"], sorted(rows["id"])) == (4, runs)
    assert {len(values) for values in rows.values()} == {4}
    assert columns["beta"] == {"name": "beta", "kind": "number", "differs": True, "higher_is_better": None}
    assert (columns["lr"]["differs"], columns["seed"]["kind"], columns["mig"]["kind"]) == (False, "seed", "score")
    assert columns["mig"]["higher_is_better"] is True
    scores = score_table(read_records(world / "study" / "runs", cache=False))
    assert len(scores) >= 8
    for run, metric, value in scores.select("run", "metric", "value").iter_rows():
        assert rows[metric][rows["id"].index(f"study/runs/{run}")] == value
    assert rows["state"] == ["finished"] * 4


def test_the_table_of_the_folder_has_all_runs(get, runs):
    rows = get("/api/table")["rows"]
    assert sorted(rows["id"]) == ["other", *runs]
    assert rows["mig"][rows["id"].index("other")] is None


def test_groups_are_runs_that_differ_in_the_seed_alone(get):
    table, found = get("/api/table", study="study")["rows"], get("/api/groups", study="study")
    assert found["by"] == ["beta"]
    assert [group["key"]["beta"] for group in found["groups"]] == list(dict.fromkeys(table["beta"]))
    for group in found["groups"]:
        places = [table["id"].index(run) for run in group["runs"]]
        assert [table["seed"][place] for place in places] == [0, 1]
        score = group["scores"]["mig"]
        assert score["mean"] == pytest.approx(np.mean([table["mig"][place] for place in places]))
        assert (score["low"], score["high"], score["n"]) == (None, None, 2)  # two seeds make no interval


def test_changes_say_whether_the_table_is_as_it_was(get):
    stamp = get("/api/table", study="study")["stamp"]
    assert get("/api/changes", study="study", stamp=stamp) == {
        "stamp": stamp,
        "changed": False,
        "counts": {"done": 4, "todo": 0},
    }
    assert get("/api/changes", study="study", stamp="earlier")["changed"] is True


def test_a_run_shows_where_the_codes_of_random_images_lie(about, first):
    means, logs = first.posterior(first.data.images(sampled_images(first)))
    assert logs is not None
    kl = 0.5 * (means**2 + np.exp(logs) - logs - 1).mean(axis=0)
    assert (about["kind"], about["shape"], about["sampled"], about["of"]) == (
        "images",
        [32, 32, 1],
        300,
        len(first.data),
    )
    for latent in about["latents"]:
        codes = means[:, latent["index"]].astype(float)
        assert latent["kl"] == pytest.approx(kl[latent["index"]], rel=1e-4)
        assert latent["active"] is bool(kl[latent["index"]] >= 0.01)
        assert latent["mean"] == pytest.approx(codes.mean(), abs=1e-6)
        assert latent["sd"] == pytest.approx(codes.std(), rel=1e-5)
        assert (latent["quantiles"][0], latent["quantiles"][20]) == pytest.approx((codes.min(), codes.max()))
        assert latent["quantiles"][10] == pytest.approx(np.median(codes))
        assert sum(latent["histogram"]["counts"]) == SAMPLES
    assert about["order"] == np.argsort(-kl, kind="stable").tolist()
    assert about["start"] == pytest.approx(means[0].tolist())
    assert [factor["name"] for factor in about["factors"]] == list(first.data.factors.names)


def test_a_run_shows_its_settings_and_scores(about, first, runs):
    assert (about["id"], about["method"], about["data"]) == (runs[0], "beta-vae", "shapes2d:size=32,turn=41")
    assert (about["state"], about["step"], about["config"]) == ("finished", 300, first.config)
    saved = first.scores()
    assert saved is not None
    assert [score["value"] for score in about["scores"]] == saved["value"].to_list()
    assert all(score["current"] and score["step"] == 300 for score in about["scores"])


def test_a_code_is_decoded_as_the_run_does(picture, first, runs):
    code = np.array([[0.5, -1.0, 0.25, 2.0]], dtype=np.float32)
    shown = picture("/api/run/decode", run=runs[0], z="0.5,-1,0.25,2")
    assert np.array_equal(shown, first.decode(code)[0, ..., 0])
    moved = picture("/api/run/decode", run=runs[0], z="-1.5,-1,0.25,2")
    assert not np.array_equal(shown, moved)


@pytest.mark.parametrize("path", ["/api/run/decode", "/api/run/image"])
def test_a_picture_is_as_large_as_it_is_asked_for(picture, runs, path):
    plain = picture(path, run=runs[0], image=5)
    large = picture(path, run=runs[0], image=5, scale=3)
    assert large.shape[:2] == (96, 96)
    assert (large[..., 0] == np.kron(plain, np.ones((3, 3)))).all()


def test_images_and_their_codes_are_those_of_the_data_set(get, picture, first, runs):
    image = int(sampled_images(first)[3])
    for index in (image, 7):  # one that was encoded already, and one that was not
        found = get("/api/run/code", run=runs[0], image=index)
        true = first.data.images([index])
        assert np.array_equal(picture("/api/run/image", run=runs[0], image=index), true[0, ..., 0])
        assert found["code"] == pytest.approx(first.encode(true)[0].tolist(), abs=1e-5)
        assert found["factors"] == first.data.values([index])[0].tolist()


def test_a_traversal_changes_one_latent(picture, first, runs):
    shown = picture("/api/run/traversal", run=runs[0], latent=2, z="0,0,0,0", low=-1, high=1, steps=3)
    codes = np.zeros((3, 4), dtype=np.float32)
    codes[:, 2] = [-1, 0, 1]
    assert shown.shape[:2] == (32, 3 * 32 + 2)
    for place, image in enumerate(first.decode(codes)):
        left = place * 33
        assert (shown[:, left : left + 32, :3] == image).all()  # grey: the same in all three
        assert (shown[:, left : left + 32, 3] == 255).all()
    assert (shown[:, 32, 3] == 0).all()  # the gap is transparent


def test_traversals_of_all_latents_are_a_grid_in_the_order_of_kl(picture, first, runs, about):
    grid = picture("/api/run/traversals", run=runs[0], steps=5)
    assert grid.shape[:2] == (4 * 33 - 1, 5 * 33 - 1)
    strip = picture("/api/run/traversal", run=runs[0], latent=about["order"][1], steps=5)
    assert np.array_equal(grid[33:65], strip)


def test_an_animation_has_a_frame_for_each_step_there_and_back(client, runs):
    answer = client.get("/api/run/animation", params={"run": runs[0], "steps": "6", "scale": "2", "download": "1"})
    found = Image.open(io.BytesIO(answer.content))
    assert (found.format, getattr(found, "n_frames", 1), found.size) == ("GIF", 10, (4 * 66 - 2, 64))
    assert answer.headers["content-disposition"].startswith('attachment; filename="beta-vae-shapes2d-seed')


def test_progress_says_what_was_found_and_that_nobody_reads(get):
    get("/api/table")
    assert get("/api/progress") == {"found": 5, "read": 0, "of": 0}


def test_a_study_that_holds_all_runs_has_the_table_of_the_folder(world):
    explorer = Explorer(world / "study")
    assert explorer.table("runs")[1] is explorer.table(".")[1]
    assert explorer.groups("runs") is explorer.groups(".")


def test_progress_is_told_while_runs_are_read(world, monkeypatch):
    from unweave.study import run_files

    explorer, seen = Explorer(world), []
    original = run_files._scores
    monkeypatch.setattr(run_files, "_scores", lambda *given: seen.append(explorer.progress()) or original(*given))
    monkeypatch.setattr(run_files, "TOGETHER", 1)
    explorer.table(".")
    assert len(seen) == 5
    assert all(each["found"] == 5 and each["of"] in (0, 5) and each["read"] <= 5 for each in seen)
    assert max(each["read"] for each in seen) >= 1
    assert seen[-1]["of"] == 5


def test_labelled_pictures_have_the_same_images_beside_names_on_white(client, picture, runs, about):
    used = [latent for latent in about["order"] if about["latents"][latent]["active"]]
    asked = {"run": runs[0], "steps": 5, "scale": 2}
    plain, named = picture("/api/run/traversals", **asked), picture("/api/run/traversals", **asked, labels=1)
    assert named.shape[0] == plain.shape[0]
    beside = named.shape[1] - plain.shape[1]
    drawn = plain[..., 3] == 255
    assert np.array_equal(named[:, beside:, :3][drawn], plain[..., :3][drawn])
    assert (named[:, beside:, :3][~drawn] == 255).all()
    for row in range(len(about["order"])):  # every name is black on white, within its row
        name = named[row * 66 : row * 66 + 64, :beside, :3]
        assert name.min() < 80  # letters are smoothed
        assert (name.max(), name[0].min()) == (255, 255)
    fewer = picture("/api/run/traversals", **asked, labels=1, rows="used")
    assert fewer.shape[0] == 66 * len(used) - 2
    moving = Image.open(io.BytesIO(client.get("/api/run/animation", params={**asked, "labels": 1}).content))
    assert moving.size == (4 * 65 - 1, 64 + 24)
    assert client.get("/api/run/traversals", params={**asked, "rows": "some"}).status_code == 400


def test_names_are_those_of_the_page(world, runs, about):
    from unweave.explorer.answers_run import names_of, shown_latents

    opened = Explorer(world, samples=SAMPLES).open(runs[0])
    assert shown_latents(opened) == about["order"]
    wanted = [
        f"z{each['index']} {each['factor']}" if each["factor"] else f"z{each['index']}" for each in about["latents"]
    ]
    assert names_of(opened, range(4)) == wanted


def test_reconstructions_are_below_their_images(picture, first, runs):
    grid = picture("/api/run/reconstructions", run=runs[0], n=3, seed=5)
    images = first.data.images(np.random.default_rng(5).integers(len(first.data), size=3))
    assert (grid[:32, 33:65, :3] == images[1]).all()
    assert (grid[33:, 33:65, :3] == first.reconstruct(images)[1]).all()


def test_curves_are_the_log(get, first, runs):
    found, log = get("/api/run/curves", run=runs[0]), first.log()
    assert found["steps"] == log["step"].to_list()
    assert found["terms"]["loss"] == log["loss"].to_list()
    assert set(found["terms"]) == {name for name in log.columns if name != "step"}


def test_the_matrices_are_the_metrics_own(get, first, runs):
    images = sampled_images(first)
    codes, factors = first.encode(first.data.images(images)).astype(float), first.data.values(images)
    for kind in ("mi", "importance", "correlation"):
        found = get("/api/matrix", run=runs[0], kind=kind)
        values = np.array(found["values"])
        assert values.shape == (4, len(first.data.factors.names))
        own = [latent for latent in found["matched"] if latent is not None]
        assert len(found["matched"]) == len(first.data.factors.names)
        assert len(set(own)) == len(own)
        assert sorted(found["order"]) == [0, 1, 2, 3]
        assert found["order"][: len(own)] == own
        assert (found["floor"] is None) == (kind == "importance")
        if kind != "importance":
            pairs = [(latent, factor) for factor, latent in enumerate(found["matched"]) if latent is not None]
            assert all(abs(values[latent, factor]) > found["floor"] for latent, factor in pairs)
        if kind == "correlation":
            assert values[1, 2] == pytest.approx(np.corrcoef(codes[:, 1], factors[:, 2])[0, 1], abs=1e-6)
        if kind == "importance":
            assert values.sum(axis=0) == pytest.approx(np.ones(values.shape[1]))
        if kind == "mi":
            assert values[1, 2] == pytest.approx(share_known(codes[:, 1], factors[:, 2]), abs=1e-6)


def share_known(code: np.ndarray, factor: np.ndarray) -> float:
    """Return I(z; v) / H(v) of a code cut into twenty bins of equal width, from the joint counts."""
    edges = np.linspace(code.min(), code.max(), 21)
    joint = np.histogram2d(code, factor, bins=[edges, np.arange(factor.max() + 2)])[0] / len(code)
    rows, columns = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    known = joint[joint > 0] @ np.log((joint / (rows * columns + (joint == 0)))[joint > 0])
    return float(known / -(columns[columns > 0] @ np.log(columns[columns > 0])))


def test_a_scatter_is_of_all_sampled_images(get, first, runs):
    found = get("/api/scatter", run=runs[0], latent=1, factor=2)
    images = sampled_images(first)
    assert (found["sampled"], found["of"], found["images"]) == (300, len(first.data), images.tolist())
    assert found["y"] == first.data.values(images)[:, 2].tolist()
    assert found["x"] == pytest.approx(first.encode(first.data.images(images))[:, 1].tolist(), abs=1e-5)


def test_a_run_compared_with_itself_agrees(get, runs, about):
    found = get("/api/compare", left=runs[0], right=runs[0])
    used = [latent for latent in about["order"] if about["latents"][latent]["active"]]
    assert [(pair["left"], pair["right"], pair["sign"]) for pair in found["pairs"]] == [(j, j, 1) for j in used]
    assert [pair["agreement"] for pair in found["pairs"]] == pytest.approx([1.0] * len(used))
    assert all(score["left"] == score["right"] for score in found["scores"])


def test_latents_of_two_runs_are_matched_one_to_one(get, world, runs):
    found = get("/api/compare", left=runs[0], right=runs[1])
    left, right = (unweave.Run.open(world / run) for run in runs[:2])
    images = left.data.images(sampled_images(left))
    ours, theirs = left.encode(images), right.encode(images)
    assert found["pairs"]
    for pair in found["pairs"]:
        correlation = np.corrcoef(ours[:, pair["left"]], theirs[:, pair["right"]])[0, 1]
        assert (pair["agreement"], pair["sign"]) == (pytest.approx(abs(correlation), abs=1e-5), np.sign(correlation))
    for side in ("left", "right"):
        assert sorted([*(pair[side] for pair in found["pairs"]), *found[f"rest_{side}"]]) == [0, 1, 2, 3]


def test_runs_on_other_data_are_not_compared(client, runs):
    answer = client.get("/api/compare", params={"left": runs[0], "right": "other"})
    assert (answer.status_code, "different data sets" in answer.json()["error"]) == (409, True)


def test_the_modules_of_the_first_page_are_requested_at_once(client):
    page = client.get("/").text
    links = re.findall('<link rel="modulepreload" href="page/([^"]+)">', page)
    assert page.index("importmap") < page.index("modulepreload")
    found, new = set(), {"main.js", "views/study.js"}
    while new:
        found |= new
        texts = [client.get(f"/page/{name}").text for name in new]
        new = {name for text in texts for name in re.findall(r'^import .* from "#([^"]+)"', text, re.MULTILINE)} - found
    assert len(found) > 15
    assert found <= {*links, "main.js"}
    assert all(client.get(f"/page/{name}").status_code == 200 for name in links)


def test_the_page_and_plotly_are_served(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert client.get("/page/main.js").headers["content-type"].startswith("text/javascript")
    assert len(client.get("/plotly.js").content) > 1_000_000
