"""The folder of a study: what is done, what failed, who runs it.

study.json     the plan: tasks, scoring, snapshots
runs/NAME      the run folders, as `unweave train` makes them, with scored.json: which metrics are there
failures/NAME.txt  why a run failed: one line, and the traceback
logs/NAME.txt  what a run printed, if anything
driver.json    who runs the study now, since when, and which runs are active
sessions.json  the calls of `study run` so far: when, how long, with which engine
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from unweave.errors import UsageError
from unweave.files import exclusive, is_held, write_atomically, write_json
from unweave.study.integrity import can_continue, is_table, is_trained, read_object
from unweave.study.plan import Plan
from unweave.study.sessions import record_session
from unweave.study.task import Task
from unweave.tracing import about_traces, traced_steps

State = Literal["done", "failed", "running", "todo"]
PLAN = "study.json"
SCORED = "scored.json"
DRIVER = "driver.json"
LOCK = ".driver.lock"


@dataclass(frozen=True)
class StudyFolder:
    """Paths and states below one folder."""

    path: Path

    def run_of(self, task: Task) -> Path:
        """Return the folder of a task's run."""
        return self.path / "runs" / task.name

    def failure_of(self, task: Task) -> Path:
        """Return the file that says why a task failed."""
        return self.path / "failures" / f"{task.name}.txt"

    def log_of(self, task: Task) -> Path:
        """Return the file that holds what a task printed."""
        return self.path / "logs" / f"{task.name}.txt"

    def read_plan(self) -> Plan:
        """Return the plan that the folder was last run with."""
        if not self.path.is_dir():
            raise UsageError(f"there is no folder '{self.path}'")
        found = read_object(self.path / PLAN)
        if found is None:
            raise UsageError(f"'{self.path}' is not a study: it has no readable {PLAN}")
        try:
            return Plan.from_json(found)
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"'{self.path / PLAN}' does not hold a study: {error}") from error

    def write_plan(self, plan: Plan) -> None:
        """Store the plan, and make the folders that runs need."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / PLAN, plan.to_json())  # first: a folder without it would not be a study
        for part in ("runs", "failures", "logs"):
            (self.path / part).mkdir(parents=True, exist_ok=True)

    def states(self, plan: Plan) -> dict[str, State]:
        """Return the state of every task."""
        running = set(self.driver().get("running", ()))
        wanted = plan.wanted()
        failed = _names(self.path / "failures")
        begun = _names(self.path / "runs")
        return {task.name: self._state(task, plan, wanted, running, failed, begun) for task in plan.tasks}

    def _state(
        self, task: Task, plan: Plan, wanted: Mapping[str, str], running: set[str], failed: set[str], begun: set[str]
    ) -> State:
        if task.name in running:
            return "running"
        if f"{task.name}.txt" in failed:
            return "failed"
        if task.name in begun and self.is_done(task, plan, wanted):
            return "done"
        return "todo"

    def is_done(self, task: Task, plan: Plan, wanted: Mapping[str, str]) -> bool:
        """Return whether a run has finished, with all requested scores, snapshots and traces in complete files."""
        folder = self.run_of(task)
        scores = read_scored(folder)
        steps = [str(step) for step in (*plan.snapshots, task.config["training"]["steps"])]
        if not all(step in scores and wanted.items() <= scores[step].items() for step in steps):
            return False
        if not has_traces(folder, task, plan):
            return False
        return is_trained(folder) and (not wanted or is_table(folder / "scores.parquet"))

    def record_failure(self, task: Task, summary: str, traceback: str) -> None:
        """Store why a task failed; if its process died without a traceback, the file says where its output is."""
        self.failure_of(task).parent.mkdir(parents=True, exist_ok=True)
        log = f"The process ended without a traceback. What it printed, if anything, is in {self.log_of(task)}\n"
        write_atomically(self.failure_of(task), f"{summary}\n\n{traceback or log}".encode())

    def failure(self, task: Task) -> str:
        """Return why a task failed, in one line."""
        with suppress(OSError):
            return self.failure_of(task).read_text(errors="replace").partition("\n")[0]
        return ""

    def forget(self, task: Task, *, restart: bool) -> None:
        """Make a task run again: from its checkpoint, or with `restart` from scratch, moving its old folder aside."""
        self.failure_of(task).unlink(missing_ok=True)
        folder = self.run_of(task)
        if restart and folder.exists():
            aside = self.path / "replaced"
            aside.mkdir(exist_ok=True)
            number = sum(entry.name.startswith(task.name) for entry in aside.iterdir())
            shutil.move(folder, aside / f"{task.name}-{number}")

    def can_continue(self, task: Task, plan: Plan) -> bool:
        """Return whether a run can continue in its folder: undamaged, with all earlier snapshots and traces."""
        folder = self.run_of(task)
        lacks = [step for step in plan.snapshots if not (folder / "snapshots" / f"{step}.safetensors").is_file()]
        return can_continue(folder) and not ((lacks or not has_traces(folder, task, plan)) and is_trained(folder))

    def driver(self) -> dict[str, Any]:
        """Return who runs the study now, or an empty dict."""
        return (read_object(self.path / DRIVER) or {}) if is_held(self.path / LOCK) else {}

    @contextmanager
    def driving(self, workers: int | None, engine: str) -> Iterator[Driver]:
        """Be the only process that runs the study; a second one gets a `UsageError` that names the first."""
        self._refuse_foreign()
        self.path.mkdir(parents=True, exist_ok=True)

        def taken() -> None:
            if not self._stays_held():
                return
            who = read_object(self.path / DRIVER) or {}
            place = (
                f"process {who.get('pid', '?')} on {who.get('host', 'another machine')} since {who.get('since', '?')}"
            )
            raise UsageError(f"{place} is already running this study; see: unweave study status {self.path}")

        with exclusive(self.path / LOCK, taken):
            driver = Driver(self.path / DRIVER, engine, workers)
            driver.write()
            try:
                yield driver
            finally:
                driver.stop()
                (self.path / DRIVER).unlink(missing_ok=True)
                record_session(self.path, driver.record)

    def _stays_held(self) -> bool:
        """Return whether the lock is held for longer than reading the study's status takes."""
        for _ in range(10):
            if not is_held(self.path / LOCK):
                return False
            time.sleep(0.02)
        return True

    def _refuse_foreign(self) -> None:
        """Raise a `UsageError` for a file, and for a folder that holds something else."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"'{self.path}' is a file; a study needs a folder")
        others = [name for name in _names(self.path) if not name.startswith(".") and name != DRIVER]
        if others and PLAN not in others:
            raise UsageError(f"'{self.path}' is not empty and not a study; choose another folder")


class Driver:
    """What driver.json says: written at most once a second, since thousands of short runs may end in one.

    An update that comes too early is written when the second is over.
    """

    def __init__(self, path: Path, engine: str, workers: int | None) -> None:
        self._path = path
        self._written = 0.0
        self._later: threading.Timer | None = None
        self._lock = threading.Lock()
        self.record: dict[str, Any] = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": time.strftime("%Y-%m-%d %H:%M:%S"),
            "engine": engine,
            "workers": workers,
            "started": time.time(),
            "finished": 0,
            "running": [],
        }

    def update(self, running: list[str], finished: int) -> None:
        """Record which tasks are running, and how many have ended since the driver started."""
        self.record.update(running=running, finished=finished)
        wait = self._written + 1 - time.monotonic()
        if wait <= 0:
            self.write()
        elif self._later is None or not self._later.is_alive():
            self._later = threading.Timer(wait, self.write)
            self._later.daemon = True
            self._later.start()

    def write(self) -> None:
        """Write the file now."""
        with self._lock, suppress(OSError):  # a full disk is reported where it matters
            self._written = time.monotonic()
            write_json(self._path, self.record)

    def stop(self) -> None:
        """Write no more."""
        if self._later is not None:
            self._later.cancel()
            self._later.join()


def has_traces(folder: Path, task: Task, plan: Plan) -> bool:
    """Return whether a run has all requested traces, with the requested number of images."""
    if plan.tracing is None:
        return True
    if not set(plan.tracing.moments(task.config["training"]["steps"])) <= set(traced_steps(folder)):
        return False
    with suppress(UsageError):
        return len(about_traces(folder)["indices"]) == plan.tracing.samples
    return False


def read_scored(folder: Path) -> dict[str, dict[str, str]]:
    """Return for each step the metrics that a run has, with digests of their settings; empty if damaged."""
    scores = (read_object(folder / SCORED) or {}).get("scores")
    steps = scores.items() if isinstance(scores, dict) else ()
    return {step: metrics for step, metrics in steps if isinstance(metrics, dict)}


def _names(folder: Path) -> set[str]:
    """Return the names in a folder; empty if there is no folder."""
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()
