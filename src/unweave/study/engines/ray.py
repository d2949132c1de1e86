"""Tasks on a Ray cluster: an existing one, or one that is started on this machine.

If a worker dies, its task loses an attempt, as on this machine. If a node is lost, no attempt is lost: its tasks start
again on other nodes, from their last checkpoints if all nodes see the study's folder.
"""

from __future__ import annotations

import logging
import math
import socket
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unweave.errors import UsageError, warn_user
from unweave.study.engines.local import PATIENCE, Work
from unweave.study.engines.node import for_node, perform_on_node
from unweave.study.engines.table import Ray, Started
from unweave.study.engines.threads import ONE_THREAD, environment
from unweave.study.engines.transfer import Files, move_paths, pack, unpack
from unweave.study.engines.tries import Tries
from unweave.study.work import NO_ROOM, Job, Outcome, attempt

POLL = 5.0
"""Seconds after which nodes are counted again, even if no run has ended."""
STORE = 256 * 2**20
"""Bytes of the object store of a cluster that is started here."""


class NoRoom(UserWarning):
    """No node of the cluster is large enough for a run."""


def run_ray(
    jobs: Iterable[Job], options: Ray, workers: int | None, started: Started, work: Work = attempt
) -> Generator[Outcome]:
    """Perform jobs as Ray tasks, and yield how each ended, in the order in which they end.

    At most as many are given to Ray as the nodes have room for, and no more than `workers`. Closing the iterator, or
    an interrupt, cancels the tasks, which save checkpoints first.
    """
    ray = _ray()
    waiting, again, tries = iter(jobs), deque[Job](), Tries()
    under_way: dict[Any, Job] = {}
    with _connected(ray, options, workers):
        limit = workers or math.inf
        if not _room(ray, options):
            _say_that_nothing_fits(options)
        resources = {"num_cpus": options.cpus, "num_gpus": options.gpus, "scheduling_strategy": "SPREAD"}
        perform = ray.remote(max_retries=0, runtime_env={"env_vars": ONE_THREAD}, **resources)(_perform)

        def fill() -> None:
            while len(under_way) < max(1, min(limit, _room(ray, options))):
                if (job := again.popleft() if again else next(waiting, None)) is None:
                    return
                job = for_node(job, options.cpus)
                under_way[perform.remote(job, None if options.shared else pack(job.folder), work)] = job

        try:
            fill()
            while under_way:
                started([job.task.name for job in under_way.values()])
                ended: list[Outcome] = []
                for reference in ray.wait(list(under_way), timeout=POLL)[0]:
                    job = under_way.pop(reference)
                    if (outcome := _result(ray, reference, job, tries)) is None:
                        again.append(job)
                    else:
                        ended.append(outcome)
                fill()
                yield from ended
        finally:
            _cancel(ray, list(under_way))


def _perform(job: Job, files: Files | None, work: Work) -> tuple[Outcome, Files, bytes]:
    """Perform a job on a node: in its folder or, if the run's files are given, in a temporary folder of the node.

    Returns how it ended and, for a run in a temporary folder, its files and what it printed.
    """
    if files is None:
        return perform_on_node(job, work), {}, b""
    with TemporaryDirectory(prefix="unweave-") as place:
        own = replace(job, folder=Path(place, "runs", job.task.name))
        if files:
            unpack(files, own.folder)
            move_paths(own.folder, job.folder, own.folder)
        outcome = perform_on_node(own, work)
        move_paths(own.folder, own.folder, job.folder)
        log = Path(place, "logs", f"{job.task.name}.txt")
        return outcome, pack(own.folder), log.read_bytes() if log.is_file() else b""


