"""Slurm jobs: those of submitit's local executor, and the states of a queue that is played here."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import unweave
from unweave.study import Outcome, Study
from unweave.study.engines import slurm
from unweave.study.engines.local import ATTEMPTS
from unweave.study.engines.queues import SlurmQueue
from unweave.study.engines.slurm import run_slurm
from unweave.study.engines.table import Slurm
from unweave.study.engines.tries import LOSSES
from unweave.study.plan import Scoring
from unweave.study.work import Job

from .conftest import CLUSTER, same_results, tasks, until

HERE = Slurm(executor="local")


@pytest.fixture(scope="module", autouse=True)
def _by_value() -> Iterator[None]:
    """Send what is defined here to processes that cannot import tests."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def jobs(folder: Path, count: int) -> list[Job]:
    (folder / "runs").mkdir(exist_ok=True)
    return [Job(task, folder / "runs" / task.name, Scoring()) for task in tasks(count)]


def ignore(names: list[str]) -> None:
    """Be told which tasks are under way."""


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
def test_the_folders_are_those_of_this_machine_bit_for_bit(tmp_path: Path, local_study: Study):
    study = Study(**CLUSTER, out=tmp_path / "study")
    counts = study.run(engine="slurm", executor="local", workers=2, device="cpu").counts
    assert counts == {"done": 2, "failed": 0, "running": 0, "todo": 0}
    same_results(local_study, study)
    assert not (tmp_path / "study" / "slurm").exists()


def misbehave(job: Job) -> Outcome:
    print("a word of run", job.task.seed)
    with job.folder.with_suffix(".tried").open("a") as file:
        file.write("x")
    if job.task.seed == 1:
        raise ZeroDivisionError("by hand")
    if job.task.seed == 2:
        os.write(2, b"about to die")
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(job.task.name, "done", f"{os.environ['OMP_NUM_THREADS']} {job.threads}")


def test_a_process_that_dies_costs_attempts(tmp_path: Path):
    given = jobs(tmp_path, 3)
    found = {outcome.name: outcome for outcome in run_slurm(given, HERE, 3, ignore, misbehave)}
    done, failed, killed = (found[job.task.name] for job in given)
    assert (done.kind, done.summary) == ("done", "1 1")
    assert (failed.kind, killed.kind) == ("failed", "failed")
    assert "ZeroDivisionError: by hand" in failed.traceback
    assert killed.summary.endswith(f"ended as COMPLETED, {ATTEMPTS} times")
    assert [len(job.folder.with_suffix(".tried").read_text()) for job in given] == [1, ATTEMPTS, ATTEMPTS]
    log = (tmp_path / "logs" / f"{given[2].task.name}.txt").read_text()
    assert log.count("about to die") == ATTEMPTS


def stay(job: Job) -> Outcome:
    import time

    job.folder.mkdir(exist_ok=True)
    (job.folder / "pid").write_text(str(os.getpid()))
    try:
        while not (job.folder.parent / "go").exists():
            time.sleep(0.05)
    except KeyboardInterrupt:
        (job.folder / "stopped").touch()
        return Outcome(job.task.name, "interrupted")
    return Outcome(job.task.name, "done")


def test_a_job_that_is_cancelled_is_not_done_until_the_next_run(tmp_path: Path):
    given = jobs(tmp_path, 2)
    under_way: list[list[str]] = []

    def cancel_one(names: list[str]) -> None:
        under_way.append(names)
        if len(under_way) == 1:
            until(lambda: all((job.folder / "pid").is_file() for job in given))
            ids = json.loads((tmp_path / "slurm" / "jobs.json").read_text())
            os.kill(int(ids[given[0].task.name]), signal.SIGINT)
        elif given[0].task.name not in names:
            (tmp_path / "runs" / "go").touch()

    found = {outcome.name: outcome for outcome in run_slurm(given, HERE, 2, cancel_one, stay)}
    assert [found[job.task.name].kind for job in given] == ["interrupted", "done"]
    assert "ended as CANCELLED" in found[given[0].task.name].summary
    assert len(under_way[0]) == 2
    (again,) = run_slurm(given[:1], HERE, 2, ignore, stay)
    assert again.kind == "done"


