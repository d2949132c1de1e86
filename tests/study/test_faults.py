"""What goes wrong does not cost a run: processes that are killed, disks that refuse, files that are damaged."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unweave.study import Study
from unweave.study.engines.local import ATTEMPTS, run_local
from unweave.study.work import Job, attempt

from .conftest import TINY
from .test_local import jobs

DRIVER = """
import json, os, sys
from unweave.study import Study

def tell(outcome):
    with open("outcomes.txt", "a") as file:
        file.write(f"{outcome.name} {outcome.kind}\\n")

if __name__ == "__main__":
    settings = json.loads(open("settings.json").read())
    status = Study(**settings, out="study").run(workers=2, redo=sys.argv[1:], device="cpu", on_result=tell)
    print(json.dumps(status.counts))
"""
FILES = ("config.json", "weights.safetensors", "log.parquet", "scores.parquet", "scored.json")


def settings(steps: int, seeds: int) -> dict[str, Any]:
    return {**TINY, "methods": [{"name": "beta-vae", "beta": [1, 4]}], "seeds": seeds, "steps": steps}


def perform_here(study: Study) -> None:
    """Perform all tasks of a study in this process, undisturbed."""
    study.folder.path.mkdir(parents=True, exist_ok=True)
    study.folder.write_plan(study.plan)
    for task in study.plan.tasks:
        job = Job(task, study.folder.run_of(task), study.plan.scoring, device="cpu")
        outcome = attempt(job)
        assert outcome.kind == "done", outcome.summary


def assert_equal_files(study: Study, other: Study) -> None:
    for task in study.plan.tasks:
        for name in FILES:
            found, expected = (one.folder.run_of(task) / name for one in (study, other))
            assert found.read_bytes() == expected.read_bytes(), f"{task.name}/{name}"


class Disturbed:
    """A study that a process of its own runs in a folder, and that is killed again and again."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        (folder / "driver.py").write_text(DRIVER)
        (folder / "settings.json").write_text(json.dumps(settings))
        self.study = Study(**settings, out=folder / "study")

    def start(self, *redo: str, **how: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "driver.py", *redo]
        return subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how
        )

    def finish(self, *redo: str) -> dict[str, int]:
        out, err = self.start(*redo).communicate(timeout=600)
        assert not err, err
        return json.loads(out)

    def outcomes(self) -> list[list[str]]:
        path = self.folder / "outcomes.txt"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def begun(self) -> bool:
        """Tell whether a run is under way that has files of its own."""
        return any(not (run / "scored.json").exists() for run in (self.folder / "study" / "runs").glob("beta*"))


def workers_of(driver: int) -> list[int]:
    """Return the worker processes of a driver."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [int(pid) for pid, parent, args in rows if int(parent) == driver and "spawn_main" in args]


def until(there: Callable[[], object], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def killed(disturbed: Disturbed, victims: list[str], rng: random.Random) -> None:
    """Kill a worker or the driver, one after another, each a moment after a run has begun; start the driver again."""
    driver = disturbed.start()
    for victim in victims:
        until(lambda driver=driver: driver.poll() is not None or disturbed.begun())
        time.sleep(rng.uniform(0, 0.5))
        if driver.poll() is None and victim == "worker" and (workers := workers_of(driver.pid)):
            try:
                os.kill(rng.choice(workers), signal.SIGKILL)
            except ProcessLookupError:
                continue
        elif driver.poll() is None:
            driver.kill()
        if driver.poll() is not None or victim == "driver":
            driver.communicate()
            driver = disturbed.start()  # at once: workers of the one before may still be saving
    driver.communicate(timeout=900)


def survives(tmp_path: Path, workers: int, drivers: int, steps: int, seeds: int) -> None:
    rng = random.Random(0)
    victims = ["worker"] * workers + ["driver"] * drivers
    rng.shuffle(victims)
    disturbed = Disturbed(tmp_path, settings(steps, seeds))
    killed(disturbed, victims, rng)
    study = disturbed.study
    failed = [task for task in study.plan.tasks if study.folder.failure(task)]
    assert all(f", {ATTEMPTS} times" in study.folder.failure(task) for task in failed)
    assert disturbed.finish("failed") == {"done": 2 * seeds, "failed": 0, "running": 0, "todo": 0}
    assert {path.name for path in (study.path / "runs").glob("*")} == {task.name for task in study.plan.tasks}
    ended = Counter(name for name, kind in disturbed.outcomes() if kind == "done")
    assert set(ended.values()) <= {1}  # once done, a run is never done again
    undisturbed = Study(**settings(steps, seeds), out=tmp_path / "undisturbed")
    perform_here(undisturbed)
    assert_equal_files(study, undisturbed)
    assert not list((study.path / "failures").iterdir())
    assert study.scores().equals(undisturbed.scores())


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_a_worker_and_a_driver_are_killed_and_the_weights_are_the_same(tmp_path: Path):
    survives(tmp_path, workers=1, drivers=1, steps=1500, seeds=2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed", "ignore::unweave.training.diagnosis.TrainingTrouble")
def test_twenty_workers_and_five_drivers_are_killed_and_the_weights_are_the_same(tmp_path: Path):
    survives(tmp_path, workers=20, drivers=5, steps=3500, seeds=6)


def killed_at_random(tmp_path: Path, works: Any, kills: int) -> None:
    """Let workers be killed at random moments of runs that train nothing, each run at most twice."""
    work = works(
        f"dying{kills}",
        """
