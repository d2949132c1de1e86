"""The cost of data sets: seconds to load, memory, and the share of a training step spent on them.

    python benchmarks/data.py
    python benchmarks/data.py --size 128

All times are medians of CPU time on one thread: for serving a batch of random indices, and for a whole step of
`unweave.train` (serving, the convolutional β-VAE forwards and backwards, Adam).

dSprites is read from a file in the published format with images of shapes2d: first as published, then from the
bit-packed copy next to it. Its memory is what the process gains, including mapped pages, after serving every image.
"""

from __future__ import annotations

import argparse
import inspect
import multiprocessing
import tempfile
import time
import zipfile
from pathlib import Path
from statistics import median

import numpy as np

import unweave
from unweave.data import DATASETS, Dataset, load
from unweave.data.dsprites import DSprites
from unweave.methods import BetaVAE

BLOCK = 5  # steps between two readings of the clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--size", type=int, default=64, choices=(32, 64, 128))
    parser.add_argument("--steps", type=int, default=50)
    arguments = parser.parse_args()

    print(f"{'data set':16} {'load s':>7} {'held MB':>8} {'serve ms':>9} {'step ms':>8} {'share':>7}")
    drawn = [name for name, kind in DATASETS.items() if "size" in inspect.signature(kind).parameters]
    for name in [*drawn, *([] if arguments.size < 64 else ["shapes2d-color", "shapes2d-noisy"])]:
        start = time.process_time()
        data = load(name, size=arguments.size)
        loading = time.process_time() - start
        serving = serving_time(data, arguments.batch)
        step = step_time(data, arguments.batch, arguments.steps)
        print(
            f"{name:16} {loading:7.2f} {data.nbytes / 1e6:8.2f} {serving:9.3f} {step:8.1f} {serving / step:7.2%}",
            flush=True,
        )

    with tempfile.TemporaryDirectory() as folder:
        write_dsprites(Path(folder) / DSprites.files[0])
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as fresh:
            print(f"\n{'dsprites':16} {'load s':>7} {'peak MB':>8} {'all MB':>8} {'serve ms':>9}")
            for state in ("as published", "packed"):
                loading, peak, served, serving = fresh.apply(dsprites_costs, (folder, arguments.batch))
                print(f"{state:16} {loading:7.3f} {peak:8.1f} {served:8.1f} {serving:9.3f}", flush=True)


def write_dsprites(path: Path) -> None:
    """Write an npz file as dSprites is published, with the images of shapes2d."""
    data = load("shapes2d")
    classes = np.insert(data.factors.from_index(np.arange(len(data))), 0, 0, axis=1)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("latents_classes.npy", "w") as stream:
            np.lib.format.write_array(stream, classes)
        with archive.open("imgs.npy", "w", force_zip64=True) as stream:
            header = {"descr": "|u1", "fortran_order": False, "shape": (len(data), 64, 64)}
            np.lib.format.write_array_header_1_0(stream, header)
            for part in np.array_split(np.arange(len(data)), 720):
                stream.write((data.images(part) // 255).tobytes())


def dsprites_costs(folder: str, batch: int) -> tuple[float, float, float, float]:
    """Return seconds to load, peak megabytes gained while loading and after all images, milliseconds per batch."""
    before = occupied("VmRSS")
    start = time.process_time()
    data = DSprites(path=folder)
    loading = time.process_time() - start
    peak = occupied("VmHWM") - before
    for part in np.array_split(np.arange(len(data)), 11_520):
        data.images(part)
    return loading, peak, occupied("VmRSS") - before, serving_time(data, batch)


def occupied(measure: str) -> float:
    """Return the megabytes of memory that this process occupies now (VmRSS) or occupied at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(measure)) * 1024 / 1e6


def serving_time(data: Dataset, batch: int) -> float:
    """Return milliseconds per batch, over batches without common images, so that no set profits from a warm cache."""
    rng = np.random.default_rng(0)
    marks = []
    for _ in range(200):
        indices = rng.integers(len(data), size=batch)
        start = time.process_time_ns()
        data.images(indices)
        marks.append((time.process_time_ns() - start) / 1e6)
    return median(marks)


def step_time(data: Dataset, batch: int, steps: int) -> float:
    """Return milliseconds per training step."""
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
            on_result=lambda row: marks.append(time.process_time()),
        )
    return 1000 * median(np.diff(marks)) / BLOCK


if __name__ == "__main__":
    main()
