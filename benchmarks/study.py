"""What a study costs beside its runs: `python benchmarks/study.py`.

Scheduling of runs that do nothing, the throughput of two workers over that of one, the memory of a worker over many
runs, and how long the table of 10,000 runs takes.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

from unweave.study import Outcome, Study
from unweave.study.engines.local import run_local
from unweave.study.plan import Scoring
from unweave.study.task import task_of
from unweave.study.work import Job, attempt

TINY = {"data": "xysquares:size=32", "net": "mlp", "width": 0.05, "batch": 64, "latents": 10}


def nothing(job: Job) -> Outcome:
    return Outcome(job.task.name, "done")


def with_memory(job: Job) -> Outcome:
    attempt(job)
    return Outcome(job.task.name, "done", str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def config(seed: int, beta: float = 4.0) -> dict[str, object]:
    training = {"steps": 10, "batch": 8, "lr": 1e-3, "seed": seed}
    method = {"name": "beta-vae", "loss": "mse", "beta": beta}
    return {"method": method, "data": {"name": "xysquares"}, "net": {"name": "conv"}, "training": training}


def scheduling(folder: Path, count: int) -> float:
    """Return the seconds that `count` runs that do nothing take."""
    jobs = [Job(task_of(config(seed), f"{seed:016x}"), folder / "runs" / str(seed), Scoring()) for seed in range(count)]
    start = time.perf_counter()
    assert sum(1 for _ in run_local(jobs, 2, lambda names: None, nothing)) == count
    return time.perf_counter() - start


def throughput(folder: Path, steps: int, runs: int) -> dict[int, float]:
    """Return the seconds of the same runs by one worker and by two, each started before the clock."""
    found = {}
    for workers in (1, 2):
        study = Study(methods=["beta-vae"], seeds=runs, steps=steps, out=folder / str(workers), **TINY)
        ends: list[float] = []
        start = time.perf_counter()
        study.run(workers=workers, on_result=lambda outcome: ends.append(time.perf_counter()))  # noqa: B023
        found[workers] = time.perf_counter() - start
    return found


def memory(folder: Path, runs: int) -> list[float]:
    """Return the peak memory of one worker, in MB, after each of many runs."""
    study = Study(methods=["beta-vae"], seeds=runs, steps=20, metrics=["mig"], out=folder, **TINY)
    jobs = [Job(task, study.folder.run_of(task), study.plan.scoring) for task in study.plan.tasks]
    return [float(outcome.summary) for outcome in run_local(jobs, 1, lambda names: None, with_memory)]


def table(folder: Path, runs: int) -> tuple[float, float]:
    """Return the seconds that the table of many runs takes, first and warm."""
    import polars

    from unweave.study.table import read_records, score_table
    from unweave.tables import write_table

    for seed in range(runs):
        place = folder / f"run{seed}"
        place.mkdir(parents=True)
        (place / "config.json").write_text(json.dumps(config(seed, beta=float(seed % 6))))
        (place / "status.json").write_text(json.dumps({"state": "finished", "step": 10, "seconds": 1.0}))
        scores = {"metric": [f"m{k}" for k in range(20)], "value": [0.5] * 20, "step": [10] * 20}
        write_table(place / "scores.parquet", polars.DataFrame(scores))
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        assert len(score_table(read_records(folder))) == 20 * runs
        seconds.append(time.perf_counter() - start)
    return seconds[0], seconds[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000, help="runs that do nothing, and in the table")
    parser.add_argument("--steps", type=int, default=4_000, help="of each run whose throughput is measured")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(
            f"{options.runs:,} runs that do nothing: {scheduling(folder / 'nothing', options.runs):.1f} s", flush=True
        )
        first, warm = table(folder / "table", options.runs)
        print(f"table of {options.runs:,} runs: {first:.1f} s, warm {warm:.2f} s", flush=True)
        one, two = throughput(folder / "throughput", options.steps, 6).values()
        print(f"6 runs: one worker {one:.1f} s, two {two:.1f} s: {one / two:.2f} times", flush=True)
        peaks = memory(folder / "memory", 200)
        print(
            f"peak memory of a worker after 10, 100 and 200 runs: {peaks[9]:.0f}, {peaks[99]:.0f}, {peaks[-1]:.0f} MB"
        )


if __name__ == "__main__":
    main()
