"""GeoManCEr: CPU seconds, memory and error on products of spheres and rotations.

    python benchmarks/geomancer.py                          S^2 x S^2, S^2 x S^3, S^2 x S^2 x S^2 at 5,000 points
    python benchmarks/geomancer.py "S^2 x S^2:100000"       this product, at this many points
    python benchmarks/geomancer.py --solvers                the eigensolver against ARPACK on the same operator

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

    def watch(stage: str, _: float) -> None:
        stages.setdefault(stage, process_time())

    start = process_time()
    found = geomancer(drawn.points, drawn.dim, seed=seed, watch=watch)
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


def solvers(case: str) -> None:
    """Compare the filtered block with ARPACK at a tolerance of a hundredth, on the same operator."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    from unweave.geometry.connection import connection
    from unweave.geometry.laplacian import LANES, Laplacian
    from unweave.geometry.neighbours import nearest, symmetric
    from unweave.geometry.spectrum import bottom
    from unweave.geometry.tangents import tangent_spaces

    name, _, n = case.rpartition(":")
    drawn = sample(name, int(n))
    near = nearest(drawn.points, 4 * drawn.dim)
    graph = symmetric(near[:, : 2 * drawn.dim])
    laplacian = Laplacian(graph, connection(tangent_spaces(drawn.points, near, drawn.dim), graph))
    start = process_time()
    ours = bottom(laplacian, 10)
    middle = process_time()
    wide = np.zeros((laplacian.size, laplacian.width, LANES), np.float32)

    def product(vector: np.ndarray) -> np.ndarray:
        wide[:, :, 0] = vector.reshape(wide.shape[:2])
        return laplacian.apply(wide)[:, :, 0].ravel()

    size = laplacian.size * laplacian.width
    operator = LinearOperator((size, size), matvec=product, dtype=np.float32)  # type: ignore[call-arg]
    theirs = eigsh(operator, k=2, which="SA", tol=1e-2, ncv=20)[0]  # type: ignore[arg-type]
    end = process_time()
    print(f"{case}: filtered block, 10 values: {middle - start:.2f} s, {ours.values[:2]}")
    print(f"{case}: ARPACK, 2 values: {end - middle:.2f} s, {theirs}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=DEFAULT)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solvers", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DoubtfulFactors)
    geomancer(sample("S^2 x S^2", 200).points, 4)  # compiles the kernels, or reads them from the cache
    if options.solvers:
        for case in options.cases:
            solvers(case)
        return
    heads = " ".join(f"{head:>6}" for head in ("error", "median", "chance", "right", "GB"))
    print(f"{'manifold':18} {'n':>8} {'CPU s':>8} {'matmuls':>8} {heads}")
    for case in options.cases:
        measure(case, options.seed)


if __name__ == "__main__":
    main()