def test_jobs_are_stopped_when_the_iterator_is_closed(tmp_path: Path):
    given = jobs(tmp_path, 2)
    outcomes = run_slurm(given, HERE, 2, ignore, stay_but_the_first)
    with closing(outcomes):
        assert next(outcomes).kind == "done"
        until(lambda: (given[1].folder / "pid").exists())
    assert (given[1].folder / "stopped").is_file()
    assert not (tmp_path / "slurm").exists()  # all have ended


def stay_but_the_first(job: Job) -> Outcome:
    return stay(job) if job.task.seed else Outcome(job.task.name, "done")


class Played:
    """A queue whose jobs end in the states that the test says, one after another."""

    pause = grace = 0.0
    size = 10
    script: Mapping[int, Sequence[str]] = {}
    """Of each seed, how its jobs end: a state, with the word that the job left where it left one."""
    left: Mapping[str, str] = {}
    """States of jobs that an earlier driver submitted."""

    def __init__(self, folder: Path, options: Slurm, workers: int | None) -> None:
        self.submitted: list[list[int]] = []
        self.ends: dict[str, str] = dict(self.left)
        Played.last = self

    last: Played

    def submit(self, function: Callable[..., None], arguments: Sequence[tuple[Any, ...]]) -> list[str]:
        self.submitted.append([job.task.seed for job, _, _ in arguments])
        identities = []
        for job, file, _ in arguments:
            times = sum(job.task.seed in batch for batch in self.submitted)
            state, _, kind = self.script[job.task.seed][min(times, len(self.script[job.task.seed])) - 1].partition(" ")
            if kind:
                file.write_text(json.dumps({"name": job.task.name, "kind": kind, "summary": "", "traceback": ""}))
            identities.append(f"{len(self.submitted)}_{job.task.seed}")
            self.ends[identities[-1]] = state
        return identities

    def states(self, ids: Iterable[str]) -> Mapping[str, str]:
        return {each: self.ends.get(each, "GONE") for each in ids}

    def cancel(self, ids: Sequence[str]) -> None:
        self.ends.update(dict.fromkeys(ids, "CANCELLED"))

    def errors(self, name: str) -> str:
        return f"stderr of {name}"


def played(folder: Path, count: int, monkeypatch: pytest.MonkeyPatch, **attributes: Any) -> list[Outcome]:
    for name, value in attributes.items():
        monkeypatch.setattr(Played, name, value)
    monkeypatch.setattr(slurm, "SlurmQueue", Played)
    return sorted(run_slurm(jobs(folder, count), Slurm(), None, ignore), key=lambda outcome: outcome.name)


def test_what_slurm_takes_away_is_submitted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = {
        0: ["COMPLETED done"],
        1: ["PREEMPTED", "COMPLETED done"],
        2: ["NODE_FAIL", "PREEMPTED interrupted", "COMPLETED done"],
        3: ["TIMEOUT", "COMPLETED interrupted", "COMPLETED done"],
        4: ["CANCELLED interrupted", "COMPLETED done"],
        5: ["OUT_OF_MEMORY"],
        6: ["COMPLETED failed"],
    }
    found = played(tmp_path, 7, monkeypatch, script=script)
    assert [outcome.kind for outcome in found] == ["done"] * 4 + ["interrupted", "failed", "failed"]
    assert Played.last.submitted == [[0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 5], [2, 3, 5]]
    assert found[5].summary == f"its Slurm job 3_5 ended as OUT_OF_MEMORY, {ATTEMPTS} times"
    assert found[5].traceback == "stderr of 3_5"


def test_a_run_that_never_gets_further_is_left_and_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (outcome,) = played(tmp_path, 1, monkeypatch, script={0: ["TIMEOUT"]})
    assert outcome.kind == "interrupted"
    assert Played.last.submitted == [[0]] * LOSSES


