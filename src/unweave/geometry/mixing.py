"""How far factors mix within the tangent spaces, where no field of tensors is exactly parallel."""

from __future__ import annotations

import numpy as np

from unweave.geometry.laplacian import Laplacian
from unweave.geometry.neighbours import Graph

POINTS = 500
"""The most points at which the energy of a field is measured."""


def mixing(
    laplacian: Laplacian, frames: np.ndarray, errors: np.ndarray, fields: np.ndarray, above: float, seed: int
) -> float:
    r"""Return the angle by which factors are off within the tangent spaces, in radians.

    The fields A (n, m, k, k) are those of the smallest eigenvalues λ; `above` is the next. If the true projections are
    fields of energy λ, they are at an angle of sqrt(λ / above) to A. Rotating factors by φ moves their projections by 2
    φ, so φ = sqrt(λ / above) / 2.

    Not all of λ counts: random errors of the tangent spaces add energy too, but rotate factors in all directions and
    average out. Their part is measured by tilting the frames once more at random, by their standard `errors` (n,) as
    tangents of angles. Energies are medians over points, so that a few wrong tangent spaces do not dominate.
    """
    graph = laplacian.graph
    rows = np.linspace(0, len(frames) - 1, min(len(frames), POINTS)).astype(int)
    entries, sources = _entries(graph, rows)
    targets = graph.targets[entries]
    ends, place = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    tilted = _tilted(frames[ends], errors[ends], np.random.default_rng(seed))
    here, there = np.split(place.reshape(-1), 2)
    left, _, right = np.linalg.svd(tilted[here].transpose(0, 2, 1) @ tilted[there])
    scaled = fields * laplacian.weights[:, None, None, None]

    def energy(carry: np.ndarray) -> float:
        carried = carry[:, None] @ scaled[targets] @ carry[:, None].transpose(0, 1, 3, 2)
        apart = ((scaled[sources] - carried) ** 2).sum(axis=(1, 2, 3)) / 2
        whole = (fields[rows] ** 2).sum(axis=(1, 2, 3))
        sums = np.bincount(sources, apart, minlength=len(frames))[rows]
        return float(np.median(sums / np.maximum(whole, np.finfo(float).tiny)))

    alike = 2 * energy(laplacian.connection[entries].astype(float)) - energy(left @ right)
    return float(np.sqrt(max(alike, 0.0) / max(above, np.finfo(float).tiny)) / 2)


def _entries(graph: Graph, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries of some points in a graph, and the point of each."""
    counts = graph.degrees[rows]
    first = np.repeat(graph.starts[rows] - np.cumsum(counts) + counts, counts)
    return first + np.arange(counts.sum()), np.repeat(rows, counts)


def _tilted(frames: np.ndarray, errors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return frames (r, D, k) tilted at random, without rotating them within their spaces."""
    _, width, k = frames.shape
    off = rng.standard_normal(frames.shape)
    off -= frames @ (frames.transpose(0, 2, 1) @ off)
    moved = frames + off * (errors / np.sqrt(k * max(width - k, 1)))[:, None, None]
    left, _, right = np.linalg.svd(moved, full_matrices=False)
    return left @ right
