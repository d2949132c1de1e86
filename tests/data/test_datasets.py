"""What holds for every set that is drawn on demand, at every size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from unweave.data import Dataset
from unweave.errors import UsageError

COUNTS = {
    "xysquares": 262_144,
    "xyobject": 75_000,
    "xyobject-shaded": 75_000,
    "shapes2d": 737_280,
    "rooms3d": 480_000,
    "scenes2d": 200_000,
}


def indices_of(data: Dataset, n: int = 200) -> np.ndarray:
    ends = [0, len(data) - 1]
    return np.concatenate([ends, np.random.default_rng(0).integers(len(data), size=n)])


@pytest.fixture(params=[(name, size) for name in COUNTS for size in (32, 64, 128)], ids=str)
def data(request: pytest.FixtureRequest, get: Callable[..., Dataset]) -> Dataset:
    name, size = request.param
    return get(name, size=size)


def test_images_have_the_promised_form(data: Dataset):
    assert len(data) == COUNTS[data.name]
    images = data.images(indices_of(data))
    assert images.shape == (202, *data.shape)
    assert images.dtype == np.uint8
    assert images.flags.c_contiguous
    assert images.flags.writeable


def test_an_image_does_not_depend_on_its_batch(data: Dataset):
    indices = indices_of(data, 20)
    images = data.images(indices)
    np.testing.assert_array_equal(data.images(indices[::-1])[::-1], images)
    for index, image in zip(indices, images, strict=True):
        np.testing.assert_array_equal(data.images([index])[0], image)
    images[:] = 7  # belongs to the caller
    assert (data.images(indices) != 7).any()


def test_binary_is_true_exactly_when_all_values_are_extreme(data: Dataset):
    values = np.unique(data.images(indices_of(data)))
    assert data.binary == np.isin(values, [0, 255]).all()


def test_the_set_is_small(data: Dataset):
    assert 0 < data.nbytes <= 50e6


def test_no_indices_give_no_images(data: Dataset):
    assert data.images([]).shape == (0, *data.shape)


def test_bad_indices(data: Dataset):
    for bad, message in [
        ([len(data)], "between 0 and"),
        ([-1], "between 0 and"),
        ([0.5], "must be integers"),
        (3, "list of numbers"),
        ([[1, 2]], "list of numbers"),
    ]:
        with pytest.raises(UsageError, match=message):
            data.images(bad)


@pytest.mark.parametrize("name", COUNTS)
def test_size_32_is_the_mean_of_blocks_of_four_pixels(get: Callable[..., Dataset], name: str):
    small, large = get(name, size=32), get(name, size=64)
    indices = indices_of(large)
    blocks = large.images(indices).reshape(-1, 32, 2, 32, 2, large.shape[2]).mean(axis=(2, 4))
    np.testing.assert_array_equal(small.images(indices), np.floor(blocks + 0.5))


@pytest.mark.parametrize("name", ["xysquares", "xyobject"])
def test_squares_at_128_are_doubled_pixels(get: Callable[..., Dataset], name: str):
    indices = indices_of(get(name))
    doubled = get(name, size=64).images(indices).repeat(2, axis=1).repeat(2, axis=2)
    np.testing.assert_array_equal(get(name, size=128).images(indices), doubled)


@pytest.mark.parametrize("name", ["shapes2d", "rooms3d", "scenes2d"])
def test_a_finer_drawing_shows_the_same_thing(get: Callable[..., Dataset], name: str):
    small, large = get(name, size=64), get(name, size=128)
    indices = indices_of(small)
    blocks = large.images(indices).reshape(-1, 64, 2, 64, 2, large.shape[2]).mean(axis=(2, 4))
    assert np.abs(blocks - small.images(indices)).mean() < 2
    assert (large.images(indices) != small.images(indices).repeat(2, axis=1).repeat(2, axis=2)).any()
