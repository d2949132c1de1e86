"""Worker processes: warm, and one that dies costs one attempt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from unweave.study.engines.local import ATTEMPTS, run_local
from unweave.study.plan import Scoring
from unweave.study.work import Job

from .conftest import tasks


def jobs(folder: Path, count: int) -> list[Job]:
    (folder / "runs").mkdir(exist_ok=True)
    return [Job(task, folder / "runs" / task.name, Scoring()) for task in tasks(count)]


def test_every_job_is_performed_once_by_processes_that_stay(tmp_path: Path, works):
    work = works("once", "def work(job):\n    return Outcome(job.task.name, 'done', str(os.getpid()))\n")
    given = jobs(tmp_path, 30)
    under_way: list[list[str]] = []
    outcomes = list(run_local(given, 2, under_way.append, work))
    assert sorted(outcome.name for outcome in outcomes) == sorted(job.task.name for job in given)
    assert len({outcome.summary for outcome in outcomes}) <= 2
    assert str(os.getpid()) not in {outcome.summary for outcome in outcomes}
    assert all(1 <= len(names) <= 2 for names in under_way)


def test_a_worker_that_is_killed_costs_an_attempt(tmp_path: Path, works):
    work = works(
        "killed",
        """
def work(job):
    tried = job.folder.with_suffix(".tried")
    attempts = len(tried.read_text()) if tried.exists() else 0
    tried.write_text("x" * (attempts + 1))
    if job.task.seed == 1 and attempts < 1 or job.task.seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(job.task.name, "done")
""",
    )
    given = jobs(tmp_path, 6)
    outcomes = {outcome.name: outcome for outcome in run_local(given, 2, lambda names: None, work)}
    assert len(outcomes) == 6
    tried = [len(job.folder.with_suffix(".tried").read_text()) for job in given]
    assert tried == [1, 2, 1, ATTEMPTS, 1, 1]
    failed = outcomes[given[3].task.name]
    assert failed.kind == "failed"
    assert f"killed by SIGKILL, perhaps for lack of memory, {ATTEMPTS} times" in failed.summary
    assert {outcome.kind for name, outcome in outcomes.items() if name != failed.name} == {"done"}


def test_what_a_run_prints_is_kept_and_nothing_leaves_no_file(tmp_path: Path, works):
    work = works(
        "prints",
        "def work(job):\n    os.write(2, b'from below') if job.task.seed else None\n"
        "    return Outcome(job.task.name, 'done')\n",
    )
    given = jobs(tmp_path, 2)
    assert len(list(run_local(given, 1, lambda names: None, work))) == 2
    (log,) = (tmp_path / "logs").iterdir()
    assert log.name == f"{given[1].task.name}.txt"
    assert log.read_text() == "from below"


def test_workers_end_when_the_iterator_is_closed(tmp_path: Path, works):
    work = works(
        "slow",
        """
def work(job):
    if job.task.seed:
        try:
            (job.folder.parent / f"begun{job.task.seed}").touch()
            time.sleep(600)
        except KeyboardInterrupt:
            job.folder.with_suffix(".stopped").touch()
            return Outcome(job.task.name, "interrupted")
    while not (job.folder.parent / "begun1").exists():
        time.sleep(0.01)
    return Outcome(job.task.name, "done")
""",
    )
    given = jobs(tmp_path, 3)
    outcomes = run_local(given, 2, lambda names: None, work)
    assert next(outcomes).kind == "done"
    start = time.monotonic()
    outcomes.close()
    assert time.monotonic() - start < 300
    assert given[1].folder.with_suffix(".stopped").is_file()


def test_workers_end_with_a_driver_that_is_killed(tmp_path: Path, works):
    works(
        "orphan",
        """
def work(job):
    job.folder.with_suffix(".pid").write_text(str(os.getpid()))
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        job.folder.with_suffix(".stopped").touch()
    return Outcome(job.task.name, "interrupted")
""",
    )
    script = tmp_path / "driver.py"
    script.write_text(
        f"""
import sys
sys.path[:0] = [{str(tmp_path / "modules")!r}]
from pathlib import Path
from orphan import work
from unweave.study.engines.local import run_local
from unweave.study.plan import Scoring
from unweave.study.task import Task
from unweave.study.work import Job
if __name__ == "__main__":
    folder = Path({str(tmp_path)!r}) / "runs" / "one"
    list(run_local([Job(Task("one", {{}}), folder, Scoring())], 1, print, work))
"""
    )
    (tmp_path / "runs").mkdir()
    pid, stopped = tmp_path / "runs" / "one.pid", tmp_path / "runs" / "one.stopped"
    with subprocess.Popen([sys.executable, script], stdout=subprocess.DEVNULL) as driver:
        _until(lambda: pid.is_file() and bool(pid.read_text()))
        os.kill(driver.pid, signal.SIGKILL)
    _until(stopped.is_file)


def _until(there) -> None:
    deadline = time.monotonic() + 300
    while not there():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)
