"""The clustering task: how fast scenes are drawn, and the steps that codes with known answers need.

python benchmarks/tasks.py --speed          scenes per second, drawn and stepped, in CPU time on one thread
python benchmarks/tasks.py                  steps to 90 %: docs/results/tasks.csv, and the table of docs/tasks.md
python benchmarks/tasks.py --write          the table alone, from the file
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars
from pages import put

from unweave.data.scenes2d import PLACES
from unweave.tasks import Clustering, SampleEfficiency, experience, sample_efficiency
from unweave.tasks.exploration import held_out

TOP = Path(__file__).parents[1]
STORE, PAGE = TOP / "docs" / "results" / "tasks.csv", TOP / "docs" / "tasks.md"
SIZE, STEPS = 32, 10_000
WAYS = ("colour", "shape", "position")
PLACES_CODE, ROTATED, PIXELS = "the true places", "the true places, rotated", "eight random projections of the pixels"
CASES = [(PLACES_CODE, by) for by in WAYS] + [(ROTATED, "colour"), (PIXELS, "colour")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", action="store_true", help="measure how fast scenes are drawn")
    parser.add_argument("--write", action="store_true", help="write the table of the docs from the file")
    arguments = parser.parse_args()
    if arguments.speed:
        return speed()
    if not arguments.write:
        rows = []
        for codes, by in CASES:
            found = measured(codes, by)
            rows.append({"codes": codes, "by": by, "steps": round(found.steps), "reached": found.reached})
            rows[-1]["accuracy"] = round(found.accuracy, 4)
            print(rows[-1], flush=True)
        polars.DataFrame(rows).write_csv(STORE)
    put(PAGE, "tasks", text())


def measured(codes: str, by: str) -> SampleEfficiency:
    """Return the sample efficiency of one kind of codes."""
    if codes == PIXELS:
        weights = np.random.default_rng(0).normal(size=(3 * SIZE**2, 8))
        return sample_efficiency(lambda images: images.reshape(len(images), -1) @ weights, by=by, size=SIZE)
    task = Clustering(by, SIZE)
    places = np.concatenate([experience(task, STEPS).places, held_out(task, 2_000).places])
    known = {image.tobytes(): place.ravel() for image, place in zip(task.images(places), places, strict=True)}
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0] if codes == ROTATED else np.eye(8)
    return sample_efficiency(lambda images: np.array([known[x.tobytes()] for x in images]) @ turn, by=by, size=SIZE)


def text() -> str:
    """Return the table of the docs."""
    rows = polars.read_csv(STORE)
    lines = ["| codes | by colour | by shape | by position |", "|---|---|---|---|"]
    for codes in dict.fromkeys(codes for codes, _ in CASES):
        cells = [shown(rows.filter(codes=codes, by=by)) for by in WAYS]
        lines.append(f"| {codes} | {' | '.join(cells)} |")
    return "\n".join(lines)


def shown(row: polars.DataFrame) -> str:
    if not len(row):
        return "–"
    return f"{row['steps'].item():,}" if row["reached"].item() else f"not in {STEPS:,}"


def speed() -> None:
    rng = np.random.default_rng(0)
    print(f"{'size':>4} {'drawn/s':>9} {'steps/s':>9}")
    for size in (32, 64, 128):
        task, scenes, actions = Clustering("colour", size), rng.integers(PLACES, size=(256, 4, 2)), rng.random((256, 4))
        print(f"{size:4} {rate(task.images, scenes):9,.0f} {rate(task.step, scenes, actions):9,.0f}", flush=True)


def rate(work: Callable[..., object], *given: object) -> float:
    """Return scenes per second of CPU time."""
    work(*given)
    start = time.process_time()
    for _ in range(10):
        work(*given)
    return 2_560 / (time.process_time() - start)


if __name__ == "__main__":
    main()
