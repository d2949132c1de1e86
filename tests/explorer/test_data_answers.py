"""Data and geometry: what the server answers, against what the library says itself."""

from __future__ import annotations

import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from unweave.explorer import answers_geometry
from unweave.explorer.app import create_app
from unweave.explorer.asking import Asker
from unweave.explorer.perceiving import MOST, Perceiving
from unweave.explorer.refusals import Refused, Unable
from unweave.explorer.state import Explorer


@pytest.fixture(scope="module")
def asker(world: Path) -> Asker:
    return Asker(create_app(Explorer(world, samples=300)))


def picture(content: bytes | None) -> np.ndarray:
    assert content is not None
    return np.asarray(Image.open(BytesIO(content)).convert("RGB"))


def test_a_data_set_is_described(asker: Asker, runs: list[str]):
    from unweave.data import load

    found, data = asker.json("data", {"run": runs[0]}), load("shapes2d", size=32)
    assert (found["name"], found["images"], found["shape"]) == ("shapes2d", len(data), [32, 32, 1])
    assert [(each["name"], each["size"]) for each in found["factors"]] == list(
        zip(data.factors.names, data.factors.sizes, strict=True)
    )
    assert found["grid"]
    assert found["loss"] == "mse"


def test_a_traversal_shows_the_values_of_one_factor(asker: Asker, runs: list[str]):
    from unweave.data import load

    data = load("shapes2d", size=32)
    names = dict(zip(data.factors.names, data.factors.sizes, strict=True))
    name = next(name for name, size in names.items() if size <= 6)
    strip = picture(asker.ask("data/traversal", {"run": runs[0], "factor": name, "seed": 3}))
    assert strip.shape == (32, names[name] * 33 - 1, 3)
    base = data.factors.from_index(int(np.random.default_rng(3).integers(len(data))))
    truth = data.images(data.factors.to_index(data.factors.traversal(name, base)))
    for place, image in enumerate(truth):
        assert np.array_equal(strip[:, place * 33 : place * 33 + 32], np.broadcast_to(image, (32, 32, 3)))


def test_random_images_are_a_grid_of_ten_columns(asker: Asker, runs: list[str]):
    one = picture(asker.ask("data/samples", {"run": runs[0], "n": 20, "seed": 0}))
    assert one.shape == (65, 329, 3)
    assert np.array_equal(one, picture(asker.ask("data/samples", {"run": runs[1], "n": 20, "seed": 0})))
    assert not np.array_equal(one, picture(asker.ask("data/samples", {"run": runs[0], "n": 20, "seed": 1})))


def test_distances_are_those_of_the_library(asker: Asker, world: Path, runs: list[str]):
    from unweave.perception import distance_matrices
    from unweave.runs import Run

    found = asker.json("data/distances", {"run": runs[0], "factor": "scale"})
    truth = distance_matrices(None, run=Run.open(world / runs[0]), traversals=30, factors=["scale"], progress=False)
    assert set(found["levels"]) == {"factors", "data", "latents", "posteriors", "reconstructions"}
    for level, matrix in truth["scale"].items():
        np.testing.assert_allclose(found["levels"][level], matrix, atol=1e-5)
    assert found["values"] == found["levels"]["data"]


def wait(asker: Asker, run: str) -> dict[str, Any]:
    until = time.monotonic() + 300
    while (found := asker.json("data/perceive", {"run": run}))["state"] == "computing":
        assert time.monotonic() < until
        time.sleep(0.05)
    return found


def test_the_answer_of_perceive_comes_in_the_background_and_is_kept(asker: Asker, runs: list[str]):
    from unweave.perception import perceive

    found = wait(asker, runs[0])
    truth = perceive("shapes2d:size=32", "mse", standardise=False, progress=False)
    assert found["state"] == "done"
    assert found["sentence"] == truth.sentence
    assert [row["factor"] for row in found["table"]] == truth.table()["factor"].to_list()
    again = asker.json("data/perceive", {"run": runs[1]})  # the same data and loss: nothing is computed
    assert (again["state"], again.get("sentence")) == ("done", truth.sentence)


class Odd:
    """A data set that cannot be measured."""

    def __init__(self, number: int) -> None:
        self.description = {"name": "odd", "number": number}


