"""Tasks on a Ray cluster: the same folders, lost nodes, and nodes without a shared file system."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import unweave
from unweave.study import Outcome, Study
from unweave.study.engines import ray as engine
from unweave.study.engines.local import ATTEMPTS
from unweave.study.engines.ray import run_ray
from unweave.study.engines.table import Ray
from unweave.study.engines.transfer import move_paths, pack, unpack
from unweave.study.plan import Scoring
from unweave.study.work import Job

from .conftest import CLUSTER, same_results, tasks, until

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "node_ip_address": "127.0.0.1"}
"""A small node that listens on this machine only."""
HEAD: dict[str, Any] = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
"""What the first node can do without."""


@pytest.fixture(scope="module", autouse=True)
def patient() -> Iterator[None]:
    """Let Ray take its time to start on a machine that is busy; it gives up after half a minute."""
    from ray import cloudpickle
    from ray._private import services

    def get_node(*words: Any, **settings: Any) -> Any:
        deadline = time.monotonic() + 300
        while True:
            try:
                return original(*words, **settings)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.2)

    original = services.get_node
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # nodes cannot import tests
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "get_node", get_node)
        patch.setenv("RAY_worker_register_timeout_seconds", "300")
        patch.setenv("RAY_agent_register_timeout_ms", "300000")
        yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def cluster(patient: None) -> Iterator[Any]:
    """A cluster of one node."""
    import ray
    from ray.cluster_utils import Cluster

    with engine._loopback(ray):
        found = Cluster(initialize_head=True, head_node_args={**NODE, **HEAD})
        yield found
        found.shutdown()


def jobs(folder: Path, count: int) -> list[Job]:
    (folder / "runs").mkdir(exist_ok=True)
    return [Job(task, folder / "runs" / task.name, Scoring()) for task in tasks(count)]


def ignore(names: list[str]) -> None:
    """Be told which tasks are under way."""


def leave_a_note(job: Job) -> Outcome:
    job.folder.mkdir(parents=True, exist_ok=True)
    with (job.folder / "notes.txt").open("a") as file:
        file.write("x")
    print("a word of run", job.task.seed)
    return Outcome(job.task.name, "done", f"{job.folder} {os.environ['OMP_NUM_THREADS']} {job.threads}")


def fail(job: Job) -> Outcome:
    if job.task.seed == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    raise ZeroDivisionError("by hand")


def _node() -> str:
    import ray

    return ray.get_runtime_context().get_node_id()


def stay(job: Job) -> Outcome:
    """Leave a mark, and wait for a file of this name, or an interrupt."""
    job.folder.mkdir(parents=True, exist_ok=True)
    number = len(list(job.folder.glob("begun*")))
    (job.folder / f"begun{number}").write_text(f"{_node()} {os.getpid()}")
    try:
        while not (job.folder.parent / "go").exists():
            time.sleep(0.05)
    except KeyboardInterrupt:
        (job.folder / "stopped").touch()
        return Outcome(job.task.name, "interrupted")
    return Outcome(job.task.name, "done")


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
@pytest.mark.parametrize("shared", [True, False])
def test_the_folders_are_those_of_this_machine_bit_for_bit(tmp_path: Path, cluster, local_study: Study, shared: bool):
    study = Study(**CLUSTER, out=tmp_path / "study")
    told: list[Outcome] = []
    counts = study.run(engine="ray", address=cluster.address, shared=shared, device="cpu", on_result=told.append).counts
    assert [outcome.kind for outcome in told] == ["done", "done"], told
    assert counts == {"done": 2, "failed": 0, "running": 0, "todo": 0}
    same_results(local_study, study)


def test_runs_come_home_from_nodes_that_share_no_files(tmp_path: Path, cluster):
    given = jobs(tmp_path, 2)
    given[1].folder.mkdir()
    (given[1].folder / "notes.txt").write_text("begun before, ")
    options = Ray(address=cluster.address, shared=False)
    outcomes = {outcome.name: outcome for outcome in run_ray(given, options, None, ignore, leave_a_note)}
    assert {outcome.kind for outcome in outcomes.values()} == {"done"}
    for job in given:
        place, *rest = outcomes[job.task.name].summary.split()
        assert not place.startswith(str(tmp_path))
        assert not Path(place).exists()  # a node keeps nothing
        assert rest == ["1", "1"]
        assert (tmp_path / "logs" / f"{job.task.name}.txt").read_text() == f"a word of run {job.task.seed}\n"
    assert [(job.folder / "notes.txt").read_text() for job in given] == ["x", "begun before, x"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted(job.task.name for job in given)


def test_a_worker_that_dies_costs_attempts_and_a_failure_keeps_its_traceback(tmp_path: Path, cluster, capfd):
    given = jobs(tmp_path, 2)
    options = Ray(address=cluster.address)
    outcomes = {outcome.name: outcome for outcome in run_ray(given, options, None, ignore, fail)}
    died, failed = (outcomes[job.task.name] for job in given)
    assert died.kind == "failed"
    assert died.summary.endswith(f", {ATTEMPTS} times")
    assert failed.kind == "failed"
    assert failed.summary == "ZeroDivisionError: by hand"
    assert "in fail" in failed.traceback
    assert "raylet" not in capfd.readouterr().out  # Ray's own words would spoil the output of --json


def test_runs_of_a_lost_node_are_done_again(tmp_path: Path, cluster):
    lost = cluster.add_node(**NODE)
    given = jobs(tmp_path, 4)
    under_way: list[list[str]] = []
    outcomes = run_ray(given, Ray(address=cluster.address), None, under_way.append, stay)
    found: list[Outcome] = []

    def begun() -> dict[str, int]:
        notes = [path.read_text().split() for path in (tmp_path / "runs").glob("*/begun0")]
        return {note[0]: int(note[1]) for note in notes if len(note) == 2}

    def lose_it() -> None:
        try:
            until(lambda: len(begun()) == 2)
            cluster.remove_node(lost, allow_graceful=False)
            with suppress(ProcessLookupError):
                os.kill(begun()[lost.node_id], signal.SIGKILL)  # a machine that is lost takes its processes along
        finally:
            (tmp_path / "runs" / "go").touch()

    thread = Thread(target=lose_it)
    thread.start()
    try:
        found = list(outcomes)
    finally:
        thread.join()
    assert sorted(outcome.name for outcome in found) == sorted(job.task.name for job in given)
    assert {outcome.kind for outcome in found} == {"done"}
    assert len(under_way[0]) == 2
    begins = [len(list(job.folder.glob("begun*"))) for job in given]
    assert sorted(begins) == [1, 1, 1, 2]  # the one of the lost node was begun twice, and none is lost


def test_tasks_are_stopped_when_the_iterator_is_closed(tmp_path: Path, cluster):
    given = jobs(tmp_path, 2)
    outcomes = run_ray(given, Ray(address=cluster.address), 1, ignore, stay_but_the_first)
    with closing(outcomes):
        assert next(outcomes).kind == "done"
        until(lambda: (given[1].folder / "begun0").exists())
    assert (given[1].folder / "stopped").is_file()


def stay_but_the_first(job: Job) -> Outcome:
    return stay(job) if job.task.seed else Outcome(job.task.name, "done")


def where(job: Job) -> Outcome:
    import ray

    return Outcome(job.task.name, "done", ray.util.get_node_ip_address())


def test_a_cluster_that_is_started_here_listens_here_only(tmp_path: Path):
    import ray

    (outcome,) = run_ray(jobs(tmp_path, 1), Ray(), 1, ignore, where)
    assert outcome.summary == "127.0.0.1"
    assert not ray.is_initialized()


def test_what_is_asked_for_must_be_there(tmp_path: Path, cluster, monkeypatch: pytest.MonkeyPatch):
    given = jobs(tmp_path, 1)
    with pytest.raises(unweave.UsageError, match=r"no connection to Ray at '127\.0\.0\.1:1': .*refused"):
        next(run_ray(given, Ray(address="127.0.0.1:1"), None, ignore))
    outcomes = run_ray(given, Ray(address=cluster.address, gpus=0.5), None, ignore, leave_a_note)
    monkeypatch.setattr(engine, "_say_that_nothing_fits", lambda options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        next(outcomes)


def test_too_large_a_run_is_refused_here_and_waited_for_on_a_cluster():
    with pytest.raises(unweave.UsageError, match="does not have the 1 CPUs and 2 GPUs"):
        engine._say_that_nothing_fits(Ray(gpus=2))
    with pytest.warns(engine.NoRoom, match="waits for such a node"):
        engine._say_that_nothing_fits(Ray(gpus=2, address="auto"))
    assert engine._fits({"CPU": 8, "GPU": 1}, Ray(gpus=0.25)) == 4
    assert engine._fits({"CPU": 3, "GPU": 1}, Ray(gpus=0.25)) == 3
    assert engine._fits({"CPU": 8}, Ray(gpus=0.25)) == 0


def test_without_ray_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(unweave.UsageError, match=r"pip install 'unweave\[ray\]'"):
        next(run_ray(jobs(tmp_path, 1), Ray(), 1, ignore))


def test_a_folder_is_replaced_whole_and_its_paths_follow(tmp_path: Path):
    home, away = tmp_path / "home" / "run", tmp_path / "away" / "deep" / "run"
    home.mkdir(parents=True)
    (home / "config.json").write_text('{"data": {"name": "npz", "path": "../../data/my.npz"}}')
    (home / "snapshots").mkdir()
    (home / "snapshots" / "5.safetensors").write_bytes(b"weights")
    (home / ".lock").touch()
    files = pack(home)
    assert set(files) == {"config.json", "snapshots/5.safetensors"}
    away.mkdir(parents=True)
    (away / "old").touch()
    unpack(files, away)
    move_paths(away, home, away)
    assert '"../../../data/my.npz"' in (away / "config.json").read_text()
    assert not (away / "old").exists()
    assert [path.name for path in away.parent.iterdir()] == ["run"]
    move_paths(away, away, home)
    assert '"../../data/my.npz"' in (away / "config.json").read_text()
