from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from unweave.data import Dataset


def centroids(images: np.ndarray) -> np.ndarray:
    """x and y of the light in each channel, (n, 3, 2), in pixels of a 64×64 image."""
    size = images.shape[1]
    light = images / images.sum(axis=(1, 2), keepdims=True)
    places = (np.arange(size) + 0.5) * 64 / size - 0.5
    x = np.einsum("nyxc,x->nc", light, places)
    y = np.einsum("nyxc,y->nc", light, places)
    return np.stack([x, y], axis=-1)


def squared_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return ((a / 255.0 - b / 255.0) ** 2).mean(axis=(-3, -2, -1))


@pytest.mark.parametrize("size", [16, 32, 64, 128])
@pytest.mark.parametrize("spacing", [1, 2, 5, 8])
def test_each_factor_moves_one_square_along_one_axis(get: Callable[..., Dataset], spacing: int, size: int):
    data = get("xysquares", spacing=spacing, size=size)
    assert data.factors.names == ("x_R", "y_R", "x_G", "y_G", "x_B", "y_B")
    base = data.factors.sample(1, np.random.default_rng(spacing))[0]
    margin = (56 - 7 * spacing) // 2
    for name in data.factors.names:
        factors = data.factors.traversal(name, base)
        images = data.images(data.factors.to_index(factors))
        expected = margin + 3.5 + spacing * factors.reshape(8, 3, 2)
        np.testing.assert_allclose(centroids(images), expected, atol=0.01)
        assert images.sum(axis=(1, 2)) / 255 == pytest.approx((size / 8) ** 2, rel=0.005)


def test_squares_are_solid_and_primary(get: Callable[..., Dataset]):
    image = get("xysquares").images(get("xysquares").factors.to_index([[0, 1, 2, 3, 7, 7]]))[0]
    expected = np.zeros((64, 64, 3), dtype=np.uint8)
    expected[8:16, 0:8, 0] = 255
    expected[24:32, 16:24, 1] = 255
    expected[56:64, 56:64, 2] = 255
    np.testing.assert_array_equal(image, expected)


@pytest.mark.parametrize("spacing", range(1, 9))
def test_distance_along_a_factor(get: Callable[..., Dataset], spacing: int):
    # Squares k places apart differ in min(8, k·spacing) columns of 8 pixels, twice. Thesis, table 3.1:
    # 0.0104 ± 0.0000 along any factor at spacing 8.
    data = get("xysquares", spacing=spacing)
    base = data.factors.sample(1, np.random.default_rng(0))[0]
    for name in data.factors.names:
        images = data.images(data.factors.to_index(data.factors.traversal(name, base)))
        for i, j in combinations(range(8), 2):
            expected = 16 * min(8, (j - i) * spacing) / 12288
            assert squared_distance(images[i], images[j]) == pytest.approx(expected, rel=1e-12)
    if spacing == 8:
        assert round(expected, 4) == 0.0104  # pyright: ignore[reportPossiblyUnboundVariable]


def test_distance_between_random_pairs(get: Callable[..., Dataset]):
    # Each square stays in place with probability 1/64. Thesis, table 3.1: 0.0308, with deviation 0.0022.
    data = get("xysquares")
    rng = np.random.default_rng(0)
    pairs = rng.integers(len(data), size=(40, 2, 250))
    distances = np.concatenate([squared_distance(data.images(a), data.images(b)) for a, b in pairs])
    expected = 3 * 63 / 64 * 128 / 12288
    deviation = np.sqrt(3 * 63) / 64 * 128 / 12288
    assert (round(expected, 4), round(deviation, 4)) == (0.0308, 0.0022)
    assert distances.mean() == pytest.approx(expected, abs=4 * deviation / np.sqrt(len(distances)))
    assert distances.std() == pytest.approx(deviation, rel=0.05)


def test_binary_at_32_only_where_squares_fill_whole_blocks(get: Callable[..., Dataset]):
    assert [get("xysquares", spacing=s, size=32).binary for s in range(1, 9)] == [
        False, False, False, True, False, False, False, True,
    ]  # fmt: skip
    for spacing in range(1, 9):
        data = get("xysquares", spacing=spacing, size=32)
        values = np.unique(data.images(np.random.default_rng(0).integers(len(data), size=300)))
        assert data.binary == (set(values) == {0, 255})


@pytest.mark.parametrize("size", [16, 32])
@pytest.mark.parametrize("spacing", range(1, 9))
def test_a_small_image_is_the_mean_of_blocks_of_the_usual_one(get: Callable[..., Dataset], spacing: int, size: int):
    """Small images are put together from 64 shrunk channels; a referee shrinks each image whole."""
    small, usual = (get("xysquares", size=each, spacing=spacing) for each in (size, 64))
    indices = np.random.default_rng(spacing).integers(len(small), size=50)
    blocks = usual.images(indices).reshape(50, size, 64 // size, size, 64 // size, 3).mean((2, 4))
    np.testing.assert_array_equal(small.images(indices), np.floor(blocks + 0.5))
