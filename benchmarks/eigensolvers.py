"""Eigensolvers on GeoManCEr's Laplacian: CPU seconds to find the vectors below the gap as precisely as ours.

    python benchmarks/geomancer.py --solvers                          the usual cases
    python benchmarks/geomancer.py --solvers "S^2 x S^2:10000"        this product, at this many points

The reference is the same operator, built as a sparse matrix in float64 and solved by ARPACK to 1e-6. Every other solver
does the least work (ARPACK: the loosest tolerance; LOBPCG: the fewest rounds) with which it is as precise as ours: in
the angle between the vectors below the gap and the reference and, if it finds all ten vectors, in the values above the
gap, whose largest relative error is "excess". "products" counts multiplied vectors, not blocks of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import subspace_angles
from scipy.sparse import bsr_array
from scipy.sparse.linalg import LinearOperator, eigsh, lobpcg

from unweave.geometry import sample
from unweave.geometry import spectrum as ours
from unweave.geometry.connection import connection
from unweave.geometry.gap import split
from unweave.geometry.inputs import distinct
from unweave.geometry.laplacian import Laplacian
from unweave.geometry.neighbours import nearest, symmetric
from unweave.geometry.simd import LANES
from unweave.geometry.tangents import tangent_spaces

CASES = ("S^2 x S^2:5000", "S^2 x S^2:10000", "S^2 x SO(3):5000", "S^2 x S^2 x S^2:5000")
WANTED = 10
BLOCK = 16
REPEATS = 3
TOLERANCES = tuple(0.1 / 2**step for step in range(12))
ROUNDS = tuple(round(3 * 1.2**step) for step in range(18))

Solver = Callable[["Counted", float], np.ndarray]
"""Returns vectors (size, count), the wanted ones first, of an operator; the number says when to stop."""


class Counted(Laplacian):
    """A Laplacian that counts the vectors that it is applied to."""

    products = 0

    def apply(self, x: np.ndarray, *args: Any, **options: Any) -> np.ndarray:
        """Count, and apply."""
        self.products += x.shape[2]
        return super().apply(x, *args, **options)

    def flat(self, x: np.ndarray) -> np.ndarray:
        """Return L x for vectors (size,) or (size, count), however many."""
        x = x.reshape(len(x), -1)
        count = x.shape[1]
        wide = np.zeros((self.size, self.width, -(-count // LANES) * LANES), np.float32)
        wide[:, :, :count] = x.reshape(self.size, self.width, count)
        self.products += count - wide.shape[2]
        return self.apply(wide)[:, :, :count].reshape(-1, count)


class Problem:
    """A sample with its tangent spaces and its Laplacian, as `geomancer` makes them."""

    def __init__(self, name: str, n: int) -> None:
        drawn = sample(name, n)
        self.dim, self.points = drawn.dim, drawn.points[distinct(drawn.points)[0]]
        near = nearest(self.points, 3 * self.dim * (self.dim + 3) // 2)
        self.frames = tangent_spaces(self.points, near, self.dim).frames
        self.graph = symmetric(near[:, : 2 * self.dim])
        self.carried = connection(self.frames, self.graph)

    def laplacian(self) -> Counted:
        """Return the operator with its count at zero."""
        return Counted(self.graph, self.carried)

    def reference(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest eigenvalues, and the vectors below their gap, to 1e-6."""
        values, vectors = eigsh(built(self.laplacian()), k=WANTED, which="SA", tol=1e-6, ncv=60)  # type: ignore[arg-type]
        return values, vectors[:, : split(values)]


