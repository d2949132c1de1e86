"""Finished parts of a reproduction are kept: after Ctrl-C it goes on, and ends as if it had never stopped."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from unweave.reproduce import (
    RESULTS,
    find,
    geomancer,
    geomancer_objects,
    guardians,
    identifiability,
    impossibility,
    linear_gaussian,
    reproduce,
    scale_encoders,
)
from unweave.reproduce.by_study import StudyReproduction
from unweave.reproduce.frame import Row
from unweave.reproduce.geomancer import Geomancer
from unweave.reproduce.geomancer_objects import FoundFactors
from unweave.reproduce.geomancer_products import Trials
from unweave.reproduce.guardians import Guardians
from unweave.reproduce.impossibility import Settings as ImpossibilitySettings
from unweave.reproduce.intervals import Estimate
from unweave.reproduce.linear_gaussian_rates import Rate
from unweave.reproduce.linear_gaussian_settings import Setting
from unweave.reproduce.parts import FOLDER, Parts
from unweave.reproduce.thesis.table import Distances

SQUARES = ("xysquares:size=16", "xysquares:size=16,spacing=2")
LOSSES = ("mse", "mse-box:radius=7")
SETTINGS = {
    "linear-gaussian": find("linear-gaussian").presets["smoke"],
    "impossibility": ImpossibilitySettings(samples=100, repeats=2, rows=100, alphas=2),
    "guardians": replace(Guardians.presets["smoke"], metrics=("mig", "mcc")),
    "geomancer": replace(Geomancer.presets["smoke"], images=20),
    "identifiability": find("identifiability").presets["smoke"],
    "scale-encoders": scale_encoders.Settings(("one", "other"), ("pixels", "ica"), 50),
    "thesis-3.1": Distances((*SQUARES, "xyobject:size=32"), 200, 2, ("mse",)),
    "thesis-4.1": Distances(SQUARES, 200, 2, LOSSES),
    "thesis-4.2": Distances(("xysquares:size=16,spacing=1", "xysquares:size=16,spacing=8"), 200, 2, LOSSES),
    "thesis-6.1": Distances(SQUARES[:1], 200, 2, ("mse-gauss:radius=7", *LOSSES)),
}
"""Of each result, little: what is tested is that parts are kept."""


@pytest.fixture
def quick(monkeypatch):
    """Put numbers of a moment in the place of those that take long."""

    def rate(label, name, studies):
        return tuple(Rate(label, name, score, 25, len(name) + len(score), 0.5, 0.0) for score in ("I_m", "SAP"))

    def trials(product, n, seeds):
        return Trials((2, 2), tuple(seed % 7 / 7 for seed in seeds), (2, 2), (True, False), (False, True))

    def find_factors(points, latents, seed):
        return FoundFactors(2, (3, 2), ("in doubt",), np.linspace(0, 1, len(points)) + points.mean())

    monkeypatch.setattr(sys.modules["unweave.reproduce.save"], "_png", lambda figure: b"a picture")
    monkeypatch.setattr(linear_gaussian, "rates", rate)
    monkeypatch.setattr(Setting, "studies", lambda *_: [])
    monkeypatch.setattr(impossibility, "score", lambda codes, factors, seed: scores_of(codes))
    monkeypatch.setattr(guardians, "score", lambda codes, factors, metrics, seed: found_in(codes, metrics))
    monkeypatch.setattr(scale_encoders, "scored", encoded)
    monkeypatch.setattr(geomancer, "trials", trials)
    monkeypatch.setattr(identifiability, "learnt", observed_instead)
    monkeypatch.setattr(geomancer_objects, "find_factors", find_factors)
    monkeypatch.setattr(geomancer_objects, "codes", lambda data, images, *_: (images[:, 0, :, 0] / 255.0, 0.5))


def encoded(data, name, random_weights, samples, seed):
    rows = [
        {"images": images, "codes": samples, "metric": "mig", "value": len(name) / 10, "low": 0.0, "high": 1.0}
        for images in (scale_encoders.AS_PUBLISHED, scale_encoders.RANDOM)
    ]
    return scale_encoders.Scored(data, name, random_weights, len(name), rows)


def observed_instead(method, world, settings, seed, codes):
    return world.observed[settings.rows :, :codes]


def scores_of(codes):
    return {name: Estimate(codes.mean(), codes.min(), codes.max()) for name in impossibility.METRICS}


def found_in(codes, metrics):
    return [(name, float(abs(codes).mean()), 0.0, 1.0, float(abs(codes).mean())) for name in metrics]


def stop_after(count: int):
    calls = iter(range(10**6))

    def on_progress(what, done, total):
        if next(calls) == count:
            raise KeyboardInterrupt

    return on_progress


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.usefixtures("quick")
def test_an_interrupted_reproduction_goes_on_and_ends_the_same(name, tmp_path, monkeypatch):
    kind = find(name)
    monkeypatch.setattr(kind, "presets", {"small": SETTINGS[name]})
    whole = reproduce(name, out=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        reproduce(name, out=tmp_path / "cut", on_progress=stop_after(2))
    kept = {json.loads(path.read_text())["name"] for path in (tmp_path / "cut" / FOLDER).iterdir()}
    assert len(kept) == 2
    written: list[str] = []
    call = Parts.__call__

    def counted(self, name, compute):
        return call(self, name, lambda: (written.append(name), compute())[1])

    monkeypatch.setattr(Parts, "__call__", counted)
    again = reproduce(name, out=tmp_path / "cut")
    assert written
    assert not kept & set(written)
    assert not (tmp_path / "cut" / FOLDER).exists()  # once the result is there, its parts are not needed
    assert again.table() == whole.table()
    for path in (tmp_path / "whole").iterdir():
        ours = (tmp_path / "cut" / path.name).read_bytes()
        if path.name == "result.json":
            timeless = [{**json.loads(text), "finished": "", "seconds": 0} for text in (ours, path.read_bytes())]
            assert timeless[0] == timeless[1]
        elif path.name != "result.md":  # which says when it was finished
            assert ours == path.read_bytes()


def test_every_result_keeps_its_parts_or_is_a_study():
    assert {*RESULTS} - {*SETTINGS} == {name for name in RESULTS if issubclass(find(name), StudyReproduction)}


@pytest.mark.filterwarnings("ignore")
def test_a_result_that_is_a_study_goes_on_with_the_runs_it_lacks(tmp_path, monkeypatch):
    name = "challenging-assumptions"
    kind = find(name)
    little = replace(
        kind.presets["smoke"], data=("xysquares:size=32",), seeds=2, strengths=(0,), metrics=("mig", "elbo")
    )
    monkeypatch.setattr(kind, "presets", {"small": little})
    whole = reproduce(name, out=tmp_path / "whole", workers=1)
    with pytest.raises(KeyboardInterrupt):
        reproduce(name, out=tmp_path / "cut", workers=1, on_progress=stop_after(4))
    runs = tmp_path / "cut" / "study" / "runs"
    times = {path: path.stat().st_mtime_ns for path in runs.glob("*/weights.safetensors")}
    assert 0 < len(times) < 12
    again = reproduce(name, out=tmp_path / "cut", workers=1)
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    assert len(list(runs.glob("*/weights.safetensors"))) == 12
    assert again.table() == whole.table()


def test_a_part_is_computed_once(tmp_path):
    calls: list[int] = []

    def compute() -> Estimate:
        calls.append(1)
        return Estimate(1.0, float("nan"), np.inf)

    first = Parts(tmp_path, {"seed": 0})("a part", compute)
    parts = Parts(tmp_path, {"seed": 0})
    second = parts("a part", compute)
    assert (len(calls), repr(first)) == (1, repr(second))
    assert isinstance(second, Estimate)
    assert parts.seconds > 0
    Parts(tmp_path, {"seed": 1})("a part", compute)  # another seed: another part
    Parts(tmp_path, {"seed": 0})("another", compute)
    assert len(calls) == 3


@pytest.mark.parametrize("content", ["", "[]", '{"key": 1}', "null"])
def test_a_damaged_part_is_computed_again(tmp_path, content):
    Parts(tmp_path, {})("a part", lambda: 1)
    (path,) = (tmp_path / FOLDER).iterdir()
    path.write_text(content)
    assert Parts(tmp_path, {})("a part", lambda: 2) == 2


def test_only_our_own_kinds_are_built(tmp_path):
    Parts(tmp_path, {})("a part", lambda: Estimate(1.0, 0.0, 2.0))
    (path,) = (tmp_path / FOLDER).iterdir()
    for kind in ("pathlib:Path", "unweave.reproduce.parts:Parts", "unweave.reproduce.parts:import_module"):
        record = json.loads(path.read_text())
        record["value"] = {"kind": kind, "fields": ["os"]}
        path.write_text(json.dumps(record))
        assert Parts(tmp_path, {})("a part", lambda: 2) == 2


def test_every_kind_of_value_comes_back(tmp_path):
    value = {
        "row": Row("a", None, 1.5, np.float64(0.1), float("inf"), (0.0, 1.0)),
        2.5: [True, None, "β", (1, (2,))],
        "found": FoundFactors(2, (3, 2), ("in doubt",), np.arange(6, dtype=np.float32).reshape(2, 3), None, 0.5),
        "flag": np.bool_(True),
    }
    found = Parts(tmp_path, {})("all", lambda: value)
    assert repr(found) == repr(value).replace("np.float64(0.1)", "0.1")
    assert found["found"].errors.dtype == np.float32
    assert isinstance(found["flag"], np.bool_)


def test_what_is_not_a_part_is_left(tmp_path):
    parts = Parts(tmp_path, {})
    parts("a part", lambda: 1)
    (tmp_path / FOLDER / "notes.txt").write_text("mine")
    parts.remove()
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["notes.txt"]
