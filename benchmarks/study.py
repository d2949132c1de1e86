"""The cost of a study besides its runs: `python benchmarks/study.py`.

scheduling   runs that do nothing: at most 60 s for 10,000, that is 1 % of runs of 30 s at 0.3 s each
opening      10,000 finished runs: their states and their table, at most 2 s when warm
memory       the peak of one worker over 200 runs, which must not grow
throughput   two workers over one, at least 1.85 times; it needs an idle machine of two cores

Both elapsed time and the CPU time of this process are printed: the first means little on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unweave.study import Outcome, Plan, Study
from unweave.study.engines.local import run_local
from unweave.study.folder import StudyFolder
from unweave.study.plan import Scoring
from unweave.study.task import Task, task_of
from unweave.study.work import Job, attempt

TINY = {"data": "xysquares:size=32", "net": "mlp", "width": 0.05, "batch": 64, "latents": 10}
PARTS = ("scheduling", "opening", "memory", "throughput")


def nothing(job: Job) -> Outcome:
    return Outcome(job.task.name, "done")


def with_memory(job: Job) -> Outcome:
    assert attempt(job).kind == "done"
    return Outcome(job.task.name, "done", str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def with_times(job: Job) -> Outcome:
    start = time.monotonic()  # one clock for all processes of a machine
    assert attempt(job).kind == "done"
    return Outcome(job.task.name, "done", json.dumps([start, time.monotonic(), os.getpid()]))


@contextmanager
def measured(what: str) -> Iterator[None]:
    start, processor = time.perf_counter(), time.process_time()
    yield
    seconds, busy = time.perf_counter() - start, time.process_time() - processor
    print(f"{what}: {seconds:.2f} s (processor {busy:.2f} s)", flush=True)


def config(seed: int, beta: float = 4.0) -> dict[str, object]:
    training = {"steps": 10, "batch": 8, "lr": 1e-3, "seed": seed}
    method = {"name": "beta-vae", "loss": "mse", "beta": beta}
    return {"method": method, "data": {"name": "xysquares"}, "net": {"name": "conv"}, "training": training}


def tasks(count: int) -> tuple[Task, ...]:
    return tuple(task_of(config(seed, float(seed % 6)), f"{seed:016x}") for seed in range(count))


def scheduling(folder: Path, count: int) -> None:
    """Print the time of runs that do nothing, with two workers, including their start."""
    jobs = [Job(task, folder / "runs" / task.name, Scoring()) for task in tasks(count)]
    start = time.perf_counter()
    with measured(f"{count:,} runs that do nothing"):
        assert sum(1 for _ in run_local(jobs, 2, lambda names: None, nothing)) == count
    each = (time.perf_counter() - start) / count
    print(f"  {1000 * each:.2f} ms per run: {100 * each / 30:.3f} % of a run of 30 s", flush=True)


def opening(folder: Path, count: int) -> None:
    """Print the time for the states and the table of many finished runs, cold and warm."""
    import polars

    plan = Plan(tasks(count), Scoring(("mig",)))
    StudyFolder(folder).path.mkdir(parents=True)
    StudyFolder(folder).write_plan(plan)
    header = b'{"weight": {"data_offsets": [0, 4]}}'
    weights = len(header).to_bytes(8, "little") + header + bytes(4)
    scored = json.dumps({"scores": {"10": plan.scoring.keys()}})
    polars.DataFrame({"metric": [f"m{k}" for k in range(20)], "value": [0.5] * 20, "step": [10] * 20}).write_parquet(
        folder / "table.parquet"
    )
    table = (folder / "table.parquet").read_bytes()
    for task in plan.tasks:
        place = StudyFolder(folder).run_of(task)
        place.mkdir()
        (place / "config.json").write_text(json.dumps(task.config))
        (place / "status.json").write_text(json.dumps({"state": "finished", "step": 10, "seconds": 1.0}))
        (place / "scores.parquet").write_bytes(table)
        (place / "weights.safetensors").write_bytes(weights)
        (place / "scored.json").write_text(scored)
    for when in ("first", "warm"):
        with measured(f"table of {count:,} runs, {when}"):
            assert len(Study.open(folder).scores()) == 20 * count
        with measured(f"states of {count:,} runs, {when}"):
            assert Study.open(folder).status().counts["done"] == count


def memory(folder: Path, count: int) -> None:
    """Print the peak memory of one worker after some and after many runs."""
    study = Study(methods=["beta-vae"], seeds=count, steps=20, metrics=["mig"], out=folder, **TINY)
    jobs = [Job(task, study.folder.run_of(task), study.plan.scoring) for task in study.plan.tasks]
    peaks = [float(outcome.summary) for outcome in run_local(jobs, 1, lambda names: None, with_memory)]
    told = ", ".join(f"{peaks[k]:.0f}" for k in (min(9, count - 1), count // 2, count - 1))
    print(f"peak memory of a worker after 10, {count // 2} and {count} runs: {told} MB", flush=True)


def throughput(folder: Path, steps: int, runs: int) -> None:
    """Print how many times faster two workers are than one on the same runs, after their first run.

    Each worker does a short run first, because it has to import torch and load the data set.
    """
    seconds = {}
    for workers in (1, 2):
        warm, study = (
            Study(methods=["beta-vae"], seeds=count, steps=length, out=folder / f"{name}{workers}", **TINY)
            for name, count, length in (("warm", workers, 20), ("runs", runs, steps))
        )
        jobs = [Job(task, one.folder.run_of(task), Scoring()) for one in (warm, study) for task in one.plan.tasks]
        ended = {outcome.name: outcome for outcome in run_local(jobs, workers, lambda names: None, with_times)}
        times = [json.loads(ended[task.name].summary) for task in study.plan.tasks]
        assert len({pid for _, _, pid in times}) == workers
        # Measured once all workers are warm: before that, one of two would have the machine to itself.
        ready = max(json.loads(ended[task.name].summary)[1] for task in warm.plan.tasks)
        shares = [(end - max(start, ready)) / (end - start) for start, end, _ in times]
        seconds[workers] = (max(end for _, end, _ in times) - ready) / sum(shares)
    print(f"a run: {seconds[1]:.2f} s by one worker, {seconds[2]:.2f} s by two: {seconds[1] / seconds[2]:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=PARTS, metavar="PART", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--runs", type=int, default=10_000, help="of scheduling and opening")
    parser.add_argument("--memory-runs", type=int, default=200, help="of memory")
    parser.add_argument("--steps", type=int, default=800, help="of each run of throughput")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in options.parts:
            match part:
                case "scheduling":
                    scheduling(folder / part, options.runs)
                case "opening":
                    opening(folder / part, options.runs)
                case "memory":
                    memory(folder / part, options.memory_runs)
                case "throughput":
                    throughput(folder / part, options.steps, 6)
                case _:
                    parser.error(f"no part is called '{part}' (known: {', '.join(PARTS)})")


if __name__ == "__main__":
    main()
