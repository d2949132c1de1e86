from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unweave.data.meshes import Mesh, build_mesh, horned_stone, sphere
from unweave.data.raster import render, visible
from unweave.errors import UsageError

FRONT = np.array([[0.0, 0.0, 1.0]])
FIELDS = [0.0, 30.0, 90.0]
QUARTER = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def turns(n: int, seed: int = 0) -> np.ndarray:
    """Random rotations: orthogonal matrices from QR, with positive determinant."""
    q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, 3, 3)))
    return q * np.linalg.det(q)[:, None, None]


def units(n: int, seed: int = 1) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, 3))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def soup(n: int = 40, seed: int = 2) -> Mesh:
    """Triangles through each other, seen from both sides."""
    rng = np.random.default_rng(seed)
    return build_mesh(rng.normal(size=(n, 3)), [rng.choice(n, size=3, replace=False) for _ in range(2 * n)])


def ball(divisions: int) -> Mesh:
    """A sphere with its true normals."""
    points, triangles = sphere(divisions)
    return build_mesh(points, triangles, points[triangles])


def rays(size: int, field: float) -> tuple[np.ndarray, np.ndarray]:
    """Origins and directions (size, size, 3) of the rays through the centres of the pixels."""
    steps = (2 * np.arange(size) + 1) / size - 1
    x, y = np.meshgrid(steps, -steps)
    if field == 0:
        return np.stack([x, y, np.full_like(x, 5)], axis=-1), np.broadcast_to([0.0, 0, -1], (size, size, 3))
    half = np.radians(field / 2)
    directions = np.stack([np.tan(half) * x, np.tan(half) * y, -np.ones_like(x)], axis=-1)
    return np.broadcast_to([0, 0, 1 / np.sin(half)], directions.shape), directions


