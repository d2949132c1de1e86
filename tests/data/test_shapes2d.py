from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import unweave
from unweave.data import Dataset
from unweave.errors import UsageError

SIZES = pytest.mark.parametrize("size", [32, 64, 128])
FOLDS = (4, 2, 3)  # the angular moment that tells how square, ellipse and heart are turned


def moment(images: np.ndarray, fold: int) -> np.ndarray:
    """Mean of ((x + iy) / length)^fold over each shape, around its centroid; y points up."""
    light = images[..., 0] / images.sum(axis=(1, 2, 3), dtype=float)[:, None, None]
    x, y = centroid(images).T
    places = centres(images.shape[1])
    z = (places - x[:, None])[:, None, :] - 1j * (places - y[:, None])[:, :, None]
    return (light * z**fold).sum(axis=(1, 2)) / (light * np.abs(z) ** fold).sum(axis=(1, 2))


def centres(size: int) -> np.ndarray:
    """Where the pixels of a row are, in pixels of a 64×64 image."""
    return (np.arange(size) + 0.5) * 64 / size - 0.5


def centroid(images: np.ndarray) -> np.ndarray:
    """x and y of each shape, from the left and the top."""
    light = images[..., 0] / images.sum(axis=(1, 2, 3), dtype=float)[:, None, None]
    places = centres(images.shape[1])
    return np.stack([np.einsum("nyx,x->n", light, places), np.einsum("nyx,y->n", light, places)], axis=-1)


def area(images: np.ndarray) -> np.ndarray:
    """Area of each shape in pixels of a 64×64 image."""
    return images.sum(axis=(1, 2, 3)) / 255 * (64 / images.shape[1]) ** 2


def shape_of(images: np.ndarray) -> np.ndarray:
    """Tell the shape from moments: an ellipse is long, a heart is not its own mirror image, a square is both."""
    long, lopsided = np.abs(moment(images, 2)) > 0.3, np.abs(moment(images, 3)) > 0.06
    return np.where(long, 1, np.where(lopsided, 2, 0))


def traverse(data: Dataset, factor: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    base = data.factors.sample(1, np.random.default_rng(seed))[0]
    factors = data.factors.traversal(factor, base)
    return factors, data.images(data.factors.to_index(factors))


@SIZES
@pytest.mark.parametrize("factor", ["shape", "scale", "orientation", "x", "y"])
def test_each_factor_changes_what_its_name_says(get: Callable[..., Dataset], factor: str, size: int):
    data = get("shapes2d", size=size)
    for seed in range(6):
        factors, images = traverse(data, factor, seed)
        shape, scale, orientation, x, y = factors.T
        assert factor != "scale" or (np.diff(area(images)) > 0).all()
        np.testing.assert_array_equal(shape_of(images), shape)
        np.testing.assert_allclose(area(images), 289 * (0.5 + 0.1 * scale) ** 2, rtol=0.14)
        np.testing.assert_allclose(centroid(images), np.stack([x, y], axis=-1) + 16, atol=0.3)
        for fold, one, turn in zip(np.array(FOLDS)[shape], images, orientation, strict=True):
            upright = data.images(data.factors.to_index([[FOLDS.index(fold), 5, 0, 0, 0]]))
            angle = np.angle(moment(one[None], fold) / moment(upright, fold))[0] / fold
            error = (angle - 2 * np.pi * turn / 41 + np.pi / fold) % (2 * np.pi / fold) - np.pi / fold
            assert abs(error) < np.radians(6)


@pytest.mark.parametrize("size", [64, 128])
def test_the_heart_turns_anticlockwise_once(get: Callable[..., Dataset], size: int):
    data = get("shapes2d", size=size)
    factors = data.factors.traversal("orientation", [2, 5, 0, 16, 16])
    images = data.images(data.factors.to_index(factors))
    upright = images[0, :, :, 0] > 127
    upright = upright[upright.any(axis=1)]
    assert upright[-2].sum() < upright[1].sum() / 2  # the tip is below

    x, y = centroid(images).T
    z = (centres(size) - x[:, None])[:, None, :] - 1j * (centres(size) - y[:, None])[:, :, None]
    lean = (images[..., 0] * z * np.abs(z) ** 2).sum(axis=(1, 2))
    error = np.angle(lean / lean[0] * np.exp(-2j * np.pi * np.arange(40) / 41))
    assert np.abs(error).max() < np.radians(30)  # the threefold moment above is exact but for thirds of a turn


@pytest.mark.parametrize("size", [64, 128])
def test_a_position_is_a_shift_and_nothing_else(get: Callable[..., Dataset], size: int):
    data = get("shapes2d", size=size)
    for look in ([0, 5, 5], [1, 5, 7], [2, 5, 11]):
        images = data.images(data.factors.to_index([[*look, x, y] for x in range(32) for y in range(32)]))
        step = size // 64
        for k in (0, 31, 500, 992, 1023):
            x, y = divmod(k, 32)
            np.testing.assert_array_equal(images[k], np.roll(images[0], (y * step, x * step), axis=(0, 1)))
        assert len(np.unique(images.sum(axis=(1, 2, 3), dtype=int))) == 1  # never cut off


def test_hardly_any_orientation_looks_like_another(get: Callable[..., Dataset]):
    """At the largest scale; a small square has too few pixels to show every turn. Steps of 9° showed 10 and 20."""
    data = get("shapes2d")
    for shape, least in enumerate((32, 39, 39)):
        factors = data.factors.traversal("orientation", [shape, 5, 0, 0, 0])
        images = data.images(data.factors.to_index(factors))
        assert len({image.tobytes() for image in images}) >= least


def test_factors(get: Callable[..., Dataset]):
    data = get("shapes2d")
    assert data.factors.names == ("shape", "scale", "orientation", "x", "y")
    assert data.factors.sizes == (3, 6, 40, 32, 32)
    assert data.statistics().mean[0] == pytest.approx(0.0418, abs=1e-4)


def test_an_earlier_run_is_evaluated_on_the_drawing_it_was_trained_on(tmp_path: Path):
    """Its record has no `turn`: 40 steps a turn, half of which give the same ellipse."""
    run = unweave.train("ae", data="shapes2d:size=32", steps=1, batch=2, out=tmp_path / "run")
    assert run.data.description == {"name": "shapes2d", "size": 32, "turn": 41}
    recorded = json.loads((run.path / "config.json").read_text())
    assert recorded["data"].pop("turn") == 41
    (run.path / "config.json").write_text(json.dumps(recorded))
    old = unweave.Run.open(run.path)
    assert old.id != run.id
    assert old.data.description["turn"] == 40
    index = old.data.factors.to_index([[1, 5, 0, 16, 16], [1, 5, 20, 16, 16]])
    first, half = old.data.images(index)
    np.testing.assert_array_equal(first, half)
    assert (run.data.images(index[:1]) == first).all()
    assert (run.data.images(index[1:]) != half).any()
    with pytest.raises(
        UsageError, match="trained on shapes2d:size=32,turn=40, but the given data are shapes2d:size=32,turn=41"
    ):
        unweave.Run.open(run.path, data=unweave.load("shapes2d:size=32"))


def test_other_turns_are_refused():
    with pytest.raises(UsageError, match="turn must be one of 41, 40, not 39"):
        unweave.load("shapes2d", turn=39)
