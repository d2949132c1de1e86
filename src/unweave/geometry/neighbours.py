"""The graph of nearest neighbours, made symmetric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from unweave.errors import UsageError

TREE_DIMENSIONS = 16
"""Up to this many coordinates a k-d tree finds neighbours faster than computing all distances."""
EXACT_POINTS = 20_000
"""Up to this many points all distances are compared; above, with many coordinates, faiss finds nearly all
neighbours."""
PROBES = 32
"""Number of cells, each with about half as many points as there are cells, that faiss searches for a point."""
BLOCK = 2**24
"""Distances held at a time."""


@dataclass(frozen=True)
class Graph:
    """An undirected graph as compressed rows: the neighbours of i are `targets[starts[i]:starts[i + 1]]`."""

    starts: np.ndarray
    targets: np.ndarray

    @property
    def degrees(self) -> np.ndarray:
        """The number of neighbours of every point."""
        return np.diff(self.starts)

    @property
    def sources(self) -> np.ndarray:
        """The point that each entry of `targets` is a neighbour of."""
        return np.repeat(np.arange(len(self.degrees), dtype=self.targets.dtype), self.degrees)

    def rows(self, least: int) -> np.ndarray:
        """Return every point's neighbours as rows of one length, at least `least`, padded with the point itself."""
        degrees = self.degrees
        wide = np.tile(np.arange(len(degrees))[:, None], (1, max(least, int(degrees.max(initial=0)))))
        wide[self.sources, np.arange(len(self.targets)) - np.repeat(self.starts[:-1], degrees)] = self.targets
        return wide

    def parts(self) -> tuple[int, np.ndarray]:
        """Return the number of connected parts, and the part of every point."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        size = len(self.degrees)
        links = csr_array((np.ones(len(self.targets), np.int8), self.targets, self.starts), shape=(size, size))
        return connected_components(links, directed=False)


def nearest(points: np.ndarray, count: int) -> np.ndarray:
    """Return the `count` nearest other points of every point, nearest first: (n, count).

    The result is exact, by a k-d tree or all distances; where both would take long, faiss is used if installed
    [Douze2024]_.
    """
    n, width = points.shape
    if count >= n:
        raise UsageError(f"{count} neighbours need more than {count} distinct points; there are {n}")
    if width <= TREE_DIMENSIONS:
        found = _by_tree(points, count + 1)
    elif n > EXACT_POINTS and find_spec("faiss") is not None:
        found = _by_cells(points, count + 1)
    else:
        found = _by_distances(points, np.arange(n), count + 1)
    return _others(found, np.arange(n))


def nearest_of(points: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Return the `count` nearest other points of some of the points, nearest first: (r, count)."""
    return _others(_by_distances(points, rows, count + 1), rows)


def _others(found: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Remove each point from its own list. Equal points may come before it, or displace it."""
    itself = found == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return found[~itself].reshape(len(rows), found.shape[1] - 1)


def _by_tree(points: np.ndarray, count: int) -> np.ndarray:
    from scipy.spatial import KDTree

    return np.asarray(KDTree(points, balanced_tree=False).query(points, count)[1], dtype=np.int32)


def _by_cells(points: np.ndarray, count: int) -> np.ndarray:
    """Find nearly all neighbours: k-means divides the points into cells, and the cells near a point are searched."""
    import faiss

    x = np.ascontiguousarray(points - points.mean(axis=0), dtype=np.float32)
    n, width = x.shape
    cells = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, int(2 * n**0.5))
    cells.cp.seed = 0
    cells.train(x)  # pyright: ignore[reportCallIssue]
    cells.add(x)  # pyright: ignore[reportCallIssue]
    cells.nprobe = PROBES
    found = cells.search(x, count)[1].astype(np.int32)  # pyright: ignore[reportCallIssue]
    missing = np.nonzero(found[:, -1] < 0)[0]  # these cells have fewer points than the wanted neighbours
    for row in missing:
        found[row] = np.argsort(((x - x[row]) ** 2).sum(axis=1), kind="stable")[:count]
    return found


def _by_distances(points: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Find neighbours of some points by all distances, |x|² - 2 x·y + |y|², a block of points at a time."""
    centred = points - points.mean(axis=0)  # a common offset would only cost digits
    squares = (centred**2).sum(axis=1)
    found = np.empty((len(rows), count), np.int32)
    for block in _blocks(len(rows), max(1, BLOCK // len(points))):
        apart = squares - 2 * centred[rows[block]] @ centred.T
        near = np.argpartition(apart, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(apart, near, axis=1), axis=1)
        found[block] = np.take_along_axis(near, order, axis=1)
    return found


def _blocks(n: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, n, size))


def symmetric(near: np.ndarray) -> Graph:
    """Return the graph that joins two points if one of them is among the other's nearest."""
    n, count = near.shape
    return graph_of_edges(np.repeat(np.arange(n), count), near.ravel(), n)


def graph_of_edges(one: np.ndarray, other: np.ndarray, n: int) -> Graph:
    """Return the undirected graph of n points with these edges, each once, without loops."""
    one, other = np.asarray(one, np.int64), np.asarray(other, np.int64)
    if len(one) and not 0 <= min(one.min(), other.min()) <= max(one.max(), other.max()) < n:
        raise UsageError(f"the graph names a point that is not among the {n} points, which are counted from 0")
    apart = one != other
    low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
    keys = np.unique(low * n + high)
    low, high = keys // n, keys % n
    keys = np.sort(np.concatenate([keys, high * n + low]))
    degrees = np.bincount(keys // n, minlength=n)
    return Graph(np.concatenate([[0], np.cumsum(degrees)]), (keys % n).astype(np.int32))