import json, threading
def work(job):
    plan = json.loads((job.folder.parents[1] / "deaths.json").read_text())[str(job.task.seed)]
    begun = job.folder.with_suffix(".begun")
    with begun.open("a") as file:
        file.write("x")
    attempt = len(begun.read_text())
    if attempt <= len(plan):
        threading.Timer(plan[attempt - 1], os.kill, (os.getpid(), signal.SIGKILL)).start()
        time.sleep(60)
    return Outcome(job.task.name, "done")
""",
    )
    rng = random.Random(kills)
    given = jobs(tmp_path, kills)
    hit = Counter(rng.sample([number for number in range(kills) for _ in range(ATTEMPTS - 1)], kills))
    deaths = {seed: [rng.uniform(0, 0.05) for _ in range(hit[seed])] for seed in range(kills)}
    (tmp_path / "deaths.json").write_text(json.dumps(deaths))
    outcomes = list(run_local(given, 2, lambda names: None, work))
    assert Counter(outcome.name for outcome in outcomes) == Counter(job.task.name for job in given)
    assert {outcome.kind for outcome in outcomes} == {"done"}
    begun = [len(job.folder.with_suffix(".begun").read_text()) for job in given]
    assert begun == [1 + hit[seed] for seed in range(kills)]  # again only where a worker died


def test_four_kills_cost_four_attempts(tmp_path: Path, works: Any):
    killed_at_random(tmp_path, works, 4)


@pytest.mark.slow
def test_twenty_kills_cost_twenty_attempts(tmp_path: Path, works: Any):
    killed_at_random(tmp_path, works, 20)


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_a_disk_that_refuses_weights_stops_the_study_and_loses_nothing(tmp_path: Path):
    disturbed = Disturbed(tmp_path, settings(20, 2))
    size = 20_000  # enough for the plan, and not for weights

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    _, err = disturbed.start(preexec_fn=small_files).communicate(timeout=300)
    last = err.strip().splitlines()[-1]
    assert "the disk is full or cannot be written (OSError: [Errno 27]" in last
    assert last.endswith("nothing is lost: make room, and run again")
    assert [kind for _, kind in disturbed.outcomes()] == ["full"]
    assert disturbed.study.status().counts == {"done": 0, "failed": 0, "running": 0, "todo": 4}
    assert disturbed.finish()["done"] == 4
    undisturbed = Study(**settings(20, 2), out=tmp_path / "undisturbed")
    perform_here(undisturbed)
    assert_equal_files(disturbed.study, undisturbed)


def test_a_failure_that_cannot_be_recorded_stops_the_study(tmp_path: Path, here: Any, monkeypatch: pytest.MonkeyPatch):
    import errno

    import unweave
    from unweave.study import Outcome

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    here.work = lambda job: Outcome(job.task.name, "failed", "no luck", "Traceback …")
    monkeypatch.setattr("unweave.study.folder.write_atomically", full)
    study = Study(**settings(12, 1), out=tmp_path / "study")
    with pytest.raises(unweave.UsageError, match=r"No space left.*recorded that .* failed: no luck"):
        study.run()
    assert study.status().counts["todo"] == 2


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def without_training(folder: Path) -> None:
    """Leave a run as it is before it has finished, with a checkpoint that says nothing."""
    for name in ("status.json", "weights.safetensors", "scored.json", "scores.parquet"):
        (folder / name).unlink()
    (folder / "checkpoint.pt").write_bytes(b"no checkpoint")


DAMAGES: dict[str, tuple[Callable[[Path], object], bool]] = {
    "configuration": (lambda run: (run / "config.json").write_text("{"), True),
    "status": (lambda run: (run / "status.json").write_text('{"state"'), True),
    "weights": (lambda run: cut(run / "weights.safetensors"), True),
    "no weights": (lambda run: (run / "weights.safetensors").unlink(), True),
    "checkpoint": (without_training, True),
    "scores": (lambda run: cut(run / "scores.parquet"), False),
    "no scores": (lambda run: (run / "scores.parquet").unlink(), False),
    "list of scores": (lambda run: (run / "scored.json").write_text("{"), False),
    "list of scores of another shape": (lambda run: (run / "scored.json").write_text('{"scores": {"12": []}}'), False),
}
"""What is damaged, and whether training has to begin again: then it fails first, and is set aside when asked."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study(**settings(12, 1), out=tmp_path_factory.mktemp("finished") / "study")
    perform_here(study)
    return study