def test_jobs_that_an_earlier_driver_left_are_not_submitted_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    names = [job.task.name for job in jobs(tmp_path, 3)]
    (tmp_path / "slurm").mkdir()
    (tmp_path / "slurm" / "jobs.json").write_text(json.dumps({names[0]: "9_0", names[1]: "9_1"}))
    (tmp_path / "slurm" / f"{names[0]}.json").write_text(json.dumps({"name": names[0], "kind": "done"}))

    def end(names: list[str]) -> None:
        Played.last.ends["9_0"] = "COMPLETED"

    monkeypatch.setattr(slurm, "SlurmQueue", Played)
    monkeypatch.setattr(Played, "left", {"9_0": "RUNNING", "9_1": "FAILED"})
    monkeypatch.setattr(Played, "script", {seed: ["COMPLETED done"] for seed in range(3)})
    found = list(run_slurm(jobs(tmp_path, 3), Slurm(), None, end))
    assert sorted(outcome.name for outcome in found) == sorted(names)
    assert Played.last.submitted == [[1, 2]]


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that puts a shell script on the path; srun is there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def make(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    make("srun", "")
    return make


def test_what_sbatch_and_squeue_are_told(tmp_path: Path, commands: Callable[[str, str], None]):
    commands("sbatch", f'cp "$1" {tmp_path}/script; echo "$OMP_NUM_THREADS" > {tmp_path}/threads; echo batch job 7')
    options = Slurm(partition="long", time=2, cpus=3, gpus=1, memory=1.5, sbatch=("qos=high",))
    queue = SlurmQueue(tmp_path / "slurm", options, 5)
    (tmp_path / "slurm").mkdir()
    assert queue.submit(print, [(1,), (2,)]) == ["7_0", "7_1"]
    lines = (tmp_path / "script").read_text().splitlines()
    wanted = ("partition=long", "time=2", "cpus-per-task=3", "gpus-per-node=1", "mem=1536M", "qos=high", "no-requeue")
    for option in (*wanted, "array=0-1%2", "signal=USR2@30"):
        assert f"#SBATCH --{option}" in lines
    assert (tmp_path / "threads").read_text() == "1\n"
    commands("squeue", f'echo "$@" > {tmp_path}/asked; echo "7_0 RUNNING"; echo "8_0 PENDING"')
    assert queue.states(["7_0", "7_1"]) == {"7_0": "RUNNING", "7_1": "GONE"}
    assert "--states=all" in (tmp_path / "asked").read_text()
    commands("squeue", "exit 1")
    assert queue.states(["7_0"]) == {}  # the controller is away; nothing is known
    commands("scancel", f'echo "$@" > {tmp_path}/cancelled')
    queue.cancel(["7_0", "7_1"])
    assert (tmp_path / "cancelled").read_text() == "7_0 7_1\n"
    commands("sbatch", "echo no such partition >&2; exit 1")
    with pytest.raises(unweave.UsageError, match="Slurm refused the jobs: no such partition"):
        queue.submit(print, [(1,), (2,)])


def test_without_slurm_or_submitit_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(unweave.UsageError, match="there is no Slurm here"):
        next(run_slurm(jobs(tmp_path, 1), Slurm(), None, ignore))
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(unweave.UsageError, match=r"pip install 'unweave\[slurm\]'"):
        next(run_slurm(jobs(tmp_path, 1), Slurm(), None, ignore))


@pytest.mark.parametrize(
    ("engine", "options", "message"),
    [
        ("cloud", {}, "no engine is called 'cloud'"),
        ("local", {"cpus": 2}, "the engine 'local' has no option 'cpus' (it has none)"),
        ("ray", {"partition": "long"}, "the engine 'ray' has no option 'partition' (it has: address, cpus"),
        ("ray", {"gpus": 1.5}, "gpus must be a fraction of one or a whole number, not 1.5"),
        ("ray", {"cpus": 0}, "cpus must be above 0, not 0"),
        ("slurm", {"gpus": -1}, "gpus must be 0 or more, not -1"),
        ("slurm", {"gpus": 0.5}, "Slurm allocates whole CPUs and GPUs; give whole numbers"),
        ("slurm", {"time": 0}, "time is in minutes and must be 1 or more, not 0"),
        ("slurm", {"executor": "remote"}, "no executor is called 'remote'"),
    ],
)
def test_mistakes(tmp_path: Path, local_plan: Study, engine: str, options: dict[str, Any], message: str):
    with pytest.raises(unweave.UsageError) as caught:
        local_plan.run(engine=engine, **options)
    assert message in str(caught.value)
    assert not local_plan.path.exists()


@pytest.fixture
def local_plan(tmp_path: Path) -> Study:
    return Study(**CLUSTER, out=tmp_path / "study")
