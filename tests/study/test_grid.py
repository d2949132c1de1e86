"""From data sets, methods, settings and seeds to runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import unweave
from unweave.config import Config
from unweave.data import load
from unweave.methods import AnnealedVAE, BetaVAE, Schedule
from unweave.study.grid import grid_of, read_grid
from unweave.study.plan import Plan, changes
from unweave.training.resolve import resolved

FILE = """
data = ["xysquares:size=32", "rooms3d:size=32"]
seeds = 2
steps = 3000
metrics = ["mig", "dci"]
[[methods]]
name = "beta-vae"
beta = [1, 4, 16]
[[methods]]
name = "vae"
data = ["rooms3d:size=32"]
batch = 32
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(text)
    return path


def test_a_file_is_a_grid_with_seeds_outermost(tmp_path: Path):
    plan = read_grid(written(tmp_path, FILE)).plan()
    rows = [
        (task.seed, task.config["data"]["name"], task.config["method"]["name"], task.config["method"].get("beta"))
        for task in plan.tasks
    ]
    one = [
        *(("xysquares", "beta-vae", beta) for beta in (1.0, 4.0, 16.0)),
        *(("rooms3d", "beta-vae", beta) for beta in (1.0, 4.0, 16.0)),
        ("rooms3d", "vae", None),
    ]
    assert rows == [(seed, *row) for seed in (0, 1) for row in one]
    assert plan.tasks[-1].config["training"]["batch"] == 32
    assert {task.config["training"]["steps"] for task in plan.tasks} == {3000}
    assert len(plan.cells()) == 7
    assert [len(tasks) for tasks in plan.cells().values()] == [2] * 7


def test_a_data_set_may_have_training_options_which_a_method_overrides(tmp_path: Path):
    text = """
data = ["rooms3d:size=32", { name = "xysquares:size=32", standardise = true, lr = 0.01, batch = 16 }]
seeds = 1
batch = 8
methods = [{ name = "vae" }, { name = "ae", lr = 0.1 }, { name = "beta-vae", data = "xysquares:size=32", beta = 2 }]
"""
    found = {
        (task.config["data"]["name"], task.config["method"]["name"]): task.config["training"]
        for task in read_grid(written(tmp_path, text)).plan().tasks
    }
    assert {key: (value["standardise"], value["lr"], value["batch"]) for key, value in found.items()} == {
        ("rooms3d", "vae"): (False, 1e-3, 8),
        ("rooms3d", "ae"): (False, 0.1, 8),
        ("xysquares", "vae"): (True, 0.01, 16),
        ("xysquares", "ae"): (True, 0.1, 16),
        ("xysquares", "beta-vae"): (True, 0.01, 16),
    }
    plain = unweave.Study(data={"name": "xysquares:size=32", "standardise": True}, methods=["vae"], steps=3, batch=4)
    assert plain.plan.tasks[0].config["training"]["standardise"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{ standardise = true }", "a data set of a study needs a name, not None"),
        ('{ name = "xysquares", standardize = true }', "no training option of xysquares is called 'standardize'"),
        ('{ name = "xysquares", seed = 3 }', "no training option of xysquares is called 'seed'"),
        ('{ name = "xysquare" }', "no data set is called 'xysquare'"),
        ("3", "data must be a list of data sets by name, not 3"),
    ],
)
def test_a_wrong_data_set_says_what_is_wrong(tmp_path: Path, data: str, said: str):
    with pytest.raises(unweave.UsageError, match=said):
        read_grid(written(tmp_path, f"data = [{data}]\nseeds = 1\nmethods = ['vae']\n")).plan()


def test_a_run_has_the_identity_that_training_gives_it(tmp_path: Path):
    study = unweave.Study(
        data="xysquares:size=32", methods=[BetaVAE(beta=2)], steps=3, batch=4, net="mlp", width=0.02, latents=3
    )
    run = unweave.train(
        BetaVAE(beta=2),
        data="xysquares:size=32",
        steps=3,
        batch=4,
        net="mlp",
        width=0.02,
        latents=3,
        out=tmp_path / "run",
    )
    (task,) = study.plan.tasks
    assert task.name == f"beta-vae-xysquares-seed0-{run.id[:12]}"
    assert Config.from_json(task.config) == run.settings


def test_resolving_twice_changes_nothing():
    data = load("xysquares:size=32")
    for method in ("annealed-vae", "factor-vae", "beta-tcvae", "ada-gvae"):
        (task,) = grid_of({"data": ["xysquares:size=32"], "seeds": 1, "methods": [method]}).plan().tasks
        config = Config.from_json(task.config)
        assert resolved(config, data) == config


