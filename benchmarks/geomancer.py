"""GeoManCEr: CPU seconds, memory and error on products of spheres and rotations.

    python benchmarks/geomancer.py                          S^2 x S^2, S^2 x S^3, S^2 x S^2 x S^2 at 5,000 points
    python benchmarks/geomancer.py "S^2 x S^2:100000"       this product, at this many points
    python benchmarks/geomancer.py --solvers                its eigensolver against others (see eigensolvers.py)
    python benchmarks/geomancer.py --tilts                  error against tilt, into docs/results/geomancer-tilts.csv
    python benchmarks/geomancer.py --public FOLDER          with the public geomancer.py in a folder, which you
                                                            get yourself, into docs/results/geomancer-public.csv
    python benchmarks/geomancer.py --write-docs             the tables of docs/geomancer.md from these two files

One thread. "matmuls" is the time divided by that of a product of two 2,048² matrices (float32), measured just before:
it compares machines, and busy ones with idle ones. "right" is the share of points with the right number of factors of
the right dimensions.
"""

from __future__ import annotations

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

import argparse
import resource
import warnings
from pathlib import Path
from time import process_time

import numpy as np

from unweave.geometry import DoubtfulFactors, Factorisation, Sample, chance_error, geomancer, sample, subspace_error

DEFAULT = ("S^2 x S^2:5000", "S^2 x S^3:5000", "S^2 x S^2 x S^2:5000")


def matmul_seconds() -> float:
    matrix = np.random.default_rng(0).standard_normal((2048, 2048)).astype(np.float32)
    start = process_time()
    np.matmul(matrix, matrix)
    return process_time() - start


def measure(case: str, seed: int) -> None:
    name, _, n = case.rpartition(":")
    drawn, unit = sample(name, int(n), seed=seed), matmul_seconds()
    stages: dict[str, float] = {}

    def on_progress(stage: str, done: float, total: float | None) -> None:
        stages.setdefault(stage, process_time())

    start = process_time()
    found = geomancer(drawn.points, drawn.dim, seed=seed, on_progress=on_progress)
    spent = process_time() - start
    errors = subspace_error(found.components, drawn.frames)
    ends = [*list(stages.values())[1:], start + spent]
    parts = " ".join(f"{stage} {end - at:.2f}" for (stage, at), end in zip(stages.items(), ends, strict=True))
    print(
        f"{name:18} {int(n):8,} {spent:8.2f} {spent / unit:8.1f} {errors.mean():6.3f} {np.median(errors):6.3f} "
        f"{chance_error([frame.shape[2] for frame in drawn.frames]):6.3f} {right(found, drawn):6.1%} "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:6.2f}   {parts}",
        flush=True,
    )


def right(found: Factorisation, drawn: Sample) -> float:
    wanted = sorted(frame.shape[2] for frame in drawn.frames)
    return float(np.mean([sorted(basis.shape[1] for basis in bases) == wanted for bases in found.components]))


def tables(tilts: bool, public: Path | None, docs: bool) -> None:
    """Measure the numbers of the page's tables, and write them."""
    from geomancer_tables import measure_public, measure_tilts, write_docs

    if tilts:
        measure_tilts()
    if public is not None:
        measure_public(public)
    if docs:
        write_docs()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solvers", action="store_true")
    parser.add_argument("--tilts", action="store_true")
    parser.add_argument("--public", type=Path)
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DoubtfulFactors)
    geomancer(sample("S^2 x S^2", 200).points, 4)  # compiles the kernels, or reads them from the cache
    if options.solvers:
        from eigensolvers import CASES, compare

        for case in options.cases or CASES:
            compare(case)
        return
    if options.tilts or options.public or options.write_docs:
        return tables(options.tilts, options.public, options.write_docs)
    heads = " ".join(f"{head:>6}" for head in ("error", "median", "chance", "right", "GB"))
    print(f"{'manifold':18} {'n':>8} {'CPU s':>8} {'matmuls':>8} {heads}")
    for case in options.cases or DEFAULT:
        measure(case, options.seed)


if __name__ == "__main__":
    main()