def _result(ray: Any, reference: Any, job: Job, tries: Tries) -> Outcome | None:
    """Return how a task ended, after copying its folder back; None if it must start again."""
    errors = ray.exceptions
    try:
        outcome, files, log = ray.get(reference)
    except errors.RayTaskError as error:  # outside of `attempt`: the node lacks something
        cause = error.cause
        return Outcome(job.task.name, "failed", f"{type(cause).__name__}: {' '.join(str(cause).split())}", str(error))
    except (errors.WorkerCrashedError, errors.OutOfMemoryError) as error:
        return tries.after_death(job, _first_line(error))
    except errors.RayError as error:  # the node or its object store failed, or someone cancelled the task
        return tries.after_loss(job, _first_line(error))
    if outcome.kind == "interrupted":  # by an external signal, as when a node is shut down
        return tries.after_loss(job, outcome.summary)
    return _bring_home(job, outcome, files, log)


def _bring_home(job: Job, outcome: Outcome, files: Files, log: bytes) -> Outcome:
    """Write the files of a run and what it printed into the study's folder."""
    try:
        if files:
            unpack(files, job.folder)
        if log:
            place = job.folder.parents[1] / "logs" / f"{job.task.name}.txt"
            place.parent.mkdir(exist_ok=True)
            with place.open("ab") as file:
                file.write(log)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        return Outcome(job.task.name, "full", f"{error.strerror}: '{job.folder}'")
    return outcome


def _cancel(ray: Any, references: list[Any]) -> None:
    """Stop tasks, and wait until they have saved checkpoints."""
    for reference in references:
        ray.cancel(reference)
    if references:
        ray.wait(references, num_returns=len(references), timeout=PATIENCE)


def _room(ray: Any, options: Ray) -> int:
    """Return for how many runs the nodes are large enough."""
    return sum(_fits(node["Resources"], options) for node in ray.nodes() if node["Alive"])


def _fits(resources: Mapping[str, float], options: Ray) -> int:
    wanted = {"CPU": options.cpus, "GPU": options.gpus}
    return min(int(resources.get(kind, 0) / amount + 1e-9) for kind, amount in wanted.items() if amount)


def _say_that_nothing_fits(options: Ray) -> None:
    wanted = f"{options.cpus:g} CPUs and {options.gpus:g} GPUs"
    if options.address is None:
        raise UsageError(f"this machine does not have the {wanted} that each run needs; request fewer")
    warn_user(f"no node of the cluster has {wanted}; the study waits for such a node", NoRoom)


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("Ray is not installed; run: pip install 'unweave[ray]'") from None
    return ray


@contextmanager
def _connected(ray: Any, options: Ray, workers: int | None) -> Iterator[None]:
    """Connect to the cluster, or start one; an existing connection is used and kept open."""
    if ray.is_initialized():
        yield
        return
    with _silent(ray):
        try:
            _connect(ray, options, workers)
        except Exception as error:  # Ray raises plain ones
            where = f"no connection to Ray at '{options.address}'" if options.address else "Ray did not start here"
            raise UsageError(f"{where}: {_first_line(error)}") from error
        try:
            yield
        finally:
            ray.shutdown()


def _connect(ray: Any, options: Ray, workers: int | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if options.address is None:
        cpus = math.ceil(workers * options.cpus) if workers else None
        with _loopback(ray):
            ray.init("local", num_cpus=cpus, include_dashboard=False, object_store_memory=STORE, **quiet)
        return
    host, _, port = options.address.removeprefix("ray://").rpartition(":")
    if host:  # Ray itself would try for minutes
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    ray.init(options.address, **quiet)


@contextmanager
def _loopback(ray: Any) -> Iterator[None]:
    """Let a cluster that starts now listen on this machine only and send no usage reports: Ray has no passwords."""
    private = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    with environment(private), _changed(ray._private.ray_constants, "ENABLE_RAY_CLUSTER", False):
        yield


@contextmanager
def _silent(ray: Any) -> Iterator[None]:
    """Keep Ray's messages about dead workers and nodes away from stdout, where results go."""
    with _changed(ray._private.worker, "_worker_logs_enabled", False):
        yield


@contextmanager
def _changed(module: Any, name: str, value: object) -> Iterator[None]:
    """Set a module's variable temporarily, if it exists."""
    before = getattr(module, name, None)
    if before is not None:
        setattr(module, name, value)
    try:
        yield
    finally:
        if before is not None:
            setattr(module, name, before)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
