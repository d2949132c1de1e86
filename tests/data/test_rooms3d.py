from __future__ import annotations

import colorsys
from collections.abc import Callable

import numpy as np
import pytest

from unweave.data import Dataset
from unweave.data.rooms3d_scene import DISTANCE, ELEVATION, FIELD, SURFACES, draw_geometries

SURFACE_HUES = ("floor_hue", "wall_hue", "object_hue")


@pytest.fixture(params=[32, 64, 128])
def data(request: pytest.FixtureRequest, get: Callable[..., Dataset]) -> Dataset:
    return get("rooms3d", size=request.param)


def draw(data: Dataset, factors: np.ndarray) -> np.ndarray:
    return data.images(data.factors.to_index(factors))


def traverse(data: Dataset, factor: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    base = data.factors.sample(1, np.random.default_rng(seed))[0]
    factors = data.factors.traversal(factor, base)
    return factors, draw(data, factors)


def probes(images: np.ndarray) -> np.ndarray:
    """A pixel of the floor, of a wall and of the object, (n, 3, RGB)."""
    size = images.shape[1]
    return np.stack([images[:, -1, size // 2], images[:, 0, 0], images[:, int(0.55 * size), size // 2]], axis=1)


def hues(pixels: np.ndarray) -> np.ndarray:
    flat = [colorsys.rgb_to_hsv(*pixel)[0] for pixel in pixels.reshape(-1, 3) / 255]
    return np.reshape(flat, pixels.shape[:-1])


def silhouettes(data: Dataset, factors: np.ndarray) -> np.ndarray:
    """Where the object is: where another hue of it shows, (n, H, W)."""
    other = factors.copy()
    other[:, 2] = (other[:, 2] + 5) % 10
    change = np.abs(draw(data, factors).astype(int) - draw(data, other)).max(axis=-1)
    return change > 40


def extent(mask: np.ndarray) -> tuple[int, int]:
    rows, columns = np.nonzero(mask)
    return int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1


def corner_column(images: np.ndarray) -> np.ndarray:
    """Where the two walls meet in the top row: their brightness jumps there."""
    return np.abs(np.diff(images[:, 0].sum(axis=-1, dtype=int))).argmax(axis=1) + 0.5


def projected_corner(orientation: np.ndarray, size: int) -> np.ndarray:
    """Column at which a camera that has turned this far sees the corner, in the top row."""
    turn = np.radians(-30 + 60 * orientation / 14)
    far = np.sqrt(2) * -float(SURFACES[0, 0])
    top = np.tan(FIELD / 2) * (1 - 1 / size)
    depth = (far * np.cos(turn) + DISTANCE * np.cos(ELEVATION)) / (np.cos(ELEVATION) + top * np.sin(ELEVATION))
    return (far * np.sin(turn) / depth / np.tan(FIELD / 2) + 1) / 2 * size - 0.5


def assert_hues(images: np.ndarray, factors: np.ndarray):
    error = (hues(probes(images)) - factors[:, :3] / 10 + 0.5) % 1 - 0.5
    assert np.abs(error).max() < 0.02


def test_factors(get: Callable[..., Dataset]):
    data = get("rooms3d")
    assert data.factors.names == (*SURFACE_HUES, "scale", "shape", "orientation")
    assert data.factors.sizes == (10, 10, 10, 8, 4, 15)


@pytest.mark.parametrize("surface", range(3))
def test_a_hue_colours_one_surface(data: Dataset, surface: int):
    for seed in range(4):
        factors, images = traverse(data, SURFACE_HUES[surface], seed)
        assert_hues(images, factors)
        others = np.delete(probes(images), surface, axis=1)
        assert (others == others[0]).all()


def test_an_image_is_the_planes_of_its_geometry_times_its_colours(data: Dataset):
    size = data.shape[0]
    planes = draw_geometries(max(size, 64))  # (scale, shape, orientation, width, width, 4)
    for factors in data.factors.sample(40, np.random.default_rng(3)):
        wheel = [np.rint(256 * np.array(colorsys.hsv_to_rgb(hue / 10, 1, 1))) / 256 for hue in factors[:3]]
        fine = np.floor(planes[tuple(factors[3:])] @ np.array([*wheel, [1, 1, 1]]))
        side = len(fine) // size
        expected = np.floor(fine.reshape(size, side, size, side, 3).mean(axis=(1, 3)) + 0.5)
        np.testing.assert_array_equal(draw(data, factors[None])[0], expected)


def test_surfaces_share_the_image(data: Dataset):
    base = data.factors.sample(1, np.random.default_rng(5))[0]
    touched = np.stack([
        (np.ptp(draw(data, data.factors.traversal(name, base)), axis=0) > 0).any(axis=-1)
        for name in SURFACE_HUES
    ])  # fmt: skip
    assert touched.any(axis=0).mean() > 0.99
    assert (touched.sum(axis=0) > 1).mean() < 0.2  # pixels at edges belong to two


def test_scale_grows_the_object_and_nothing_else(data: Dataset):
    for seed in range(3):
        factors, images = traverse(data, "scale", seed)
        assert_hues(images, factors)
        assert len(set(corner_column(images))) == 1
        areas = silhouettes(data, factors).sum(axis=(1, 2))
        assert (np.diff(areas) > 0).all()
        assert areas[-1] / areas[0] == pytest.approx((1.25 / 0.75) ** 2, rel=0.1)


@pytest.mark.parametrize("scale", [0, 7])
def test_shape_changes_the_outline_and_nothing_else(data: Dataset, scale: int):
    factors = data.factors.traversal("shape", [5, 8, 0, scale, 0, 0])
    images = draw(data, factors)
    assert_hues(images, factors)
    assert len(set(corner_column(images))) == 1
    outlines = silhouettes(data, factors)
    pixel = 2.5 / extent(outlines[2])[0]  # how much a pixel or two matter
    heights, widths = np.transpose([extent(outline) for outline in outlines])
    fill = outlines.sum(axis=(1, 2)) / heights / widths
    _, cylinder, ball, capsule = heights / widths
    assert ball == pytest.approx(1, abs=pixel)
    assert fill[2] == pytest.approx(np.pi / 4, abs=pixel)
    assert 1.2 < cylinder < 1.55
    assert fill[1] > 0.8
    assert 1.45 < capsule < 1.75
    # Only the cube has flat faces, three in sight, each of one shade.
    faces = []
    for image, outline in zip(images, outlines, strict=True):
        _, counts = np.unique(image[outline], axis=0, return_counts=True)
        faces.append(np.sort(counts)[-3:].sum() / outline.sum())
    assert np.argmax(faces) == 0
    assert faces[0] > 0.5


def test_orientation_turns_the_view_and_nothing_else(data: Dataset):
    for shape in range(4):
        factors = data.factors.traversal("orientation", [0, 5, 3, 4, shape, 0])
        images = draw(data, factors)
        assert_hues(images, factors)
        expected = projected_corner(np.arange(15), data.shape[0])
        np.testing.assert_allclose(corner_column(images), expected, atol=1.1)
        outlines = silhouettes(data, factors)
        areas = outlines.sum(axis=(1, 2))
        np.testing.assert_allclose(areas, areas[7], rtol=0.15 if shape == 0 else 0.05)
        # The camera sees from the left what it sees from the right, mirrored.
        assert (outlines != outlines[::-1, :, ::-1]).mean() < 0.02


def test_a_shadow_lies_at_the_foot_of_the_object(get: Callable[..., Dataset]):
    data = get("rooms3d")
    for shape in range(4):
        factors = np.array([[0, 5, 3, 4, shape, 7], [0, 5, 3, 0, shape, 7]])
        large, small = draw(data, factors).astype(int)
        hidden = silhouettes(data, factors).any(axis=0)
        red_floor = (small[..., 0] > 40) & ~hidden
        assert (large[red_floor][:, 0] < small[red_floor][:, 0] - 30).sum() > 10
        assert (large[red_floor][:, 0] <= small[red_floor][:, 0] + 2).mean() > 0.99
