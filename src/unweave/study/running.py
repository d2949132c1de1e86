"""Running the tasks of a study on an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unweave.errors import UsageError
from unweave.progress import OnProgress
from unweave.study.engines.table import Engine
from unweave.study.folder import Driver, StudyFolder
from unweave.study.task import Task
from unweave.study.work import Job, Outcome


def perform(
    todo: Sequence[Task],
    job_of: Callable[[Task], Job],
    folder: StudyFolder,
    engine: Engine,
    workers: int | None,
    driver: Driver,
    stop_on_failure: bool,
    on_progress: OnProgress,
    on_result: Callable[[Outcome], object] | None,
) -> None:
    """Give the tasks to the engine, and record how each ends."""
    tasks = {task.name: task for task in todo}
    jobs = map(job_of, todo)
    ended = 0
    on_progress("runs", ended, len(todo))
    if not todo:
        return
    outcomes = engine.run(jobs, workers, lambda names: driver.update(names, ended))
    try:
        for outcome in outcomes:
            ended += 1
            if outcome.kind == "failed":
                _record_failure(folder, tasks[outcome.name], outcome)
            if on_result:
                on_result(outcome)
            if outcome.kind == "full":
                raise _disk_is_full(outcome.summary)
            if outcome.kind == "failed" and stop_on_failure:
                raise UsageError(f"{outcome.name} failed: {outcome.summary}")
            on_progress("runs", ended, len(todo))
    finally:
        driver.update([], ended)
        outcomes.close()


def _record_failure(folder: StudyFolder, task: Task, outcome: Outcome) -> None:
    try:
        folder.record_failure(task, outcome.summary, outcome.traceback)
    except OSError as error:  # the task stays to do, and fails again once there is room
        raise _disk_is_full(f"{error}, while it was recorded that {task.name} failed: {outcome.summary}") from error


def _disk_is_full(why: str) -> UsageError:
    return UsageError(f"the disk is full or cannot be written ({why}); nothing is lost: make room, and run again")