@pytest.mark.filterwarnings("ignore::unweave.study.table.LeftOut")
@pytest.mark.parametrize("what", DAMAGES)
def test_damaged_runs_are_found_and_done_again(tmp_path: Path, here: Any, finished: Study, what: str):
    study = Study(**settings(12, 1), out=tmp_path / "study")
    shutil.copytree(finished.path, study.path)
    assert study.status().counts["done"] == 2
    damage, fails = DAMAGES[what]
    task = study.plan.tasks[0]
    damage(study.folder.run_of(task))
    assert study.status().counts == {"done": 1, "failed": 0, "running": 0, "todo": 1}
    study.scores()  # leaves out what it cannot read
    after = study.run(device="cpu").counts
    assert here.performed == [task.name]
    assert after["failed"] == fails
    if fails:
        assert "Traceback" in study.folder.failure_of(task).read_text()
        assert study.run(device="cpu", redo="failed").counts["done"] == 2
        assert [path.name for path in (study.path / "replaced").iterdir()] == [f"{task.name}-0"]
    assert study.status().counts["done"] == 2
    assert_equal_files(study, finished)
    assert study.scores().equals(finished.scores())


def test_a_damaged_record_of_the_study_is_written_again(tmp_path: Path, here: Any, finished: Study):
    study = Study(**settings(12, 1), out=tmp_path / "study")
    shutil.copytree(finished.path, study.path)
    for content in ("{", "[]", '{"scoring": {}, "tasks": [], "snapshots": []}', '{"scoring": [], "tasks": {}}'):
        (study.path / "study.json").write_text(content)
        assert study.changes() is None
        assert study.run().counts["done"] == 2
    assert not here.performed
    assert Study.open(study.path).plan == study.plan


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_a_run_that_lacks_a_snapshot_is_trained_again_when_asked(tmp_path: Path, here: Any, finished: Study):
    shutil.copytree(finished.path, tmp_path / "study")
    study = Study(**settings(12, 1), snapshots=[5], out=tmp_path / "study")
    assert study.run().counts["failed"] == 2
    assert study.run(redo="failed").counts["done"] == 2


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_a_run_that_lacks_traces_is_trained_again_when_asked(tmp_path: Path, here: Any, finished: Study):
    shutil.copytree(finished.path, tmp_path / "study")
    study = Study(**settings(12, 1), trace_every=6, trace_samples=5, out=tmp_path / "study")
    assert study.status().counts["todo"] == 2
    assert study.run().counts["failed"] == 2
    assert study.run(redo="failed").counts["done"] == 2
    again = Study.open(study.path)
    assert again.plan == study.plan
    assert again.status().counts["done"] == 2
    other = Study(**settings(12, 1), trace_every=6, trace_samples=7, out=tmp_path / "study")
    assert other.status().counts["todo"] == 2
    assert other.run().counts["failed"] == 2
    assert "have 5 images, not 7" in other.folder.failure(other.plan.tasks[0])
    assert other.run(redo="failed").counts["done"] == 2


def test_a_look_at_the_status_does_not_keep_a_driver_out(tmp_path: Path, finished: Study):
    import fcntl
    import threading

    folder = shutil.copytree(finished.path, tmp_path / "study")
    (folder / ".driver.lock").touch()
    with (folder / ".driver.lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        threading.Timer(0.05, fcntl.flock, (file, fcntl.LOCK_UN)).start()
        with Study.open(folder).folder.driving(1, "local") as driver:
            driver.write()
            assert Study.open(folder).status().driver["pid"] == os.getpid()
            time.sleep(0.1)


def test_a_crash_leaves_its_traceback_in_the_log(tmp_path: Path, works: Any):
    work = works("crash", "import ctypes\ndef work(job):\n    ctypes.string_at(0)\n")
    (given,) = jobs(tmp_path, 1)
    (outcome,) = run_local([given], 1, lambda names: None, work)
    assert f"killed by SIGSEGV, {ATTEMPTS} times" in outcome.summary
    log = (tmp_path / "logs" / f"{given.task.name}.txt").read_text()
    assert log.count("Fatal Python error: Segmentation fault") == ATTEMPTS
    assert "in work" in log
