from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import UsageError
from unweave.report.grids import CELL, GAP, MARGIN, Grid, Row, draw, strip


def random_images(n: int, side: int, channels: int) -> np.ndarray:
    return np.random.default_rng(0).integers(256, size=(n, side, side, channels), dtype=np.uint8)


@pytest.mark.parametrize("side", [4, 32, 64, 100, 128, 200])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_strip_holds_every_pixel_enlarged_a_whole_number_of_times(side: int, channels: int):
    images = random_images(3, side, channels)
    pixels = np.asarray(strip(images))
    scale = max(1, CELL // side)
    assert pixels.shape == (side * scale, 3 * side * scale + 2 * GAP, 4)
    for place, image in enumerate(images):
        left = place * (side * scale + GAP)
        block = pixels[:, left : left + side * scale]
        for dy, dx in [(0, 0), (scale - 1, scale - 1)]:  # the first and the last copy of every pixel
            np.testing.assert_array_equal(block[dy::scale, dx::scale, :3], np.broadcast_to(image, (side, side, 3)))
        assert (block[..., 3] == 255).all()


def test_the_gaps_are_transparent_or_of_the_background():
    images = random_images(2, 128, 1)
    assert (np.asarray(strip(images))[:, 128 : 128 + GAP, 3] == 0).all()
    assert (np.asarray(strip(images, background="#ffffff"))[:, 128 : 128 + GAP] == 255).all()


def test_an_image_of_two_channels_is_no_picture():
    with pytest.raises(UsageError, match="1 or 3 channels, not 2"):
        strip(random_images(1, 8, 2))


def test_rows_without_labels_begin_at_the_margin():
    images = random_images(2, 128, 3)
    picture = np.asarray(draw(Grid([Row(images), Row(images[::-1])])))
    assert picture.shape == (2 * 128 + GAP + 2 * MARGIN, 2 * 128 + GAP + 2 * MARGIN, 3)
    np.testing.assert_array_equal(picture[MARGIN : MARGIN + 128, MARGIN : MARGIN + 128], images[0])
    below = MARGIN + 128 + GAP
    np.testing.assert_array_equal(picture[below : below + 128, MARGIN : MARGIN + 128], images[1])


@pytest.mark.parametrize("label", ["x", "a_very_long_name_of_a_factor_that_needs_much_room"])
def test_a_label_of_any_length_stays_clear_of_the_images_and_of_the_edge(label: str):
    images = np.zeros((1, 128, 128, 3), np.uint8)
    picture = np.asarray(draw(Grid([Row(images, label, "3 values")])))
    first = picture.shape[1] - MARGIN - 128
    assert (picture[:, :MARGIN] == 255).all()
    assert (picture[:, first - 16 : first] == 255).all()
    ink = (picture[:, MARGIN : first - 16] < 128).any(axis=(0, 2))
    assert ink.any()
    np.testing.assert_array_equal(picture[MARGIN : MARGIN + 128, first : first + 128], images[0])


def test_a_muted_label_is_paler_and_its_images_are_the_same():
    images = random_images(1, 128, 3)
    plain, muted = (np.asarray(draw(Grid([Row(images, "z1", "unused", muted=m)]))) for m in (False, True))
    assert plain.shape == muted.shape
    left = plain.shape[1] - MARGIN - 128
    assert muted[:, :left].min() > plain[:, :left].min()
    np.testing.assert_array_equal(plain[:, left:], muted[:, left:])


def test_every_heading_stands_over_its_column():
    images = np.full((3, 128, 128, 3), 200, np.uint8)
    picture = np.asarray(draw(Grid([Row(images, "z")], header=["1", "2", "3"])))
    left = picture.shape[1] - MARGIN - (3 * 128 + 2 * GAP)
    ink = np.any(picture[MARGIN : MARGIN + 30, left:] < 180, axis=(0, 2))
    for column in range(3):
        begin = column * (128 + GAP)
        places = np.flatnonzero(ink[begin : begin + 128])
        assert abs((places[0] + places[-1]) / 2 - 64) < 4


def test_a_title_wider_than_the_images_is_not_cut():
    images = np.zeros((1, 128, 128, 3), np.uint8)
    picture = np.asarray(draw(Grid([Row(images)], title="a title that is much wider than one image")))
    assert picture.shape[1] > 400
    assert (picture[:, -MARGIN:] == 255).all()