def test_what_cannot_be_measured_ends_in_one_line():
    perceiving = Perceiving()
    perceiving.ask(Odd(0), "mse", False)  # pyright: ignore[reportArgumentType]
    until = time.monotonic() + 300
    while (found := perceiving.ask(Odd(0), "mse", False))["state"] == "computing":  # pyright: ignore[reportArgumentType]
        assert time.monotonic() < until
        time.sleep(0.02)
    assert found["state"] == "failed"
    assert "\n" not in found["error"]


def test_no_more_data_sets_are_waited_for_than_a_few(monkeypatch: pytest.MonkeyPatch):
    perceiving = Perceiving()
    monkeypatch.setattr(perceiving, "_start", lambda: None)  # so that none is ever answered
    for number in range(MOST):
        perceiving.ask(Odd(number), "mse", False)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Refused, match="too many"):
        perceiving.ask(Odd(MOST), "mse", False)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("data", {"run": "nothing"}),
        ("data/traversal", {"run": "other", "factor": "nothing"}),
        ("data/traversal", {"run": "other", "factor": "x_R", "seed": "-1"}),
        ("data/distances", {"run": "other"}),
        ("data/samples", {"run": "other", "n": "1e9"}),
        ("geometry", {"points": "other"}),
        ("geometry", {"points": "geometry/points.npy"}),
    ],
)
def test_what_is_not_there_is_refused(asker: Asker, path: str, params: dict[str, str]):
    assert asker.ask(path, params) is None


def test_points_are_shown_along_each_factor(asker: Asker, world: Path):
    found = asker.json("geometry", {"points": "geometry/factors.npz"})
    assert list(found["views"]) == ["factor 1", "factor 2", "principal components"]
    assert (found["sampled"], found["of"], found["dim"], found["count"]) == (600, 600, 6, 2)
    truth = np.load(world / "geometry" / "points.npy")
    spheres = {}
    for name in ("factor 1", "factor 2"):
        seen = np.array(found["views"][name]["points"])
        lengths = np.linalg.norm(seen - (seen.max(axis=0) + seen.min(axis=0)) / 2, axis=1)
        assert lengths.std() / lengths.mean() < 0.08  # a sphere
        away = [np.linalg.lstsq(part, seen - seen.mean(axis=0))[1].sum() for part in (truth[:, :3], truth[:, 3:])]
        spheres[name] = int(np.argmin(away))
        assert min(away) < 0.05 * max(away)  # and one of the two that points were drawn from
    assert sorted(spheres.values()) == [0, 1]
    assert found["colours"]["factor 1"] == [point[0] for point in found["views"]["factor 1"]["points"]]
    assert set(found["colours"]) == {"factor 1", "factor 2", "confidence", "tilt (radians)"}


def test_many_points_are_sampled(tmp_path: Path):
    n = 5000
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(n, 3, 2)))[0]
    arrays = {"axes": axes, "labels": np.tile([0, 0], (n, 1)), "spectrum": np.arange(1.0, 4), "count": 1, "dims": [2]}
    parts = {
        "tilts": np.zeros(n),
        "confidence": np.ones(n),
        "odd": np.zeros(n, bool),
        "points": rng.normal(size=(n, 3)),
    }
    np.savez(tmp_path / "many.npz", **arrays, **parts)
    found = answers_geometry.about(tmp_path / "many.npz", "many.npz")
    assert (found["sampled"], found["of"]) == (3000, 5000)
    assert list(found["views"]) == ["principal components"]
    assert found["explained"] == pytest.approx(1)


@pytest.mark.parametrize("damage", ["cut", "pickled", "shape", "no points", "nan"])
def test_damaged_points_are_refused_in_a_line(world: Path, tmp_path: Path, damage: str):
    whole = dict(np.load(world / "geometry" / "factors.npz"))
    path = tmp_path / "factors.npz"
    if damage == "pickled":
        whole["points"] = np.array([{"a": 1}], dtype=object)
    elif damage == "shape":
        whole["labels"] = whole["labels"][:-1]
    elif damage == "no points":
        del whole["points"]
    elif damage == "nan":
        whole["points"] = whole["points"] * np.nan
    np.savez(path, **whole)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(Unable) as refused:
        answers_geometry.about(path, "factors.npz")
    assert "\n" not in str(refused.value)
