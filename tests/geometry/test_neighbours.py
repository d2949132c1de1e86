from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.geometry import neighbours, sample
from unweave.geometry.neighbours import graph_of_edges, nearest, symmetric


@pytest.mark.parametrize("width", [3, 20])  # by a tree, and by all distances
def test_neighbours_are_the_nearest(width):
    points = np.random.default_rng(0).normal(size=(200, width)) + 100
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    np.testing.assert_array_equal(nearest(points, 7), np.argsort(apart, axis=1)[:, :7])


@pytest.mark.parametrize("width", [2, 20])
def test_a_point_is_never_its_own_neighbour_among_equal_ones(width):
    near = nearest(np.zeros((30, width)), 5)
    assert near.shape == (30, 5)
    assert (near != np.arange(30)[:, None]).all()


def test_a_graph_joins_both_ways_and_once():
    near = np.array([[1], [2], [1], [0]])
    graph = symmetric(near)
    joined = {(int(i), int(j)) for i, j in zip(graph.sources, graph.targets, strict=True)}
    assert joined == {(0, 1), (1, 0), (1, 2), (2, 1), (0, 3), (3, 0)}
    np.testing.assert_array_equal(graph.degrees, [2, 2, 1, 1])
    np.testing.assert_array_equal(graph.rows(3), [[1, 3, 0], [0, 2, 1], [1, 2, 2], [0, 3, 3]])


def test_parts_of_a_graph():
    graph = graph_of_edges(np.array([0, 3, 3]), np.array([1, 4, 3]), 6)
    assert graph.parts()[0] == 4
    assert len(graph.targets) == 4


def test_too_few_points_and_points_beyond():
    with pytest.raises(UsageError, match="need more than 5 distinct points"):
        nearest(np.zeros((5, 2)), 5)
    with pytest.raises(UsageError, match="not among the 3 points"):
        graph_of_edges(np.array([0]), np.array([3]), 3)


def test_of_many_points_nearly_all_nearest_are_found(monkeypatch):
    """By the cells of faiss, exactly those that all distances give, but for a few."""
    points = sample("S^2 x S^2", 3000, ambient=20).points
    exact = nearest(points, 30)
    monkeypatch.setattr(neighbours, "EXACT_POINTS", 2000)
    found = nearest(points, 30)
    shared = np.mean([len(np.intersect1d(a, b)) / 30 for a, b in zip(found, exact, strict=True)])
    assert shared > 0.99
    assert (found != np.arange(3000)[:, None]).all()
    np.testing.assert_array_equal(found, nearest(points, 30))
    monkeypatch.setattr(neighbours, "PROBES", 1)  # cells with fewer points than are wanted
    few = nearest(points, 60)
    assert (np.sort(few, axis=1)[:, 1:] != np.sort(few, axis=1)[:, :-1]).all()
    assert few.min() >= 0


def test_without_faiss_all_distances_are_compared(monkeypatch):
    points = np.random.default_rng(0).normal(size=(100, 20))
    exact = nearest(points, 5)
    monkeypatch.setattr(neighbours, "EXACT_POINTS", 50)
    monkeypatch.setattr(neighbours, "find_spec", lambda name: None)
    np.testing.assert_array_equal(nearest(points, 5), exact)