def built(laplacian: Laplacian) -> bsr_array:
    """Return the Laplacian as a sparse matrix in float64: blocks δ_ij - Q ⊗ Q / sqrt(n_i n_j) in the basis."""
    graph, basis, width = laplacian.graph, laplacian.basis.astype(float), laplacian.width
    q = laplacian.connection.astype(float)
    weights = -1 / np.sqrt(graph.degrees[graph.sources] * graph.degrees[graph.targets])
    blocks = np.empty((len(q), width, width))
    for chunk in np.array_split(np.arange(len(q)), len(q) // 4096 + 1):
        turned = np.einsum("eia,dab,ejb->edij", q[chunk], basis, q[chunk], optimize=True)
        blocks[chunk] = np.einsum("cij,edij->ecd", basis, turned, optimize=True) * weights[chunk, None, None]
    size = laplacian.size * width
    own = bsr_array((np.tile(np.eye(width), (laplacian.size, 1, 1)), *diagonal(laplacian.size)), shape=(size, size))
    return bsr_array((blocks, graph.targets, graph.starts), shape=(size, size)) + own  # type: ignore[return-value]


def diagonal(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(n), np.arange(n + 1)


def filtered_block(laplacian: Counted, _: float) -> np.ndarray:
    return ours.bottom(laplacian, WANTED).vectors.reshape(laplacian.size * laplacian.width, -1)


def arpack(count: int) -> Solver:
    """ARPACK for the largest eigenvalues of 2 - L: its tolerance is a share of these, and zero has no share."""

    def solve(laplacian: Counted, tolerance: float) -> np.ndarray:
        size = laplacian.size * laplacian.width
        turned = operator(size, lambda x: ours.TOP * x - laplacian.flat(x).reshape(x.shape))
        start = np.random.default_rng(0).standard_normal(size).astype(np.float32)
        vectors = eigsh(turned, k=count, which="LA", tol=tolerance, ncv=max(2 * count, 12), v0=start)[1]  # type: ignore[arg-type]
        return vectors[:, ::-1]

    return solve


def conjugate_block(steps: int) -> Solver:
    """LOBPCG; with `steps`, preconditioned by as many of Chebyshev's for L z = r. (Jacobi's do nothing: L_ii = 1.)"""

    def solve(laplacian: Counted, rounds: float) -> np.ndarray:
        size = laplacian.size * laplacian.width
        start = np.random.default_rng(0).standard_normal((size, BLOCK)).astype(np.float32)
        nearly = operator(size, lambda r: chebyshev(laplacian, r, steps, low=0.02)) if steps else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that it has not converged
            found = lobpcg(
                operator(size, laplacian.flat), start, M=nearly, tol=1e-9, maxiter=int(rounds), largest=False
            )
        return found[1]  # type: ignore[return-value]

    return solve


def operator(size: int, product: Callable[[np.ndarray], np.ndarray]) -> LinearOperator:
    return LinearOperator((size, size), matvec=product, matmat=product, dtype=np.float32)  # type: ignore[call-arg]


def chebyshev(laplacian: Counted, right: np.ndarray, steps: int, low: float) -> np.ndarray:
    """Return z near the solution of L z = r, by Chebyshev's iteration for eigenvalues between `low` and 2."""
    middle, half = (ours.TOP + low) / 2, (ours.TOP - low) / 2
    ratio = half / middle
    step = right / np.float32(middle)
    found = step
    for _ in range(steps):
        left = right - laplacian.flat(found).reshape(right.shape)
        new = 1 / (2 * middle / half - ratio)
        step = np.float32(new * ratio) * step + np.float32(2 * new / half) * left
        found, ratio = found + step, new
    return found


def from_coarser(problem: Problem) -> Solver:
    """Our filter, from the vectors of every fourth point: each other takes those of the nearest of them."""
    from scipy.spatial import KDTree

    def solve(laplacian: Counted, _: float) -> np.ndarray:
        some = np.arange(0, laplacian.size, 4)  # points come in the order of a k-d tree: these are spread evenly
        frames = problem.frames[some]
        graph = symmetric(nearest(problem.points[some], 2 * problem.dim))
        coarse = Counted(graph, connection(frames, graph))
        found = ours.bottom(coarse, BLOCK)
        laplacian.products += coarse.products // 4  # a product at a quarter of the points
        owner = KDTree(problem.points[some]).query(problem.points)[1]
        turn = (problem.frames.transpose(0, 2, 1) @ frames[owner]).astype(np.float32)[:, None]  # nearly a rotation
        matrices = turn @ coarse.matrices(found.vectors)[owner] @ turn.transpose(0, 1, 3, 2)
        flat = matrices.reshape(*matrices.shape[:2], -1) @ laplacian.basis.reshape(laplacian.width, -1).T
        return improved(laplacian, flat.transpose(0, 2, 1).copy()).reshape(laplacian.size * laplacian.width, -1)

    return solve


def improved(laplacian: Counted, vectors: np.ndarray) -> np.ndarray:
    """Return the vectors after rounds of our filter, the first of which is to smooth what was carried."""
    cut, degree = ours.FIRST_CUT, ours.DEGREES[0]
    for _ in range(ours.ROUNDS):
        vectors = ours._filtered(laplacian, vectors, cut, degree, lambda share: None)
        values, vectors, residuals = ours._fitted(vectors, laplacian.apply(vectors))
        below = split(values[:WANTED])
        off = (residuals[:below] / np.maximum(values[below] - values[:below], 1e-7)).max() / ours.ACCURACY
        if off <= 1:
            break
        cut = float(np.clip(values[-1], 1e-3, 0.9 * ours.TOP))
        degree = ours._degree(cut, off)
    return vectors


def rivals(problem: Problem, wanted: int) -> Iterator[tuple[str, Solver, tuple[float, ...]]]:
    yield "ours, from every fourth point's vectors", from_coarser(problem), (0.0,)
    yield f"ARPACK, {WANTED} vectors", arpack(WANTED), TOLERANCES
    yield f"ARPACK, those below the gap alone ({wanted})", arpack(wanted), TOLERANCES
    yield f"LOBPCG, {BLOCK} vectors", conjugate_block(0), ROUNDS
    yield f"LOBPCG, {BLOCK} vectors, 4 Chebyshev steps", conjugate_block(4), ROUNDS
    yield f"LOBPCG, {BLOCK} vectors, 12 Chebyshev steps", conjugate_block(12), ROUNDS


class Measured(NamedTuple):
    """CPU seconds, products, the largest angle below the gap, and the largest relative error of values above it."""

    seconds: float
    products: int
    angle: float
    excess: float

    def as_exact_as(self, other: Measured) -> bool:
        """Return whether neither error is larger; errors that were not computed do not count."""
        return self.angle <= other.angle and not self.excess > other.excess


def measured(problem: Problem, solver: Solver, stop: float, values: np.ndarray, exact: np.ndarray) -> Measured:
    laplacian = problem.laplacian()
    start = process_time()
    found = solver(laplacian, stop)
    spent, products, wanted = process_time() - start, laplacian.products, exact.shape[1]
    angle, excess = float(subspace_angles(found[:, :wanted].astype(float), exact).max()), np.nan
    if found.shape[1] >= WANTED:
        vectors = found[:, :WANTED] / np.linalg.norm(found[:, :WANTED], axis=0)
        energies = np.sort((vectors * laplacian.flat(vectors)).sum(axis=0))
        excess = float((energies / values - 1)[wanted:].max())
    return Measured(spent, products, angle, excess)


def compare(case: str) -> None:
    name, _, n = case.rpartition(":")
    problem = Problem(name, int(n))
    values, exact = problem.reference()
    print(f"\n{case}: eigenvalues {' '.join(f'{value:.5f}' for value in values)}; below the gap: {exact.shape[1]}")
    print(f"{'solver':42} {'CPU s':>7} {'products':>9} {'angle':>7} {'excess':>7}")
    best = min(measured(problem, filtered_block, 0.0, values, exact) for _ in range(REPEATS))
    show(f"ours, {WANTED} vectors", best)
    for title, solver, stops in rivals(problem, exact.shape[1]):
        tried = ((stop, measured(problem, solver, stop, values, exact)) for stop in stops)
        stop = next((stop for stop, found in tried if found.as_exact_as(best)), stops[-1])
        found = min(measured(problem, solver, stop, values, exact) for _ in range(REPEATS))
        show(title, found, "" if found.as_exact_as(best) else "less exact")


def show(title: str, found: Measured, note: str = "") -> None:
    excess = "" if np.isnan(found.excess) else f"{found.excess:.1%}"
    print(f"{title:42} {found.seconds:7.2f} {found.products:9,} {found.angle:7.4f} {excess:>7} {note}", flush=True)
