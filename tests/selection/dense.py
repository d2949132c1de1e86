"""The training-dynamics score by its definitions, with dense matrices and loops: for small cases."""

from __future__ import annotations

import numpy as np


def kernel(trace: np.ndarray, *, alpha: float, neighbours: int, moment_neighbours: int) -> np.ndarray:
    """Return K' (n m, n m) of a trace (n, m, units), entry by entry."""
    moments, samples, _ = trace.shape
    dense = np.zeros((moments, samples, moments, samples))
    reach = np.array(
        [
            [
                sorted(np.linalg.norm(trace[t, i] - trace[s, i]) for s in range(moments))[moment_neighbours]
                for t in range(moments)
            ]
            for i in range(samples)
        ]
    )
    epsilon = np.mean([np.median(row) for row in reach])
    for t in range(moments):
        for i in range(samples):
            distances = [np.linalg.norm(trace[t, i] - trace[t, j]) for j in range(samples)]
            sigma = sorted(distances)[neighbours]
            for j in range(samples):
                dense[t, i, t, j] = np.exp(-((distances[j] / sigma) ** alpha))
            for s in range(moments):
                if s != t:
                    dense[t, i, s, i] = np.exp(-(np.linalg.norm(trace[t, i] - trace[s, i]) ** 2) / epsilon**2)
    flat = dense.reshape(moments * samples, -1)
    return (flat + flat.T) / 2


def diffusion(affinities: np.ndarray, steps: int) -> np.ndarray:
    """Return P^t."""
    walk = affinities / affinities.sum(axis=1, keepdims=True)
    return np.linalg.matrix_power(walk, steps)


def embedding(traces: list[np.ndarray], *, steps: int, dimension: int, **options: float) -> np.ndarray:
    """Return the left singular vectors (R, n m, dimension) of the stacked diffusion kernels, without the first."""
    stacked = np.concatenate([diffusion(kernel(each, **options), steps) for each in traces])  # type: ignore[arg-type]
    left = np.linalg.svd(stacked, full_matrices=False)[0]
    return left[:, 1 : dimension + 1].reshape(len(traces), -1, dimension)


def mmd2(x: np.ndarray, y: np.ndarray, bandwidth: float) -> float:
    """Return the unbiased MMD^2 of paired points, term by term."""
    n = len(x)

    def k(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.exp(-((a - b) ** 2).sum() / (2 * bandwidth**2)))

    terms = [
        k(x[i], x[j]) + k(y[i], y[j]) - k(x[i], y[j]) - k(x[j], y[i]) for i in range(n) for j in range(n) if i != j
    ]
    return sum(terms) / (n * (n - 1))


def median_distance(points: np.ndarray) -> float:
    """Return the median distance of all pairs of points."""
    return float(np.median([np.linalg.norm(a - b) for i, a in enumerate(points) for b in points[:i]]))
