"""The inputs of `geomancer`: checks, equal points, a user's graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.errors import UsageError
from unweave.geometry.neighbours import Graph, graph_of_edges


class DoubtfulFactors(UserWarning):
    """The spectrum, or the points, do not look like those of a product of curved manifolds."""


def checked(points: Any) -> np.ndarray:
    """Return points as floats whose squares cannot overflow, or raise a `UsageError`."""
    try:
        x = np.asarray(points, float)
    except (TypeError, ValueError) as error:
        raise UsageError("points must be numbers in rows of equal length") from error
    if x.ndim != 2 or len(x) == 0 or x.shape[1] < 2:
        raise UsageError(f"points must be an array (n, D) with D at least 2, not of shape {x.shape}")
    if not np.isfinite(x).all():
        bad = int((~np.isfinite(x).all(axis=1)).sum())
        raise UsageError(f"{bad} of {len(x)} points hold NaN or infinity; leave them out")
    if (x == x[0]).all():
        raise UsageError(f"all {len(x)} points are the same; a manifold needs distinct points")
    centred = x - x.mean(axis=0) if np.abs(x).max(initial=0) < 1e150 else x / 1e200
    return centred / max(np.abs(centred).max(initial=0), np.finfo(float).tiny)


def check_options(x: np.ndarray, dim: int, spectrum: int, count: int | None, gamma: float | None) -> None:
    """Raise a `UsageError` for options that are impossible for these points."""
    if not 2 <= dim <= x.shape[1]:
        raise UsageError(f"the dimension must be between 2 and the {x.shape[1]} coordinates of the points, not {dim}")
    if spectrum < 2:
        raise UsageError(f"a gap needs a spectrum of 2 eigenvalues or more, not {spectrum}")
    if count is not None and not 1 <= count <= dim:
        raise UsageError(f"a manifold of dimension {dim} has 1 to {dim} factors, not {count}")
    if gamma is not None and not 0 < gamma < 2:
        raise UsageError(f"gamma must lie between 0 and 2, the limits of the eigenvalues, not be {gamma}")


def distinct(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of every distinct point, with near points close in order, and the inverse index."""
    from scipy.spatial import KDTree

    _, rows, back = np.unique(x, axis=0, return_index=True, return_inverse=True)
    order = KDTree(x[rows], balanced_tree=False, compact_nodes=False).indices
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return rows[order], place[back.reshape(-1)]


def given_graph(graph: Any, n: int) -> Graph:
    """Return the graph of a user's edges (e, 2)."""
    edges = np.asarray(graph)
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise UsageError(f"a graph is an array (e, 2) of whole numbers, the points that edges join; not {edges.shape}")
    return graph_of_edges(edges[:, 0], edges[:, 1], n)
