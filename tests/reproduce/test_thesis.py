"""The experiments are those of the thesis' tables A.3 to A.7, and every figure runs from study to drawing."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path

import pages
import polars
import pytest
import thesis_docs

from unweave.errors import UsageError
from unweave.methods import Schedule
from unweave.presets import PRESETS
from unweave.reproduce import RESULTS, find, reproduce
from unweave.reproduce.thesis.chapter5 import ROUTES
from unweave.reproduce.thesis.experiment import LEARNT, Experiment, drawn
from unweave.reproduce.thesis.figure import ThesisFigure
from unweave.reproduce.thesis.scores import SCHEDULES
from unweave.study.engines.table import Local
from unweave.study.work import Job, Outcome, attempt

FIGURES = [name for name in RESULTS if name.startswith("thesis-") and issubclass(find(name), ThesisFigure)]
RUNS = {
    "thesis-3.7": (60, 160),
    "thesis-3.10": (40, 160),
    "thesis-3.12": (40, 40),
    "thesis-4.4": (30, 180),
    "thesis-5.1": (60, 320),
    "thesis-5.4": (65, 100),
    "thesis-5.5": (30, 100),
    "thesis-5.7": (45, 20),
    "thesis-6.4": (40, 240),
    "thesis-7.3": (20, 48),
    "thesis-7.6": (60, 60),
}
"""Runs of small and of paper, as the docs have them."""
NO_FILES = [name for name in FIGURES if name not in ("thesis-6.4", "thesis-7.6")]
"""Figures whose small studies need neither a learnt loss nor pictures."""


def experiment(name: str, preset: str) -> Experiment:
    return find(name).presets[preset]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in this process: a worker that imports torch takes longer than all runs of a smoke test."""

    def run(self: Local, jobs: Iterable[Job], workers: int | None, started: object) -> Generator[Outcome]:
        yield from map(attempt, jobs)

    monkeypatch.setattr(Local, "run", run)


@pytest.mark.parametrize("name", FIGURES)
def test_the_grids_are_those_of_the_thesis(name: str):
    assert (experiment(name, "small").count(), experiment(name, "paper").count()) == RUNS[name]


@pytest.mark.parametrize("name", NO_FILES)
@pytest.mark.parametrize("preset", ["smoke", "small"])
def test_runs_are_counted_as_the_study_has_them(name: str, preset: str, tmp_path: Path):
    settings = experiment(name, preset)
    study = settings.study(3, tmp_path)
    assert len(study.plan.tasks) == settings.count()
    assert {task.seed for task in study.plan.tasks} == set(range(3, 3 + settings.seeds))


def test_what_is_trained_in_the_paper_is_what_its_tables_say():
    beta, ada = experiment("thesis-3.7", "paper").methods
    assert (beta["name"], ada["name"]) == ("beta-vae", "ada-gvae")
    assert (len(beta["beta"]), beta["latents"], beta["preset"]) == (8, [9, 25], "thesis-3.3.3")
    assert PRESETS["thesis-3.3.3"].options["steps"] == 115_200
    assert experiment("thesis-3.7", "paper").snapshots[-1] < 115_200
    triplets = experiment("thesis-5.1", "paper").methods[0]
    swept = {name: values for name, values in triplets.items() if isinstance(values, list)}
    assert {name: len(values) for name, values in swept.items()} == {
        "margin": 2, "scale": 2, "norm": 2, "soft_margin": 2, "decoder_gradient": 2, "by": 2
    }  # fmt: skip
    assert experiment("thesis-5.4", "paper") == experiment("thesis-5.5", "paper")
    for name in FIGURES:
        settings = experiment(name, "paper")
        for entry in settings.methods:
            steps = {**PRESETS[entry["preset"]].options, **PRESETS[entry["preset"]].methods[entry["name"]]}["steps"]
            assert settings.snapshots == tuple(range(7_200, steps, 7_200)), name


def test_schedules_are_those_of_table_5_2():
    def route(value: float | str) -> str:
        return f"{value:g}" if isinstance(value, float) else str(value).partition("@")[0]

    assert {(route(each["omega"]), route(each["eta"])): name for name, each in ROUTES.items()} == SCHEDULES
    assert Schedule.read(ROUTES["weight (weak)"]["omega"]) == Schedule(1.0, 0.5, share=1.0)


