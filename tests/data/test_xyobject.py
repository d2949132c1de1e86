from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from unweave.data import Dataset

HUES = [(1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1)]
SHADES = [63, 127, 191, 255]


def measure(images: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre (n, 2) and area (n,) of the square in pixels of a 64×64 image, and its colour (n, 3)."""
    size = images.shape[1]
    colour = images.max(axis=(1, 2))
    light = images.sum(axis=-1) / colour.sum(axis=-1, dtype=float)[:, None, None]
    area = light.sum(axis=(1, 2))
    places = (np.arange(size) + 0.5) * 64 / size - 0.5
    x = np.einsum("nyx,x->n", light, places) / area
    y = np.einsum("nyx,y->n", light, places) / area
    return np.stack([x, y], axis=-1), area * (64 / size) ** 2, colour


@pytest.mark.parametrize("size", [32, 64, 128])
@pytest.mark.parametrize("name", ["xyobject", "xyobject-shaded"])
def test_each_factor_changes_what_its_name_says(get: Callable[..., Dataset], name: str, size: int):
    data = get(name, size=size)
    for base in data.factors.sample(3, np.random.default_rng(0)):
        for factor in data.factors.names:
            factors = data.factors.traversal(factor, base)
            centre, area, colour = measure(data.images(data.factors.to_index(factors)))
            value = dict(zip(data.factors.names, factors.T, strict=True))
            if name == "xyobject":
                value["intensity"], value["hue"] = np.divmod(value["colour"], 6)
            tolerance = 0.1 if size == 32 else 1e-9  # halved pixels are rounded
            np.testing.assert_allclose(centre, 7 + 2 * factors[:, :2], atol=tolerance)
            np.testing.assert_allclose(area, (7 + 2 * value["scale"]) ** 2, rtol=tolerance)
            np.testing.assert_array_equal(
                colour, np.array(SHADES)[value["intensity"]][:, None] * np.array(HUES)[value["hue"]]
            )


def test_factors(get: Callable[..., Dataset]):
    plain, shaded = get("xyobject").factors, get("xyobject-shaded").factors
    assert dict(zip(plain.names, plain.sizes, strict=True)) == {"x": 25, "y": 25, "scale": 5, "colour": 24}
    assert shaded.names == ("x", "y", "scale", "intensity", "hue")
    assert shaded.sizes == (25, 25, 5, 4, 6)


@pytest.mark.parametrize("size", [32, 64])
def test_both_sets_have_the_same_images_in_the_same_order(get: Callable[..., Dataset], size: int):
    plain, shaded = get("xyobject", size=size), get("xyobject-shaded", size=size)
    for indices in np.array_split(np.arange(0, len(plain), 7), 20):
        np.testing.assert_array_equal(plain.images(indices), shaded.images(indices))


def test_the_square_is_solid_and_its_images_all_differ(get: Callable[..., Dataset]):
    data = get("xyobject")
    image = data.images(data.factors.to_index([[24, 1, 4, 23]]))[0]
    expected = np.zeros((64, 64, 3), dtype=np.uint8)
    expected[2:17, 48:63] = (255, 0, 255)
    np.testing.assert_array_equal(image, expected)
    indices = np.arange(0, len(data), 11)
    batches = [data.images(part).reshape(len(part), -1) for part in np.array_split(indices, 20)]
    assert len({image.tobytes() for batch in batches for image in batch}) == len(indices)