def test_python_and_toml_say_the_same(tmp_path: Path):
    file = read_grid(written(tmp_path, FILE)).plan()
    methods: list[Any] = [BetaVAE(beta=beta) for beta in (1, 4, 16)]
    limited = {"name": "vae", "data": ["rooms3d:size=32"], "batch": 32}
    study = unweave.Study(
        data=["xysquares:size=32", "rooms3d:size=32"],
        methods=[*methods, limited],
        seeds=range(2),
        steps=3000,
        metrics=["mig", "dci"],
    )
    assert study.plan == file


def test_lists_of_options_are_dimensions_and_equal_runs_are_one():
    grid = {"data": "xysquares:size=32", "seeds": [3], "methods": ["vae", {"name": "beta-vae", "beta": [4, 4.0]}]}
    plan = grid_of({**grid, "lr": [1e-3, 1e-4], "latents": [5, 10]}).plan()
    assert len(plan.tasks) == 4 + 4
    assert {(task.config["training"]["lr"], task.config["net"]["latents"]) for task in plan.tasks} == {
        (lr, latents) for lr in (1e-3, 1e-4) for latents in (5, 10)
    }


def test_schedules_are_written_as_text_and_presets_fill_up():
    schedule = str(Schedule(0.0, 25.0, 100))
    grid = {"data": ["xysquares:size=32"], "seeds": 1, "steps": 200}
    (task,) = grid_of({**grid, "methods": [{"name": "annealed-vae", "capacity": schedule}]}).plan().tasks
    (same,) = grid_of({**grid, "methods": [AnnealedVAE(capacity=Schedule(0, 25, 100))]}).plan().tasks
    assert task == same
    (published,) = grid_of({**grid, "methods": [{"name": "beta-vae", "preset": "dlib", "beta": 8}]}).plan().tasks
    assert published.config["training"]["lr"] == 1e-4
    assert published.config["training"]["steps"] == 200  # what the file says wins
    assert published.config["method"]["beta"] == 8.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dta": ["xysquares"]}, "no setting of a study is called 'dta'.*data"),
        ({"methods": [{"name": "beta-vea"}]}, "no method is called 'beta-vea'.*beta-vae"),
        ({"methods": [{"name": "beta-vae", "betta": 1}]}, "no setting of beta-vae is called 'betta'.*beta"),
        ({"methods": [{"beta": 1}]}, "a method of a study needs a name"),
        ({"methods": []}, "a study needs a list of methods"),
        ({"methods": [{"name": "vae", "data": ["rooms3d"]}]}, "no data set of this study is called 'rooms3d'"),
        ({"methods": [{"name": "beta-vae", "beta": []}]}, "beta is an empty list"),
        ({"data": ["xysqares"]}, "no data set is called 'xysqares'.*xysquares"),
        ({"seeds": 0}, "at least one seed"),
        ({"seeds": [-1]}, "a seed must be a whole number"),
        ({"seeds": "five"}, "seeds must be a number of seeds"),
        ({"metrics": ["migg"]}, "no metric is called 'migg'"),
        ({"evaluate": {"sampels": 3}}, "no setting of evaluate is called 'sampels'.*samples"),
        ({"steps": 0}, "steps and batch must be at least 1"),
    ],
)
def test_mistakes_are_answered_in_one_line(change: dict[str, Any], message: str):
    right = {"data": ["xysquares:size=32"], "seeds": 1, "methods": ["vae"]}
    with pytest.raises(unweave.UsageError, match=message):
        grid_of({**right, **change}).plan()


def test_files_that_are_none(tmp_path: Path):
    with pytest.raises(unweave.UsageError, match="there is no file"):
        read_grid(tmp_path / "none.toml")
    with pytest.raises(unweave.UsageError, match=r"study.toml' is not a valid TOML file: .*line 1"):
        read_grid(written(tmp_path, "data = = 3"))
    with pytest.raises(unweave.UsageError, match=r"study.toml': a study needs methods"):
        read_grid(written(tmp_path, "data = ['xysquares']\nseeds = 1\n"))


def test_a_plan_is_json_and_its_changes_are_cells():
    grid = {"data": ["xysquares:size=32"], "seeds": 2, "methods": [{"name": "beta-vae", "beta": [1, 4]}]}
    before = grid_of(grid).plan()
    assert Plan.from_json(json.loads(json.dumps(before.to_json()))) == before
    after = grid_of({**grid, "seeds": 3, "methods": [{"name": "beta-vae", "beta": [4, 8]}]}).plan()
    found = changes(before, after)
    assert [after.cells()[cell][0].config["method"]["beta"] for cell in found.added] == [8.0]
    assert [before.cells()[cell][0].config["method"]["beta"] for cell in found.removed] == [1.0]