def cast(mesh: Mesh, turn: np.ndarray, size: int, field: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve o + t d = a + u (b - a) + v (c - a) for every pixel and triangle: what is met first, at which z.

    Also where this is decided by more than rounding: no side within 1e-9, nothing else as near.
    """
    origins, directions = rays(size, field)
    owner, height = np.full((size, size), -1), np.full((size, size), np.nan)
    certain = np.ones((size, size), dtype=bool)
    corners = (mesh.vertices @ turn.T)[mesh.triangles]
    for row, column in np.ndindex(size, size):
        o, d = origins[row, column], directions[row, column]
        system = np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=-1)
        system = np.concatenate([system, np.broadcast_to(-d, (len(corners), 3))[..., None]], axis=-1)
        u, v, t = np.linalg.solve(system, (o - corners[:, 0])[..., None])[..., 0].T
        least = np.minimum(np.minimum(u, v), 1 - u - v)
        certain[row, column] = np.abs(least).min() > 1e-9
        hits = np.flatnonzero(least >= 0)
        if hits.size:
            order = hits[np.argsort(t[hits])]
            owner[row, column], height[row, column] = order[0], o[2] + t[order[0]] * d[2]
            certain[row, column] &= order.size < 2 or t[order[1]] - t[order[0]] > 1e-9
    return owner, height, certain


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("shape", ["soup", "stone"])
def test_the_same_triangles_show_as_by_casting_rays(field: float, shape: str):
    mesh = soup() if shape == "soup" else horned_stone(1)
    size = 17
    for turn in turns(4):
        owner, height, certain = cast(mesh, turn, size, field)
        seen, z = visible(mesh, turn[None], size=size, field=field)
        assert certain.mean() > 0.95
        assert (owner >= 0).mean() > 0.1
        np.testing.assert_array_equal(seen[0][certain], owner[certain])
        np.testing.assert_allclose(z[0][certain], height[certain], atol=1e-9)


@pytest.mark.parametrize("field", FIELDS)
def test_the_brightness_of_a_ball_is_lamberts_law(field: float):
    size, lamps = 48, units(6)
    origins, directions = rays(size, field)
    # Where a ray meets the unit sphere: |o + t d|² = 1.
    a, b = (directions**2).sum(-1), (origins * directions).sum(-1)
    root = b**2 - a * ((origins**2).sum(-1) - 1)
    normals = origins + ((-b - np.sqrt(np.maximum(root, 0))) / a)[..., None] * directions
    inside = root / a > 0.04  # the rim, where triangles are no sphere, is left out
    images = render(ball(4), turns(6), lamps, size=size, field=field, samples=1)[..., 0]
    for image, lamp in zip(images, lamps, strict=True):
        expected = np.maximum(0, normals @ lamp)
        np.testing.assert_allclose(image[inside] / 255, expected[inside], atol=0.012)
    assert (images[:, root < -0.01] == 0).all()


def test_ambient_light_reaches_everything():
    images = [render(ball(3), turns(3), units(3), ambient=share) for share in (0.0, 0.25, 1.0)]
    covered = images[2] == 255
    assert 0.5 < covered.mean() < 0.8
    expected = (0.25 + 0.75 * images[0] / 255) * 255
    np.testing.assert_allclose(images[1][covered], expected[covered], atol=1)


def test_flat_faces_have_the_brightness_of_their_planes():
    mesh, turn, lamp = horned_stone(1).flat(), turns(1), units(1)
    owner, _ = visible(mesh, turn, size=40)
    image = render(mesh, turn, lamp, size=40, samples=1)[0, ..., 0]
    a, b, c = (mesh.vertices @ turn[0].T)[mesh.triangles].swapaxes(0, 1)
    planes = np.cross(b - a, c - a)
    expected = np.maximum(0, planes @ lamp[0] / np.linalg.norm(planes, axis=1))
    seen = owner[0] >= 0
    np.testing.assert_array_equal(image[seen], np.floor(255 * expected[owner[0][seen]] + 0.5))
    assert (image[~seen] == 0).all()


def test_normals_are_interpolated_as_perspective_demands():
    normals = np.array([[[0.5, 0, 1], [-0.5, 0.2, 1], [0, -0.5, 1]]])
    mesh = build_mesh([(-1, -1, -0.9), (1, -0.6, 0.8), (0, 1, 0.1)], [(0, 1, 2)], normals)
    size, field, lamp = 33, 60.0, units(1, seed=8)[0]
    lamp[2] = abs(lamp[2])
    origins, directions = rays(size, field)
    a, b, c = mesh.vertices
    t = (a - origins) @ np.cross(b - a, c - a) / (directions @ np.cross(b - a, c - a))
    points = origins + t[..., None] * directions
    shares = np.linalg.solve(np.stack([a, b, c], axis=1), points[..., None])[..., 0]  # each point a mixture of corners
    mixed = shares @ mesh.normals[0]
    expected = np.maximum(0, (mixed @ lamp) / np.linalg.norm(mixed, axis=-1))
    seen = visible(mesh, np.eye(3)[None], size=size, field=field)[0][0] >= 0
    assert seen.mean() > 0.1
    image = render(mesh, np.eye(3)[None], lamp[None], size=size, field=field, samples=1)[0, ..., 0]
    np.testing.assert_allclose(image[seen], 255 * expected[seen], atol=0.51)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("size", "samples"), [(32, 1), (32, 2), (25, 3)])
def test_a_quarter_turn_about_the_view_turns_the_image_exactly(field: float, size: int, samples: int):
    for mesh in (soup(), horned_stone(2)):
        rotations, lamps = turns(5), units(5)
        images = render(mesh, rotations, lamps, size=size, field=field, samples=samples, ambient=0.1)
        for k in range(1, 4):
            quarter = np.linalg.matrix_power(QUARTER, k)
            turned = render(
                mesh, quarter @ rotations, lamps @ quarter.T, size=size, field=field, samples=samples, ambient=0.1
            )
            np.testing.assert_array_equal(turned, np.rot90(images, k, axes=(1, 2)))


def test_turning_the_object_is_turning_its_vertices():
    mesh, turn, lamps = horned_stone(2), turns(1, seed=5)[0], units(4)
    moved = replace(mesh, vertices=mesh.vertices @ turn.T, normals=mesh.normals @ turn.T)
    images = render(mesh, turns(4) @ turn, lamps)
    assert np.abs(images.astype(int) - render(moved, turns(4), lamps)).max() <= 1


def test_a_batch_is_its_images_one_by_one():
    mesh, rotations, lamps = horned_stone(), turns(7), units(7)
    images = render(mesh, rotations, lamps)
    assert images.shape == (7, 64, 64, 1)
    assert images.dtype == np.uint8
    for image, turn, lamp in zip(images, rotations, lamps, strict=True):
        np.testing.assert_array_equal(render(mesh, turn[None], lamp[None])[0], image)
    assert render(mesh, rotations[:0], lamps[:0]).shape == (0, 64, 64, 1)


def test_the_order_of_the_triangles_does_not_matter():
    mesh = soup()
    order = np.random.default_rng(0).permutation(len(mesh.triangles))
    shuffled = replace(mesh, triangles=mesh.triangles[order], normals=mesh.normals[order])
    np.testing.assert_array_equal(render(mesh, turns(5), units(5)), render(shuffled, turns(5), units(5)))


def test_what_faces_away_from_the_viewer_is_hidden_in_a_closed_mesh():
    mesh = horned_stone(2)
    assert mesh.closed
    images = render(mesh, turns(20), units(20))
    np.testing.assert_array_equal(render(replace(mesh, closed=False), turns(20), units(20)), images)
    inside_out = replace(mesh, triangles=mesh.triangles[:, ::-1], normals=-mesh.normals[:, ::-1])
    assert (render(inside_out, turns(20), units(20)) != images).mean() > 0.1


def test_a_sheet_is_lit_from_the_side_it_is_seen_from():
    sheet = build_mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    over = np.array([[-1.0, 0, 0], [0, 1, 0], [0, 0, -1]])
    lamp = np.array([[0.6, 0, 0.8]])
    for turn in (np.eye(3), over):
        image = render(sheet, turn[None], lamp, samples=1, field=0.0)[0, ..., 0]
        assert set(np.unique(image)) == {0, 204}
    assert render(sheet, over[None], -lamp).max() == 0


@pytest.mark.parametrize("field", [0.0, 40.0])
def test_no_sample_falls_between_neighbours(field: float):
    # A square sheet cut along lines through the centres of the pixels, straight and slanting: every pixel within shows.
    steps = np.linspace(-1, 1, 23)
    points = np.array([(x, y, 0) for x in steps for y in steps])
    cells = [(23 * i + j, 23 * (i + 1) + j, 23 * (i + 1) + j + 1, 23 * i + j + 1) for i in range(22) for j in range(22)]
    sheet = build_mesh(points, [t for a, b, c, d in cells for t in ((a, b, c), (a, c, d))])
    for turn in (np.eye(3), QUARTER, *turns(30)):
        owner, _ = visible(sheet, turn[None], size=22, field=field)
        outline = build_mesh(points[[0, 22, 22 * 23, 528]], [(0, 2, 3), (0, 3, 1)])
        whole, _ = visible(outline, turn[None], size=22, field=field)
        lost = (whole >= 0) & (owner < 0)
        assert not lost.any()


def test_a_sample_on_a_common_side_is_in_one_of_its_triangles_whatever_is_rounded():
    rng = np.random.default_rng(0)
    for _ in range(300):  # the side from a to b goes through the middle of the image, up to rounding
        a = np.array([*rng.uniform(-0.6, 0.6, size=2), 0])
        b, across = -rng.uniform(0.3, 1) * a, np.array([-a[1], a[0], 0])
        vertices, triangles = np.stack([a, b, across, -across]), np.array([[0, 2, 1], [1, 3, 0]])
        owner, _ = visible(Mesh(vertices, triangles, np.zeros((2, 3, 3))), np.eye(3)[None], size=3, field=0.0)
        assert owner[0, 1, 1] >= 0


def test_a_pixel_is_the_mean_of_its_samples():
    mesh, rotations, lamps = horned_stone(), turns(4), units(4)
    fine = render(mesh, rotations, lamps, size=64, samples=1).reshape(4, 16, 4, 16, 4).mean(axis=(2, 4))
    coarse = render(mesh, rotations, lamps, size=16, samples=4)[..., 0]
    assert np.abs(coarse - fine).max() <= 1
    white = render(ball(2), rotations, lamps, size=16, samples=4, ambient=1.0)
    assert len(np.unique(white)) > 3  # the rim is grey
    assert white[:, 8, 8].min() == 255


def test_the_ball_just_fills_the_image():
    for field in FIELDS:
        owner, _ = visible(ball(4), turns(1), size=64, field=field)
        rows, columns = np.nonzero(owner[0] >= 0)
        assert (rows.min(), rows.max(), columns.min(), columns.max()) == (0, 63, 0, 63)
        assert (owner[0] >= 0).mean() == pytest.approx(np.pi / 4, abs=0.01)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rotations": np.eye(3)}, r"rotations must have the shape \(n, 3, 3\), not \(3, 3\)"),
        ({"rotations": 2 * np.eye(3)[None]}, "orthogonal matrices of determinant 1"),
        ({"rotations": -np.eye(3)[None]}, "orthogonal matrices of determinant 1"),
        ({"rotations": np.full((1, 3, 3), np.nan)}, "orthogonal matrices"),
        ({"lights": [0, 0, 1]}, r"lights must have the shape \(n, 3\), not \(3,\)"),
        ({"lights": [[0, 1, 1]]}, "length 1"),
        ({"lights": units(2)}, "1 rotations, but 2 lights"),
        ({"size": 0}, "at least one pixel and one sample"),
        ({"samples": 0}, "at least one pixel and one sample"),
        ({"field": 121.0}, "field must be an angle of 0 to 120 degrees, not 121"),
        ({"field": float("nan")}, "field must be an angle"),
        ({"ambient": 1.5}, "ambient must lie between 0 and 1, not 1.5"),
        ({"mesh": Mesh(2 * np.eye(3), np.array([[0, 1, 2]]), np.zeros((1, 3, 3)))}, "make it with build_mesh"),
    ],
)
def test_mistakes_get_one_clear_line(options: dict, message: str):
    usual = {"mesh": ball(0), "rotations": np.eye(3)[None], "lights": FRONT}
    with pytest.raises(UsageError, match=message) as caught:
        render(**{**usual, **options})
    assert "\n" not in str(caught.value)
