"""The studies in examples/ can be run as they are, and hold the runs that the docs show."""

from __future__ import annotations

import tomllib
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

import methods
import methods_docs
import numpy as np
import polars
import pytest
from PIL import Image

from unweave.methods import method_of
from unweave.study.folder import StudyFolder
from unweave.study.grid import read_grid
from unweave.study.plan import Plan
from unweave.study.task import settings_of

from .test_table import write_run

STUDIES = Path(__file__).parents[2] / "examples" / "studies"
COUNTS = {
    "beta-sweep": (12, 4),
    "comparison": (1380, 276),
    "frontier-decoders": (15, 3),
    "frontier-discrete": (25, 5),
    "frontier-identifiable": (30, 6),
    "frontier-supervision": (60, 12),
    "frontier-tc": (25, 5),
    "methods-compared": (69, 23),
    "methods-others": (10, 10),
    "own-data": (40, 8),
}
"""Runs and cells of each file."""
SUPERVISED = "β-VAE, 1000 labels"


@cache
def plan_of(name: str) -> Plan:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_grid(STUDIES / f"{name}.toml").plan()


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the folder that own-data.toml tells its reader to change."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(4):
        Image.fromarray(rng.integers(256, size=(64, 64, 3), dtype=np.uint8)).save(folder / f"{number}.png")
    (folder / "factors.csv").write_text("file,shape\n" + "".join(f"{n}.png,{n % 2}\n" for n in range(4)))


def test_every_file_is_known():
    assert {path.stem for path in STUDIES.glob("*.toml")} == set(COUNTS)


@pytest.mark.usefixtures("photos")
@pytest.mark.parametrize("name", COUNTS)
def test_a_file_expands_to_its_runs_and_names_its_own_command(name: str):
    plan = plan_of(name)
    assert (len(plan.tasks), len(plan.cells())) == COUNTS[name]
    assert plan.scoring.keys()
    head = (STUDIES / f"{name}.toml").read_text().splitlines()[1]
    assert head.startswith(f"#   unweave study run examples/studies/{name}.toml --out studies/")


FRONTIER = ["frontier-decoders", "frontier-identifiable", "frontier-supervision", "frontier-tc"]
IMAGES = {**dict.fromkeys(["comparison", *FRONTIER], 48), "methods-compared": 96, "methods-others": 96}


@pytest.mark.parametrize("name", IMAGES)
def test_all_methods_see_as_many_images_a_step(name: str):
    for task in plan_of(name).tasks:
        usual = method_of(task.config["method"]["name"]).group_size
        images = task.config["training"]["batch"] * task.config["method"].get("group", usual)
        assert images == IMAGES[name], task.name
        dark = task.config["data"]["name"] in ("xysquares", "xyobject")  # nearly all pixels are black
        assert task.config["training"]["standardise"] == dark, task.name


def test_the_studies_have_the_runs_of_the_stored_table():
    found = Counter()
    for name in ("methods-compared", "methods-others"):
        for task in plan_of(name).tasks:
            settings = settings_of(task.config)
            label = methods.label(settings)
            found[name.removeprefix("methods-"), settings["data"].split(":")[0], label, settings["seed"]] += 1
    assert found == Counter(methods_docs.read().select(methods_docs.KEY).rows())


def test_the_table_of_the_docs_is_read_off_the_folder_of_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    plan = plan_of("methods-others")
    StudyFolder(tmp_path).write_plan(plan)
    for place, task in enumerate(plan.tasks[-3:]):
        scores = dict.fromkeys(methods_docs.TITLES, place / 10)
        write_run(tmp_path / "runs" / task.name, dict(task.config), scores, "unfinished" if place == 0 else "finished")
    rows = list(methods.rows_of(tmp_path))
    assert [row["method"] for row in rows] == ["HFS", SUPERVISED]
    assert rows[1] == {
        "table": "others", "data": "rooms3d", "method": SUPERVISED, "seed": 0,
        **dict.fromkeys(methods_docs.TITLES, 0.2), "training seconds": 1.5,
    }  # fmt: skip
    path = tmp_path / "methods.csv"
    path.write_bytes(methods_docs.STORE.read_bytes())
    methods_docs.store(rows, path)
    assert polars.read_csv(path).filter(method="HFS")["mig"].to_list() == [0.1]
    methods.main([str(tmp_path)])
    assert f"| {SUPERVISED} | 0.200 |" in capsys.readouterr().out


def test_the_page_about_studies_shows_the_file():
    text = (STUDIES.parents[1] / "docs" / "study.md").read_text(encoding="utf-8")
    shown = text.partition("```toml\n")[2].partition("```")[0]
    assert tomllib.loads(shown) == tomllib.loads((STUDIES / "beta-sweep.toml").read_text(encoding="utf-8"))
