from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np
import pytest

from unweave.data import Dataset, Statistics
from unweave.data.statistics import summarise


def referee(data: Dataset, indices: np.ndarray) -> Statistics:
    """The definitions, written out with floats over these images."""
    means, deviations, squares = [], [], []
    for part in np.array_split(indices, -(-len(indices) // 500)):
        x = data.images(part).reshape(len(part), -1, data.shape[2]) / 255
        means.append(x.mean(axis=1))
        squares.append((x**2).mean(axis=1))
        deviations.append(x.std(axis=1, ddof=1))
    mean, square = np.concatenate(means).mean(axis=0), np.concatenate(squares).mean(axis=0)
    return Statistics(tuple(mean), tuple(np.concatenate(deviations).mean(axis=0)), tuple(np.sqrt(square - mean**2)))


def assert_same(a: Statistics, b: Statistics):
    assert a.mean == pytest.approx(b.mean, rel=1e-9)
    assert a.deviation == pytest.approx(b.deviation, rel=1e-9)
    assert a.global_deviation == pytest.approx(b.global_deviation, rel=1e-9)


def test_the_definitions():
    images = np.random.default_rng(0).integers(0, 256, size=(10, 6, 7, 3), dtype=np.uint8)
    pixels = images.reshape(10, 42, 3) / 255
    found = summarise([images[:4], images[4:]])
    assert found.mean == pytest.approx(pixels.mean(axis=(0, 1)))
    assert found.deviation == pytest.approx(pixels.std(axis=1, ddof=1).mean(axis=0))
    assert found.global_deviation == pytest.approx(pixels.reshape(-1, 3).std(axis=0))


def test_weights_stand_for_repeated_images():
    images = np.random.default_rng(0).integers(0, 256, size=(3, 4, 4, 2), dtype=np.uint8)
    counts = np.array([1, 5, 2])
    weights = np.stack([counts, np.ones(3, dtype=int)], axis=1)
    found, repeated, plain = (
        summarise([images], weights),
        summarise([images.repeat(counts, axis=0)]),
        summarise([images]),
    )
    for name in ("mean", "deviation", "global_deviation"):
        expected = (getattr(repeated, name)[0], getattr(plain, name)[1])
        assert getattr(found, name) == pytest.approx(expected)


def channel_representatives(name: str, factors: np.ndarray) -> np.ndarray:
    """Which representative shows the channels of images with these factors, (n, C)."""
    if name == "xysquares":
        return 8 * factors[:, 0::2] + factors[:, 1::2]
    if name == "xyobject":
        return np.stack([24 * factors[:, 2] + factors[:, 3]] * 3, axis=-1)
    look = np.ravel_multi_index(tuple(factors[:, :3].T), (3, 6, 40))
    return (4 * look + 2 * (factors[:, 3] % 2) + factors[:, 4] % 2)[:, None]


@pytest.mark.parametrize("size", [32, 64])
@pytest.mark.parametrize("name", ["xysquares", "xyobject", "shapes2d"])
def test_representatives_show_all_there_is(get: Callable[..., Dataset], name: str, size: int):
    data = get(name, size=size, **({"spacing": 3} if name == "xysquares" else {}))
    shown = np.sort(data.images(data._representatives()).reshape(-1, size * size, data.shape[2]), axis=1)
    indices = np.random.default_rng(0).integers(len(data), size=500)
    images = np.sort(data.images(indices).reshape(500, size * size, -1), axis=1)
    numbers = channel_representatives(name, data.factors.from_index(indices))
    for channel in range(data.shape[2]):
        np.testing.assert_array_equal(images[..., channel], shown[numbers[:, channel], :, channel])

    everywhere = channel_representatives(name, data.factors.from_index(np.arange(len(data))))
    for channel in everywhere.T:
        assert (np.bincount(channel, minlength=len(shown)) == len(data) / len(shown)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xysquares:spacing=3", "xyobject", "xyobject-shaded", "shapes2d", "rooms3d"])
def test_the_short_way_equals_the_whole_set(get: Callable[..., Dataset], name: str):
    data = get(name)
    batches = np.array_split(np.arange(len(data)), len(data) // 64)
    assert_same(data.statistics(), summarise(data.images(batch) for batch in batches))


def test_rooms3d_counts_every_colouring_of_a_geometry(get: Callable[..., Dataset]):
    whole = get("rooms3d", size=32)
    geometries = [3, 400]
    indices = (480 * np.arange(1000)[:, None] + geometries).ravel()
    part = copy(whole)
    vars(part)["_planes"] = vars(whole)["_planes"][geometries]
    assert_same(part.statistics(), referee(whole, indices))


@pytest.mark.parametrize(
    ("name", "mean", "deviation"),
    [
        ("xysquares", 0.015625, 0.124034734589209),
        ("xyobject", 0.009818761549013, 0.052632363725246),
        ("xyobject-shaded", 0.009818761549013, 0.052632363725246),
    ],
)
def test_table_a2_of_the_thesis(get: Callable[..., Dataset], name: str, mean: float, deviation: float):
    # Michlo (2022); its figures were summed in single precision.
    found = get(name).statistics()
    assert found.mean == pytest.approx((mean,) * 3, rel=1e-8)
    assert found.deviation == pytest.approx((deviation,) * 3, rel=1e-8)


def test_xysquares_in_closed_form(get: Callable[..., Dataset]):
    p = 1 / 64  # share of a channel's pixels that is lit
    found = get("xysquares").statistics()
    assert found.global_deviation == pytest.approx((np.sqrt(p * (1 - p)),) * 3)
    assert found.deviation == pytest.approx((np.sqrt(p * (1 - p) * 4096 / 4095),) * 3)
