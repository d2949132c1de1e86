"""A whole study: what is missing is done, what is there is not done again, and nothing is lost."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unweave
from unweave.study import Outcome, Study, study
from unweave.study.folder import StudyFolder
from unweave.study.work import Job, attempt, perform

from .conftest import TINY


def tiny(out: Path, **changes: Any) -> Study:
    settings = {**TINY, "methods": [{"name": "beta-vae", "beta": [1, 4]}], "out": out, **changes}
    return Study(**settings)


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_runs_are_trained_scored_and_not_done_again(tmp_path: Path, here):
    found = tiny(tmp_path / "study", seeds=2, snapshots=[5])
    assert found.status().counts == {"done": 0, "failed": 0, "running": 0, "todo": 4}
    told: list[Outcome] = []
    steps: list[tuple[float, float | None]] = []
    after = found.run(on_result=told.append, on_progress=lambda what, done, total: steps.append((done, total)))
    assert after.counts == {"done": 4, "failed": 0, "running": 0, "todo": 0}
    assert [outcome.kind for outcome in told] == ["done"] * 4
    assert steps == [(done, 4) for done in range(5)]
    scores = found.scores()
    assert scores.columns[:8] == ["run", "data", "method", "beta", "seed", "step", "metric", "value"]
    assert sorted(scores.select("beta", "seed", "step").rows()) == [
        (beta, seed, step) for beta in (1.0, 4.0) for seed in (0, 1) for step in (5, 12)
    ]
    run = unweave.Run.open(tmp_path / "study" / "runs" / here.performed[0])
    again = run.at(5).evaluate(["mig"], **TINY["evaluate"])["value"].drop_nulls().item()
    assert again in scores.filter(run=here.performed[0], step=5)["value"].to_list()
    found.run()
    assert len(here.performed) == 4
    assert Study.open(tmp_path / "study").scores().equals(scores)


def test_only_what_is_missing_is_scored(tmp_path: Path, here, monkeypatch: pytest.MonkeyPatch):
    tiny(tmp_path / "study").run()
    asked: list[list[str]] = []
    original = unweave.Run.evaluate

    def evaluate(run: unweave.Run, metrics: Any, **settings: Any) -> Any:
        asked.append(list(metrics))
        return original(run, metrics, **settings)

    monkeypatch.setattr(unweave.Run, "evaluate", evaluate)
    more = tiny(tmp_path / "study", metrics=["mig", "modularity"])
    assert more.status().counts["todo"] == 2
    assert more.run().counts["done"] == 2
    assert asked == [["modularity"]] * 2
    assert set(more.scores()["metric"]) == {"mig", "modularity"}


def test_metrics_that_do_not_apply_to_a_model_are_left_out_for_it_alone(tmp_path: Path, here):
    methods = ["beta-vae", "vq-vae", "lejepa"]
    options = {"methods": methods, "metrics": ["linearity", "mig", "elbo"]}
    study = tiny(tmp_path / "study", **options)
    assert study.run().counts == {"done": 3, "failed": 0, "running": 0, "todo": 0}
    found = {(row["method"], row["metric"]) for row in study.scores().iter_rows(named=True)}
    assert found == {
        *(("beta-vae", name) for name in ("linearity", "mig", "elbo-bound", "elbo-distortion", "elbo-rate")),
        ("vq-vae", "mig"), ("lejepa", "linearity"), ("lejepa", "mig"),
    }  # fmt: skip
    here.performed.clear()
    assert study.run().counts["done"] == 3
    assert not here.performed
    alone = tiny(tmp_path / "alone", methods=["lejepa"], metrics=["elbo"])
    assert alone.run().counts["failed"] == 1
    said = "no metric of the study applies to this run: 'elbo' needs a decoder, but this model has none"
    assert alone.folder.failure(alone.plan.tasks[0]).startswith(said)


def test_a_failure_keeps_its_traceback_and_is_tried_again_when_asked(tmp_path: Path, here):
    def fail(job: Job) -> Outcome:
        def broken(job: Job) -> None:
            raise ZeroDivisionError("by hand")

        if job.task.config["method"]["beta"] == 4.0:
            import unweave.study.work as module

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(module, "perform", broken)
                return attempt(job)
        return attempt(job)

    here.work = fail
    found = tiny(tmp_path / "study")
    assert found.run().counts == {"done": 1, "failed": 1, "running": 0, "todo": 0}
    (failed,) = [task for task in found.plan.tasks if found.status().states[task.name] == "failed"]
    assert found.folder.failure(failed) == "ZeroDivisionError: by hand"
    assert "Traceback" in found.folder.failure_of(failed).read_text()
    here.work = attempt
    assert found.run().counts["failed"] == 1  # a failure is tried again only when that is asked for
    assert found.run(redo="failed").counts["done"] == 2
    assert not list((tmp_path / "study" / "failures").iterdir())


def test_stop_on_failure_starts_no_further_run(tmp_path: Path, here):
    here.work = lambda job: Outcome(job.task.name, "failed", "no luck")
    with pytest.raises(unweave.UsageError, match="failed: no luck"):
        tiny(tmp_path / "study").run(stop_on_failure=True)
    assert len(here.performed) == 1


def test_a_full_disk_stops_scheduling_and_loses_nothing(tmp_path: Path, here, monkeypatch: pytest.MonkeyPatch):
    def full(job: Job) -> None:
        if len(here.performed) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(job.folder))
        perform(job)

    monkeypatch.setattr("unweave.study.work.perform", full)
    found = tiny(tmp_path / "study", seeds=2)
    with pytest.raises(unweave.UsageError, match="the disk is full"):
        found.run()
    assert found.status().counts == {"done": 1, "failed": 0, "running": 0, "todo": 3}
    monkeypatch.setattr("unweave.study.work.perform", perform)
    assert found.run().counts["done"] == 4


def test_a_damaged_run_fails_and_is_set_aside_when_done_again(tmp_path: Path, here):
    found = tiny(tmp_path / "study")
    found.run()
    folder = found.folder.run_of(found.plan.tasks[0])
    (folder / "config.json").write_text("{")
    (folder / "weights.safetensors").unlink()
    assert found.status().counts["todo"] == 1
    assert found.run().counts["failed"] == 1
    assert found.run(redo="failed").counts["done"] == 2
    assert [path.name for path in (tmp_path / "study" / "replaced").iterdir()] == [f"{folder.name}-0"]


def test_cells_and_stale_runs_are_done_again_by_name(tmp_path: Path, here, monkeypatch: pytest.MonkeyPatch):
    found = tiny(tmp_path / "study", seeds=2)
    found.run()
    assert not found.stale()
    (label,) = [label for label in found.labels().values() if "beta=4.0" in label]
    here.performed.clear()
    found.run(redo=[label])
    assert len(here.performed) == 2
    status = found.folder.run_of(found.plan.tasks[0]) / "status.json"
    status.write_text(json.dumps({**json.loads(status.read_text()), "versions": {"unweave": "0.0.1"}}))
    assert found.stale() == [found.plan.tasks[0]]
    here.performed.clear()
    found.run(redo="stale")
    assert here.performed == [found.plan.tasks[0].name]
    with pytest.raises(unweave.UsageError, match="no cell or run is called 'nonsense'"):
        found.run(redo="nonsense")


def test_a_changed_study_says_what_is_new_and_keeps_what_is_gone(tmp_path: Path, here):
    tiny(tmp_path / "study").run()
    changed = tiny(tmp_path / "study", methods=[{"name": "beta-vae", "beta": [4, 8]}])
    found = changed.changes()
    assert found is not None
    assert [changed.labels()[cell] for cell in found.added] == ["beta-vae beta=8.0 on xysquares:spacing=8,size=32"]
    assert len(found.removed) == 1
    here.performed.clear()
    assert changed.run().counts["done"] == 2
    assert len(here.performed) == 1
    assert len(list((tmp_path / "study" / "runs").glob("beta*"))) == 3
    assert set(changed.scores()["beta"]) == {4.0, 8.0}


def test_folders_that_are_no_study_are_left_alone(tmp_path: Path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "thoughts.txt").write_text("mine")
    with pytest.raises(unweave.UsageError, match="not empty and not a study"):
        tiny(tmp_path / "notes").run()
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["thoughts.txt"]
    with pytest.raises(unweave.UsageError, match="there is no folder"):
        Study.open(tmp_path / "none")
    with pytest.raises(unweave.UsageError, match="is not a study"):
        Study.open(tmp_path / "notes")


def test_a_second_driver_is_told_who_runs_the_study(tmp_path: Path):
    found = tiny(tmp_path / "study")
    with found.folder.driving(2, "local") as driver:
        driver.update([found.plan.tasks[0].name], 3)
        driver.write()
        code = (
            f"import unweave; from unweave.study.folder import StudyFolder; from pathlib import Path\n"
            f"with StudyFolder(Path({str(tmp_path / 'study')!r})).driving(1, 'local'): pass"
        )
        second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert f"process {os.getpid()} on " in second.stderr
        assert "is already running this study" in second.stderr
        counts = StudyFolder(tmp_path / "study").driver()
        assert counts["finished"] == 3
    assert not StudyFolder(tmp_path / "study").driver()


def test_two_workers_make_the_same_files_as_this_process(tmp_path: Path, here, monkeypatch: pytest.MonkeyPatch):
    alone = tiny(tmp_path / "alone")
    alone.run(device="cpu")
    monkeypatch.undo()
    both = tiny(tmp_path / "both")
    assert both.run(workers=2, device="cpu").counts["done"] == 2
    for task in alone.plan.tasks:
        first, second = alone.folder.run_of(task), both.folder.run_of(task)
        for name in ("config.json", "weights.safetensors", "log.parquet", "scores.parquet", "scored.json"):
            assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_opening_a_study_loads_neither_torch_nor_data(tmp_path: Path, here):
    tiny(tmp_path / "study").run()
    code = (
        f"import sys; from unweave.study import Study; s = Study.open({str(tmp_path / 'study')!r}); s.scores(); "
        "assert s.status().counts['done'] == 2; print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_rate_and_the_time_left_come_from_the_driver():
    states: Any = {"a": "done", "b": "running", "c": "todo", "d": "todo"}
    import time

    status = study.Status(states, {"finished": 10, "started": time.time() - 360_000})
    assert status.rate == pytest.approx(0.1, rel=0.01)
    assert status.hours_left == pytest.approx(30, rel=0.01)
    assert study.Status(states, {}).hours_left is None
