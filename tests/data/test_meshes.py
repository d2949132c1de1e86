from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from unweave.data.meshes import build_mesh, horned_stone, sphere
from unweave.errors import UsageError

CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = np.array([(a, b, c) for a, *rest in QUADS for b, c in (rest[:2], rest[1:])])


def sides(triangles: np.ndarray) -> Counter[tuple[int, int]]:
    return Counter((int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3))


def volume(points: np.ndarray, triangles: np.ndarray) -> float:
    return float(np.linalg.det(points[triangles]).sum() / 6)


@pytest.mark.parametrize("divisions", [0, 1, 3])
def test_the_sphere_is_closed_round_and_outward(divisions: int):
    points, triangles = sphere(divisions)
    count = 20 * 4**divisions
    assert (len(points), len(triangles)) == (count // 2 + 2, count)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    directed = sides(triangles)
    assert set(directed.values()) == {1}
    assert all((b, a) in directed for a, b in directed)
    assert 2.5 < volume(points, triangles) < 4 * np.pi / 3


def test_the_stone_is_closed_and_fits_the_ball():
    stone = horned_stone()
    directed = sides(stone.triangles)
    assert all(directed[b, a] == 1 for a, b in directed)
    assert volume(stone.vertices, stone.triangles) > 0.5
    assert np.linalg.norm(stone.vertices, axis=1).max() == pytest.approx(1)
    assert np.abs(stone.vertices.min(axis=0) + stone.vertices.max(axis=0)).max() < 1e-12
    np.testing.assert_allclose(np.linalg.norm(stone.normals, axis=2), 1)
    facing = stone.flat().normals
    assert (stone.normals * facing).sum(axis=2).min() > 0.5


def test_missing_normals_are_weighted_with_areas():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9, 3))
    triangles = np.array([rng.choice(9, size=3, replace=False) for _ in range(14)])
    mesh = build_mesh(points, triangles)
    places = {tuple(place): index for index, place in enumerate(mesh.vertices)}
    assert len(places) == len(mesh.vertices)
    for triangle, normals in zip(mesh.triangles, mesh.normals, strict=True):
        for vertex, normal in zip(triangle, normals, strict=True):
            total = np.zeros(3)
            for other in mesh.triangles:
                if vertex in other:
                    a, b, c = mesh.vertices[other]
                    plane = np.cross(b - a, c - b)
                    area = np.linalg.norm(plane) / 2
                    total += area * plane / np.linalg.norm(plane)
            np.testing.assert_allclose(normal, total / np.linalg.norm(total), atol=1e-12)


def test_a_cube_has_diagonal_corners_and_straight_faces():
    mesh = build_mesh(CUBE, TRIANGLES)
    np.testing.assert_allclose(mesh.vertices, CUBE / np.sqrt(3))
    assert volume(mesh.vertices, mesh.triangles) > 0
    flat = mesh.flat().normals
    assert set(np.abs(flat).max(axis=2).ravel()) == {1.0}
    assert (flat * mesh.vertices[mesh.triangles]).sum(axis=2).min() > 0
    np.testing.assert_allclose(np.abs(mesh.flat().normals).sum(axis=2), 1)


@pytest.mark.parametrize(
    ("scale", "shift", "tolerance"),
    [(1e-300, 0, 1e-12), (1e300, 0, 1e-12), (1e-3, 1e3, 1e-8), (1, -1e6, 1e-8), (1.7e308, 0, 1e-12)],
)
def test_size_and_place_do_not_matter(scale: float, shift: float, tolerance: float):
    points, triangles = sphere(1)
    points = points * [1, 0.7, 0.4]
    plain, other = build_mesh(points, triangles), build_mesh(scale * points + shift, triangles)
    np.testing.assert_allclose(other.vertices, plain.vertices, atol=tolerance)
    np.testing.assert_allclose(other.normals, plain.normals, atol=10 * tolerance)


def test_vertices_without_faces_do_not_count():
    mesh = build_mesh(np.concatenate([[[100.0, 0, 0]], CUBE]), TRIANGLES + 1)
    np.testing.assert_array_equal(mesh.vertices, build_mesh(CUBE, TRIANGLES).vertices)
    assert mesh.triangles.max() == 7


def test_triangles_without_an_area_are_left_out():
    line = [(0, 0, 1), (3, 3, 3), (0, 1, 1)]
    mesh = build_mesh(CUBE, np.concatenate([line, TRIANGLES]))
    np.testing.assert_array_equal(mesh.triangles, TRIANGLES)
    np.testing.assert_array_equal(mesh.normals, build_mesh(CUBE, TRIANGLES).normals)


def test_known_normals_are_kept_and_unknown_ones_filled_in():
    normals = np.zeros((12, 3, 3))
    normals[2:] = 3 * CUBE[TRIANGLES][2:]
    normals[5, 1] = [0.1, 2, 0.2] * np.sign(normals[5, 1])
    mesh = build_mesh(CUBE, TRIANGLES, normals)
    np.testing.assert_allclose(mesh.normals[5, 1], normals[5, 1] / np.linalg.norm(normals[5, 1]))
    np.testing.assert_allclose(mesh.normals[2], CUBE[TRIANGLES[2]] / np.sqrt(3))
    np.testing.assert_array_equal(mesh.normals[:2], build_mesh(CUBE, TRIANGLES).normals[:2])


def test_a_triangle_wound_against_its_normals_is_turned_round():
    normals = CUBE[TRIANGLES]
    wrong, turned = TRIANGLES.copy(), normals.copy()
    wrong[::3], turned[::3] = wrong[::3, ::-1], turned[::3, ::-1]
    right, mesh = build_mesh(CUBE, TRIANGLES, normals), build_mesh(CUBE, wrong, turned)
    np.testing.assert_array_equal(mesh.triangles, right.triangles)
    np.testing.assert_array_equal(mesh.normals, right.normals)


def test_normals_that_cancel_become_that_of_the_face():
    both = np.concatenate([TRIANGLES[:1], TRIANGLES[:1, ::-1]])
    mesh = build_mesh(CUBE, both)
    np.testing.assert_array_equal(mesh.normals, mesh.flat().normals)


@pytest.mark.parametrize(
    ("points", "triangles", "normals", "message"),
    [
        (CUBE, [], None, "has no faces"),
        (CUBE[:, :2], TRIANGLES, None, r"points \(v, 3\)"),
        (CUBE, TRIANGLES[:, :2], None, r"triangles \(t, 3\)"),
        (CUBE, TRIANGLES + 0.5, None, "must be integers"),
        (CUBE, TRIANGLES + 1, None, "numbered 0 to 7"),
        (CUBE, TRIANGLES - 1, None, "numbered 0 to 7"),
        (np.where(CUBE > 0, CUBE, np.nan), TRIANGLES, None, "vertex 0 of the mesh is not finite"),
        (CUBE, TRIANGLES, np.zeros((12, 3)), r"normals must be finite numbers \(12, 3, 3\)"),
        (CUBE, TRIANGLES, np.full((12, 3, 3), np.inf), "normals must be finite"),
        (CUBE, [(0, 0, 1)], None, "no face of the mesh has an area"),
        (CUBE[[0, 0, 0]], [(0, 1, 2)], None, "no extent"),
    ],
)
def test_mistakes_get_one_clear_line(points, triangles, normals, message: str):
    with pytest.raises(UsageError, match=message) as caught:
        build_mesh(points, triangles, normals)
    assert "\n" not in str(caught.value)