def test_times_are_measured_on_data_that_is_drawn():
    for name in FIGURES:
        for entry, data, _ in experiment(name, "paper").parts():
            assert drawn(data).partition(":")[0] in ("xysquares", "xyobject", "xyobject-shaded"), entry
    losses = [entry["loss"] for entry, _, _ in experiment("thesis-6.4", "paper").parts()]
    assert losses.count(LEARNT) == 2


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.filterwarnings("ignore")  # of 20 steps nothing is learnt
@pytest.mark.usefixtures("in_process")
def test_smoke_trains_scores_and_draws(name: str, tmp_path: Path):
    outcome = reproduce(name, preset="smoke", out=tmp_path / "result", workers=1)
    settings = experiment(name, "smoke")
    scores = polars.read_csv(tmp_path / "result" / "scores.csv", infer_schema_length=None)
    assert scores["run"].n_unique() == settings.count()
    assert outcome.findings.rows
    assert sum(note.startswith("Thesis: ") for note in outcome.findings.notes) >= 1
    assert (tmp_path / "result" / "scores.png").stat().st_size > 10_000
    again = find(name)().read(scores)  # pyright: ignore[reportAttributeAccessIssue]
    assert [(row.what, row.ours) for row in again.rows] == [(row.what, row.ours) for row in outcome.findings.rows]
    assert again.notes == outcome.findings.notes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("in_process")
def test_a_study_that_was_run_elsewhere_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The folder of a study may be copied below a result, its learnt loss with it: nothing is trained again."""
    monkeypatch.setitem(find("thesis-6.4").presets, "smoke", brief())  # pyright: ignore[reportArgumentType]
    reproduce("thesis-6.4", preset="smoke", out=tmp_path / "first")
    (tmp_path / "second").mkdir()
    (tmp_path / "first" / "study").rename(tmp_path / "second" / "study")
    (tmp_path / "first" / "learnt.loss").rename(tmp_path / "second" / "study" / "learnt.loss")
    told: list[tuple[str, int, int]] = []
    outcome = reproduce(
        "thesis-6.4", preset="smoke", out=tmp_path / "second", on_progress=lambda *each: told.append(each)
    )
    assert told == [("runs", 0, 0)]
    assert outcome.findings.rows


def brief() -> Experiment:
    """Return one β-VAE and one seed of the smoke test of figure 6.4."""
    from dataclasses import replace

    settings = experiment("thesis-6.4", "smoke")
    return replace(settings, methods=({**settings.methods[0], "loss": ["mse", LEARNT]},), seeds=1, metrics=("mig",))


def test_missing_pictures_get_one_line(tmp_path: Path):
    with pytest.raises(UsageError, match="the pictures of Tiny ImageNet are not here; put the folder train"):
        reproduce("thesis-7.6", preset="paper", out=tmp_path / "result")


def test_the_cost_counts_runs_and_hours(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "unweave.reproduce.study_cost.training_seconds",
        lambda plan, few, more: {plan.tasks[0].name: 3600.0 * plan.tasks[0].config["training"]["steps"] / 57_600},
    )
    told = find("thesis-3.10")().cost(experiment("thesis-3.10", "paper"))
    assert told.startswith("160 runs: 80 of beta-vae, 80 of ada-gvae, on 8 data sets, with 5 seeds.\n")
    assert "about 160 hours on one core" in told


def test_the_page_is_that_of_the_stored_scores():
    """If not: `python benchmarks/thesis_docs.py` writes the page from the files."""
    text = thesis_docs.PAGE.read_text(encoding="utf-8")
    for name, found in thesis_docs.blocks().items():
        assert pages.block(name, found) in text, name


def test_every_result_of_the_thesis_has_a_section_and_a_line_in_the_index():
    text = thesis_docs.PAGE.read_text(encoding="utf-8")
    index = (thesis_docs.PAGE.parent / "README.md").read_text(encoding="utf-8")
    for name in thesis_docs.NAMES:
        assert f"\n## {name}\n" in text
        assert f"    unweave reproduce {name}\n" in text
        assert f"| `{name}` | [" in index
