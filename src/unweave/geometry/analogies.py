"""Uses of factors: coordinates along one factor, and the analogy a : b :: c : ? by parallel transport."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from unweave.errors import UsageError
from unweave.geometry.factorisation import Factorisation
from unweave.geometry.neighbours import nearest, symmetric


def local_coordinates(points: np.ndarray, found: Factorisation, factor: int, near: np.ndarray) -> np.ndarray:
    """Return the coordinates of the points `near` along one factor, seen from every point.

    They are the coordinates of x_j - x_i in the factor's basis at i: to first order those of the factor's geodesics.

    Parameters
    ----------
    points
        Points (n, D).
    found
        The factors that `geomancer` found.
    factor
        The factor, counted from 0.
    near
        Indices of points (n, m), such as the neighbours of each point.

    Returns
    -------
    numpy.ndarray
        Coordinates (n, m, k_j).
    """
    points = np.asarray(points, float)
    return (points[near] - points[:, None]) @ found.basis(factor)


def analogy(points: np.ndarray, found: Factorisation, a: int, b: int, c: int, factor: int) -> int:
    """Return the point d that completes a : b :: c : d along one factor; along all others d equals c.

    The shortest path from a to b is cut into steps between neighbours. The part of each step along the factor is
    carried by parallel transport to the current end of the path from c, and taken there. On a product, steps along one
    factor commute with steps along another.

    Parameters
    ----------
    points
        Points (n, D).
    found
        The factors that `geomancer` found.
    a, b, c
        Indices of points.
    factor
        The factor, counted from 0.

    Returns
    -------
    int
        The index of d.

    Examples
    --------
    >>> points = sample("S^2 x S^2", n=1000).points
    >>> found = geomancer(points, dim=4)
    >>> d = analogy(points, found, a=0, b=1, c=2, factor=0)
    >>> 0 <= d < 1000
    True
    """
    points = np.asarray(points, float)
    for name, point in (("a", a), ("b", b), ("c", c)):
        if not 0 <= point < len(points):
            raise UsageError(f"{name} = {point} is not one of the {len(points)} points, counted from 0")
    inside = found.basis(factor)  # raises for an unknown factor
    to_b, to_c = _ways(points, 2 * found.axes.shape[2], a, (b, c))
    carry = np.eye(found.axes.shape[2])
    for here, there in pairwise(to_c):
        carry = _rotation(found.axes[there].T @ found.axes[here]) @ carry
    place, at = points[c], c
    for here, there in pairwise(to_b):
        step = inside[here] @ (inside[here].T @ (points[there] - points[here]))
        place = place + found.axes[at] @ (carry @ (found.axes[here].T @ step))
        new = int(np.argmin(((points - place) ** 2).sum(axis=1)))
        carry = (
            _rotation(found.axes[new].T @ found.axes[at]) @ carry @ _rotation(found.axes[here].T @ found.axes[there])
        )
        at = new
        place = points[at] + found.axes[at] @ (found.axes[at].T @ (place - points[at]))  # back to the manifold
    return at


def _rotation(matrix: np.ndarray) -> np.ndarray:
    left, _, right = np.linalg.svd(matrix)
    return left @ right


def _ways(points: np.ndarray, neighbours: int, start: int, ends: tuple[int, ...]) -> list[list[int]]:
    """Return the shortest paths through the graph of nearest neighbours from one point to others."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    graph = symmetric(nearest(points, neighbours))
    lengths = np.linalg.norm(points[graph.sources] - points[graph.targets], axis=1)
    places = (np.maximum(lengths, 1e-12), graph.targets, graph.starts.astype(np.int32))  # one kind, for old scipy
    matrix = csr_array(places, shape=(len(points), len(points)))
    _, before = dijkstra(matrix, indices=start, return_predecessors=True)
    ways = []
    for end in ends:
        way = [end]
        while way[-1] != start:
            if before[way[-1]] < 0:
                raise UsageError(
                    f"no path leads from point {start} to point {end}: choose points of one connected part"
                )
            way.append(int(before[way[-1]]))
        ways.append(way[::-1])
    return ways
