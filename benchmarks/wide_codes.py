"""Time and memory of metrics on codes with many columns: `python benchmarks/wide_codes.py --widths 256 2048`.

Sparse codes of 2,000 rows with 8 active latents each, and three factors of 4, 8 and 10 values. Each metric runs in its
own process, without interval and floor, and is stopped after a while; all times are CPU time on one thread.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from typing import Any

import numpy as np

from unweave.metrics import GROUPS, METRICS

SIZES = (4, 8, 10)


def sparse_codes(rows: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return codes with one column for each value, and others that are active at random."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(SIZES, size=(rows, len(SIZES)))
    hot = np.hstack([np.eye(size)[factors[:, k]] for k, size in enumerate(SIZES)])
    others = rng.random((rows, width - hot.shape[1])) < 5 / width
    return np.hstack([hot, others]) * rng.uniform(0.5, 1.5, size=(rows, width)), factors


def measure(name: str, rows: int, width: int, limit: int, queue: Any) -> None:
    """Send seconds, additional megabytes, and the score; the system ends the process at its limit."""
    codes, factors = sparse_codes(rows, width)
    metric = METRICS[name]
    small = {"codes": codes[:60, -40:], "factors": factors[:60], "test": None, "seed": 0}
    metric.sampled(small)  # imports and compilation
    end = int(time.process_time()) + 1 + limit
    resource.setrlimit(resource.RLIMIT_CPU, (end, end))
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    score = metric.sampled(small | {"codes": codes, "factors": factors}).score
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    queue.put((time.process_time() - start, (peak - before) / 1024, score))


def row(name: str, rows: int, width: int, limit: int) -> str:
    """Return a line of the table."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=measure, args=(name, rows, width, limit, queue))
    process.start()
    process.join()
    if process.exitcode:
        what = f"more than {limit}" if process.exitcode < 0 else "failed"
        return f"| `{name}` | {width:,} | {what} | – | – |"
    seconds, megabytes, score = queue.get()
    shown = ", ".join(f"{part:.3f}" for part in np.atleast_1d(score))
    return f"| `{name}` | {width:,} | {seconds:.2f} | {megabytes:.0f} | {shown} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", type=int, nargs="+", default=[256, 2048])
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds for one metric")
    parser.add_argument("--metrics", nargs="+", default=None)
    options = parser.parse_args()
    needed = {"codes", "factors"}
    names = options.metrics or [
        name
        for name in dict.fromkeys([*GROUPS["overcomplete"], *GROUPS["all"]])
        if needed <= set(METRICS[name].needs) and not set(METRICS[name].needs) - {*needed, "test", "seed"}
    ]
    print("| metric | codes | CPU seconds | MB more | score |\n|---|---:|---:|---:|---:|", flush=True)
    for name in names:
        for width in options.widths:
            print(row(name, options.rows, width, options.limit), flush=True)


if __name__ == "__main__":
    main()
