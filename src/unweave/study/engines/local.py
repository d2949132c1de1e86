"""Worker processes on this machine, one thread each, that stay warm from run to run.

If a worker dies, only its attempt is lost: the task is tried again, from its last checkpoint.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO, Any

from unweave.study.engines.threads import ONE_THREAD, environment
from unweave.study.work import Job, Outcome, attempt

ATTEMPTS = 3
"""Number of attempts at a task whose worker keeps dying."""
PATIENCE = 60.0
"""Seconds that workers have to save a checkpoint when they are stopped."""
SPAWN = multiprocessing.get_context("spawn")

Work = Callable[[Job], Outcome]


class Worker:
    """A process that performs one job after another."""

    def __init__(self, work: Work) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        with environment(ONE_THREAD), _without_interrupts():
            self.process = SPAWN.Process(target=_serve, args=(theirs, work), daemon=True)
            self.process.start()
        theirs.close()
        self.job: Job | None = None

    def give(self, job: Job) -> None:
        """Start a job."""
        self.job = job
        with suppress(OSError):  # a worker that has just died has a closed pipe
            self.pipe.send(job)

    def result(self) -> Outcome:
        """Return how the job ended, once the pipe has a message."""
        assert self.job is not None, "the worker has a job"
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            return Outcome(self.job.task.name, "died", _death(self.process.exitcode))

    def stop(self) -> None:
        """Ask the process to end: at once if it is idle, after a checkpoint if it trains."""
        if self.job is not None and self.process.pid:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGTERM)
        with suppress(OSError):
            self.pipe.send(None)

    def end(self, seconds: float) -> None:
        """Wait for the process, and kill it if it does not end."""
        self.process.join(seconds)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


def run_local(
    jobs: Iterable[Job], workers: int, started: Callable[[list[str]], object], work: Work = attempt
) -> Generator[Outcome]:
    """Perform jobs in this many processes, and yield how each ended, in the order in which they end.

    `started` is called with the names of the running tasks whenever they change. Closing the iterator, or an
    interrupt, stops the workers, which save checkpoints first.
    """
    waiting = iter(jobs)
    again: deque[Job] = deque()
    deaths: dict[str, int] = {}
    pool: list[Worker] = []

    def give_next(worker: Worker) -> None:
        worker.job = None
        if (job := again.popleft() if again else next(waiting, None)) is not None:
            worker.give(job)

    try:
        while len(pool) < workers and (job := next(waiting, None)) is not None:
            pool.append(Worker(work))
            pool[-1].give(job)
        while busy := [worker for worker in pool if worker.job is not None]:
            started([worker.job.task.name for worker in busy if worker.job])
            ready = set(wait([worker.pipe for worker in busy]))
            for worker in [worker for worker in busy if worker.pipe in ready]:
                outcome, job = worker.result(), worker.job
                assert job is not None
                if outcome.kind in ("died", "interrupted"):  # by an external signal
                    pool[pool.index(worker)] = replacement = Worker(work)
                    worker.end(0)
                    worker = replacement
                    deaths[outcome.name] = count = deaths.get(outcome.name, 0) + 1
                    if count < ATTEMPTS:
                        again.append(job)
                        give_next(worker)
                        continue
                    outcome = replace(outcome, kind="failed", summary=f"{outcome.summary}, {count} times")
                give_next(worker)
                yield outcome
    finally:
        for worker in pool:
            worker.stop()
        for worker in pool:
            worker.end(PATIENCE)


def _serve(pipe: Connection, work: Work) -> None:
    """Perform the jobs that come through the pipe until None comes, or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the driver too, which stops workers by SIGTERM
    signal.signal(signal.SIGTERM, _interrupt)
    faulthandler.enable()  # a crash leaves its traceback in the run's log
    with suppress(EOFError, OSError, KeyboardInterrupt):
        threading.Thread(target=_end_with_parent, daemon=True).start()
        while (job := pipe.recv()) is not None:
            with printing_to(job.folder.parents[1] / "logs" / f"{job.task.name}.txt"):
                outcome = work(job)
            pipe.send(outcome)
            if outcome.kind == "interrupted":
                return


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _end_with_parent() -> None:
    """Stop this process, after a checkpoint, when the driver has died."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def printing_to(path: Path) -> Iterator[None]:
    """Redirect what this process prints, including crashes, to a file; remove the file if it stays empty."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with _opened(path) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, before in zip((1, 2), kept, strict=True):
            os.dup2(before, number)
            os.close(before)
        with suppress(OSError):
            if not path.stat().st_size:
                path.unlink()


def _opened(path: Path) -> IO[bytes]:
    """Return a file to write to; if the disk cannot be written, output is discarded, so that the run continues."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("ab")
    except OSError:
        return open(os.devnull, "ab")


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let processes that start now ignore Ctrl-C from the beginning; a Ctrl-C in the meantime is not lost."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _death(code: int | None) -> str:
    """Return in words how a process ended."""
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        guess = ", perhaps for lack of memory" if name == "SIGKILL" else ""
        return f"its worker process was killed by {name}{guess}"
    return f"its worker process ended with code {code}"
