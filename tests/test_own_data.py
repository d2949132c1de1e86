"""Runs on data of your own: without factors, with real-valued ones, and where the data have moved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import unweave
from unweave.data import Table
from unweave.errors import UsageError
from unweave.methods import METHODS
from unweave.metrics.presets import LeftOut
from unweave.report import write_page
from unweave.runs import Run
from unweave.training.loop import train

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (40, 16, 16, 1), dtype=np.uint8)
BRIEF: dict[str, Any] = {"steps": 3, "batch": 8, "width": 0.05, "net": "mlp", "latents": 3, "threads": 1}
SUPERVISED = (
    "ada-gvae",
    "ada-ml-vae",
    "gvae",
    "ml-vae",
    "slow-vae",
    "beta-tvae",
    "ada-tvae",
    "tae",
    "ada-tae",
    "ivae",
    "lejepa",
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::unweave.scoring.Collapsed", "ignore::unweave.metrics.presets.FewSamples"
)


def write_photographs(folder: Path, count: int = 30) -> Path:
    """Write random images of several sizes."""
    folder.mkdir(parents=True)
    for number in range(count):
        sides = RNG.integers(20, 40, size=2)
        Image.fromarray(RNG.integers(0, 256, (*sides, 3), dtype=np.uint8)).save(folder / f"{number}.png")
    return folder


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_on_unlabelled_images_or_says_that_it_needs_factors(method: str, tmp_path: Path):
    if method not in SUPERVISED:
        assert train(method, data=IMAGES, out=tmp_path / "run", **{**BRIEF, "net": "conv"}).state == "finished"
        return
    with pytest.raises(UsageError, match=r"needs factors, but table has none|full grid of factors"):
        train(method, data=IMAGES, out=tmp_path / "run", **BRIEF)


def test_photographs_of_mixed_sizes_are_trained_on_scored_and_drawn(tmp_path: Path):
    folder = write_photographs(tmp_path / "photos")
    with pytest.raises(UsageError, match=r"the images differ in size \(.* sizes; .*give size=64"):
        train("beta-vae", data=str(folder), out=tmp_path / "run", **BRIEF)
    run = train("beta-vae", data=f"{folder}:size=16", out=tmp_path / "run", **BRIEF)
    with pytest.warns(LeftOut, match=r"folder has no factors: \d+ metrics .* are left out"):
        scores = run.evaluate(intervals=False)
    assert {"active-units", "total-correlation", "pairwise-mi", "elbo-rate", "jacobian-orthogonality"} <= {
        *scores["metric"]
    }
    assert scores["floor"].is_null().all()
    assert json.loads(scores.row(0, named=True)["options"])["rows"] == 30
    with pytest.raises(UsageError, match="the metric 'mig' needs factors, but folder has none"):
        run.evaluate("mig")
    page = write_page(run).read_text()
    assert all(f"<h2>{title}</h2>" in page for title in ("Reconstructions", "Traversals", "Training curve"))
    assert "Factors × latents" not in page
    assert "Ceilings" not in page


def test_real_factors_are_scored_by_the_metrics_that_take_numbers(tmp_path: Path):
    factors = np.stack([RNG.integers(0, 3, 40), RNG.normal(size=40)], axis=1)
    run = train("beta-vae", data=Table(IMAGES, factors, names=["kind", "age"]), out=tmp_path / "run", **BRIEF)
    options: dict[str, Any] = {"intervals": False, "floors": False}
    with pytest.warns(LeftOut, match="factors are continuous: .* bin_factors=10 .--bin-factors 10. includes them"):
        found = run.evaluate(["study", "mcc"], **options)["metric"]
    assert "mcc" in found
    assert "mig" not in found
    found = run.evaluate(["mig", "factor-vae-score"], bin_factors=5, preset="fast", **options)["metric"]
    assert {"mig", "factor-vae-score"} <= {*found}
    page = write_page(run).read_text()
    assert "Factors that are real numbers (age) are cut into 20 groups" in page


def moved_run(tmp_path: Path) -> tuple[Path, Path]:
    """Return the folders of a data set and of a run on it."""
    folder = write_photographs(tmp_path / "cluster" / "photos")
    out = tmp_path / "cluster" / "runs" / "first"
    train("beta-vae", data=f"{folder}:size=16", out=out, **BRIEF)
    return folder, out


def test_a_run_finds_data_that_moved_with_it_or_stayed(tmp_path: Path):
    folder, out = moved_run(tmp_path)
    config = json.loads((out / "config.json").read_text())
    assert config["data"]["path"] == "../../photos"
    known = Run.open(out)
    shutil.copytree(tmp_path / "cluster", tmp_path / "laptop")
    away = folder.rename(tmp_path / "away")
    together = Run.open(tmp_path / "laptop" / "runs" / "first")
    assert together.data.options["path"] == str(tmp_path / "laptop" / "photos")
    assert together.id == known.id == config["id"]
    away.rename(folder)
    alone = Path(shutil.move(out, tmp_path / "alone"))
    assert Run.open(alone).data.options["path"] == str(folder)


def test_a_run_takes_data_from_where_they_are_now_and_no_others(tmp_path: Path):
    folder, out = moved_run(tmp_path)
    away = folder.rename(tmp_path / "away")
    run = Run.open(out)
    assert run.encode(np.zeros((2, 16, 16, 3), np.uint8)).shape == (2, 3)  # which needs no data
    with pytest.raises(UsageError, match=r"the data of '.*first' are not at '.*photos'; .* --data PATH"):
        len(run.data)
    given = Run.open(out, data=away)
    assert given.data.shape == (16, 16, 3)
    images = given.data.images(np.arange(30))
    for data in (given.data, Table(images), images):
        assert len(Run.open(out, data=data).data) == 30
    with pytest.raises(
        UsageError, match=rf"'{out}': .*digest {run.config['data']['digest']}.*digest {Table(IMAGES).digest}"
    ):
        Run.open(out, data=IMAGES)
    (away / "0.png").unlink()
    with pytest.raises(UsageError, match=f"its digest is .*, not {run.config['data']['digest']}"):
        Run.open(out, data=str(away))


def test_a_run_of_an_earlier_version_with_an_absolute_path_opens(tmp_path: Path):
    folder, out = moved_run(tmp_path)
    config = json.loads((out / "config.json").read_text())
    config["data"]["path"] = str(folder)
    (out / "config.json").write_text(json.dumps({**config, "id": "0123456789abcdef"}))
    status = json.loads((out / "status.json").read_text())
    del status["data"]
    (out / "status.json").write_text(json.dumps(status))
    assert len(Run.open(out).data) == 30
    assert train("beta-vae", data=f"{folder}:size=16", out=out, **BRIEF).state == "finished"  # it is the same run


def test_runs_on_one_set_at_two_places_can_be_compared_and_resumed(tmp_path: Path):
    folder, out = moved_run(tmp_path)
    other = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert train("beta-vae", data=f"{other}:size=16", out=out, **BRIEF).state == "finished"
    second = train("beta-vae", data=f"{other}:size=16", out=tmp_path / "b", seed=1, **BRIEF)
    with pytest.warns(LeftOut):
        table = unweave.compare(Run.open(out), second, metrics=["study", "active-units"])
    assert "active-units" in table["metric"]
