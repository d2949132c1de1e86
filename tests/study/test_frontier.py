"""The tables over five seeds on the pages of the newer methods."""

from __future__ import annotations

import shutil
from pathlib import Path

import frontier
import numpy as np
import polars
import pytest
from scipy import stats

from unweave.study.folder import StudyFolder

from .test_table import write_run, write_scored


@pytest.mark.parametrize("study", frontier.NAMES)
def test_every_cell_has_a_name_and_every_study_a_page(study: str):
    assert len(frontier.cells_by_name(study)) == len(frontier.plan_of(study).cells())
    assert {len(cell.runs) for cell in frontier.cells_by_name(study).values()} == {5}
    places = [
        range(len(frontier.NAMES[study]))[shown.cells] for shown in frontier.PAGES.values() if shown.study == study
    ]
    assert {place for some in places for place in some} == set(range(len(frontier.NAMES[study])))


def test_names_belong_to_their_cells():
    """The names are given in the order of the files: compare those whose settings say the same."""
    told = {
        study: {name: cell.strength for name, cell in frontier.cells_by_name(study).items()} for study in frontier.NAMES
    }
    assert told["discrete"]["JointVAE, γ_c = 0"] == "categorical_gamma 0"
    assert told["supervision"]["GVAE, groups of 4"].startswith("group 4")
    assert told["supervision"]["embed, permuted"] == "term embed, kind permuted"
    assert told["supervision"]["SlowVAE, small steps"].startswith("rule laplace")
    assert told["decoders"]["broadcast"] == "net broadcast"
    assert frontier.cells_by_name("tc")["HFS on a β-TCVAE"].method == "hfs + tc"
    assert frontier.cells_by_name("tc")["β-VAE, β = 4"].method == "beta-vae"


def test_scores_are_read_off_the_folder_of_a_study_and_shown_with_their_interval(tmp_path: Path):
    plan, values = frontier.plan_of("discrete"), [0.3, 0.32, 0.28, 0.35, 0.31]
    study = tmp_path / "study"
    StudyFolder(study).write_plan(plan)
    cell = frontier.cells_by_name("discrete")["FSQ"]
    tasks = {task.name: task for task in plan.tasks}
    configs = {name: dict(task.config) for name, task in tasks.items()}
    for run, value in zip(cell.runs, values, strict=True):
        write_run(study / "runs" / run, configs[run], dict.fromkeys(frontier.scores_in("discrete"), value))
        write_scored(study, tasks[run], plan)
    partly = frontier.cells_by_name("discrete")["VQ-VAE"].runs[0]
    write_run(study / "runs" / partly, configs[partly], {"mig": 0.5})
    path = tmp_path / "frontier.csv"
    table = frontier.store([study], path)
    assert set(table["run"]) == set(cell.runs)
    assert frontier.store([study], path).equals(table)
    assert frontier.read(path).equals(table)

    line = next(line for line in frontier.text_of(table, "methods/fsq").splitlines() if line.startswith("| FSQ |"))
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    said = [float(part.strip("[],")) for part in line.split("|")[2].split()]
    np.testing.assert_allclose(said, [np.mean(values), low, high], atol=0.011)
    assert "| VQ-VAE | not run |" in frontier.text_of(table, "methods/fsq")
    assert frontier.text_of(table, "methods/pcl") == "No run is stored."


def test_runs_of_an_older_version_of_a_study_are_dropped(tmp_path: Path):
    path = tmp_path / "frontier.csv"
    old = {"study": ["tc"], "run": ["hfs-rooms3d-seed0-000000000000"], "metric": ["mig"], "value": [0.5]}
    polars.DataFrame(old).write_csv(path)
    assert not len(frontier.store([], path))


def test_the_pages_say_what_is_stored(tmp_path: Path):
    """If not: `python benchmarks/frontier.py` writes them."""
    for page in frontier.PAGES:
        copy = tmp_path / f"{page}.md"
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(frontier.DOCS / f"{page}.md", copy)
    frontier.write(frontier.read(), tmp_path)
    for page in frontier.PAGES:
        assert (tmp_path / f"{page}.md").read_text() == (frontier.DOCS / f"{page}.md").read_text(), page
