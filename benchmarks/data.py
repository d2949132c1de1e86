"""What the embedded data sets cost: seconds to load, memory, and the share of a training step spent on them.

    python benchmarks/data.py
    python benchmarks/data.py --size 128

All times are CPU time on one thread, medians: serving a batch of random indices, and a whole step of
`unweave.train` (serving, the convolutional β-VAE forward and backward, Adam).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import unweave
from unweave.data import DATASETS, Dataset, load
from unweave.methods import BetaVAE

BLOCK = 5  # steps between two looks at the clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", type=int, default=64, choices=(32, 64, 128))
    parser.add_argument("--steps", type=int, default=50)
    arguments = parser.parse_args()

    print(f"{'data set':16} {'load s':>7} {'held MB':>8} {'serve ms':>9} {'step ms':>8} {'share':>7}")
    for name in DATASETS:
        start = time.process_time()
        data = load(name, size=arguments.size)
        loading = time.process_time() - start
        serving = serving_time(data, arguments.batch)
        step = step_time(data, arguments.batch, arguments.steps)
        print(
            f"{name:16} {loading:7.2f} {data.nbytes / 1e6:8.2f} {serving:9.3f} {step:8.1f} {serving / step:7.2%}",
            flush=True,
        )


def serving_time(data: Dataset, batch: int) -> float:
    """Return milliseconds a batch, over batches that share no images: no set profits from a warm cache."""
    rng = np.random.default_rng(0)
    marks = []
    for _ in range(200):
        indices = rng.integers(len(data), size=batch)
        start = time.process_time_ns()
        data.images(indices)
        marks.append((time.process_time_ns() - start) / 1e6)
    return median(marks)


def step_time(data: Dataset, batch: int, steps: int) -> float:
    """Return milliseconds a training step."""
    marks: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        unweave.train(
            BetaVAE(),
            data=data,
            out=Path(folder) / "run",
            steps=steps,
            batch=batch,
            threads=1,
            log_every=BLOCK,
            watch=lambda row: marks.append(time.process_time()),
        )
    return 1000 * median(np.diff(marks)) / BLOCK


if __name__ == "__main__":
    main()
