"""Four sprites: where they are painted, which is on top, and that scenes are the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.data import load
from unweave.data.scenes2d import PLACES, SCENES, SIDE, SPRITES, Scenes2D
from unweave.errors import UsageError

FIRST = [[35, 0, 29, 44, 47, 40, 13, 40], [49, 40, 1, 26, 33, 31, 17, 7]]
"""Places of the first two scenes."""
APART = [[0, 0], [49, 0], [0, 49], [49, 49]]


def test_the_factors_are_the_places_of_each_sprite():
    data = load("scenes2d")
    assert data.factors.names[:4] == ("red_square_x", "red_square_y", "red_ellipse_x", "red_ellipse_y")
    assert data.factors.sizes == (PLACES,) * 8
    assert (len(data), data.is_grid, data.is_function) == (SCENES, False, True)


def test_scenes_are_the_same_with_every_version_and_evenly_spread():
    values = Scenes2D().values(np.arange(20_000))
    np.testing.assert_array_equal(values[0], Scenes2D(size=32).values([0])[0])
    np.testing.assert_array_equal(values[:2], FIRST)
    for column in values.T:
        assert set(column.tolist()) == set(range(PLACES))
        assert abs(column.mean() - (PLACES - 1) / 2) < 0.5
    assert np.abs(np.corrcoef(values.T) - np.eye(8)).max() < 0.03


@pytest.mark.parametrize("size", [64, 128])
def test_each_sprite_is_where_its_place_says(size):
    data, zoom = Scenes2D(size=size), size // 64
    image = data.paint([APART])[0]
    for number, (colour, _) in enumerate(SPRITES):
        x, y = zoom * np.array(APART[number])
        box = image[y : y + zoom * SIDE, x : x + zoom * SIDE]
        lit = np.zeros_like(box)
        lit[data.masks[number], {"red": 0, "blue": 2}[colour]] = 255
        np.testing.assert_array_equal(box, lit)
    assert (image > 0).sum() == data.masks.sum()


def test_the_image_of_an_index_is_that_of_its_places():
    data = Scenes2D(size=32)
    indices = [0, 7, SCENES - 1]
    np.testing.assert_array_equal(data.images(indices), data.paint(data.values(indices).reshape(-1, 4, 2)))


def test_later_sprites_hide_earlier_ones():
    data = Scenes2D()
    image = data.paint([[[20, 20]] * 4])[0]
    square, ellipse = data.masks[0], data.masks[1]
    box = image[20 : 20 + SIDE, 20 : 20 + SIDE]
    assert (box[square | ellipse] == (0, 0, 255)).all()
    assert not box[~(square | ellipse)].any()


def test_places_outside_are_refused():
    with pytest.raises(UsageError, match="places must lie between 0 and 49"):
        Scenes2D().paint([[[0, 0], [0, 0], [0, 0], [50, 0]]])
    with pytest.raises(UsageError, match=r"shape \(n, 4, 2\)"):
        Scenes2D().paint([[0, 0]])
    with pytest.raises(UsageError, match="between 0 and 199999"):
        Scenes2D().values([SCENES])


def test_runs_can_be_trained_and_scored_on_scenes(tmp_path):
    import unweave

    options = {"net": "mlp", "width": 0.05, "latents": 3, "device": "cpu", "threads": 1}
    run = unweave.train("beta-vae", data="scenes2d:size=32", out=tmp_path / "run", steps=2, batch=4, **options)
    with pytest.warns(UserWarning, match="collapsed"):
        table = run.evaluate(["mig", "factor-vae-score"], samples=300, test_samples=100, preset="fast", floors=False)
    assert {"mig", "factor-vae-score"} <= set(table["metric"])
