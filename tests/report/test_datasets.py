from __future__ import annotations

import numpy as np
import pytest

from unweave.data.factors import FactorSpace
from unweave.data.restricted import Restricted
from unweave.data.table import Table
from unweave.errors import UsageError
from unweave.report import factor_grid, samples_grid, show
from unweave.report.datasets import spread
from unweave.report.grids import GAP, MARGIN

SCALE = 2  # 64-pixel images in cells of 128


def cells(picture: np.ndarray, rows: int, columns: int, bottom: int = MARGIN) -> np.ndarray:
    """Cut a picture whose last rows end `bottom` above its edge into (rows, columns, 64, 64, 3) images."""
    side = 64 * SCALE
    top = picture.shape[0] - bottom - rows * (side + GAP) + GAP
    left = picture.shape[1] - MARGIN - columns * (side + GAP) + GAP
    return np.array(
        [
            [picture[y : y + side : SCALE, x : x + side : SCALE] for x in left + np.arange(columns) * (side + GAP)]
            for y in top + np.arange(rows) * (side + GAP)
        ]
    )


@pytest.mark.parametrize(
    ("size", "count", "values"),
    [(1, 10, [0]), (3, 10, [0, 1, 2]), (10, 10, list(range(10))), (9, 3, [0, 4, 8]), (40, 5, [0, 10, 20, 29, 39])],
)
def test_values_are_spread_evenly_from_end_to_end(size: int, count: int, values: list[int]):
    assert spread(size, count).tolist() == values


def test_each_row_of_the_factor_grid_traverses_one_factor_from_one_base(squares):
    grid = cells(np.asarray(factor_grid(squares, columns=10, seed=3)), rows=3, columns=10)
    base = squares.factors.from_index(np.random.default_rng(3).integers(len(squares)))
    for axis, size in enumerate(squares.factors.sizes):
        for column in range(10):
            if column >= size:
                assert (grid[axis, column] == 255).all()
                continue
            factors = base.copy()
            factors[axis] = spread(size, 10)[column]
            expected = squares.images(squares.factors.to_index(factors)[None])[0]
            np.testing.assert_array_equal(grid[axis, column], expected)


def test_the_samples_are_images_of_the_set_and_follow_the_seed(squares):
    first, again, other = (np.asarray(samples_grid(squares, rows=2, columns=4, seed=s)) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    known = {image.tobytes() for image in squares.images(np.arange(len(squares)))}
    drawn = {image.tobytes() for image in cells(first, 2, 4).reshape(8, 64, 64, 3)}
    assert len(drawn) > 4
    assert drawn <= known


def test_show_has_the_traversals_above_the_samples(squares):
    picture = np.asarray(show(squares, rows=2, columns=6, seed=5))
    samples = np.asarray(samples_grid(squares, rows=2, columns=6, seed=5))
    np.testing.assert_array_equal(cells(picture, 2, 6), cells(samples, 2, 6))
    above = np.asarray(factor_grid(squares, columns=6, seed=5))
    rest = picture.shape[0] - above.shape[0] + MARGIN
    np.testing.assert_array_equal(cells(picture, 3, 6, bottom=rest), cells(above, 3, 6))


def test_grey_images_and_a_factor_of_one_value(grey_squares):
    data = type(grey_squares)(1, factors=FactorSpace(("x", "y", "shade"), (14, 8, 2)))
    picture = np.asarray(show(data))
    coloured = (picture.max(axis=2).astype(int) - picture.min(axis=2)) > 20  # the ink is nearly grey
    assert not coloured.any()
    single = type(grey_squares)(1, factors=FactorSpace(("only",), (1,)))
    object.__setattr__(single, "images", lambda indices: np.zeros((len(indices), 64, 64, 1), np.uint8))
    assert np.asarray(factor_grid(single)).shape[0] > 128


def test_a_set_that_is_no_grid_shows_samples_only():
    shades = np.arange(40, 240, 40, dtype=np.uint8)
    images = np.broadcast_to(shades[:, None, None, None], (5, 64, 64, 1))
    data = Table(images, [[0], [1], [2], [4], [4]], names=["shade"])
    assert not data.is_grid
    picture = np.asarray(show(data, rows=2, columns=8, seed=1))
    drawn = cells(picture, 2, 8)
    assert set(np.unique(drawn)) <= set(shades)
    assert len(np.unique(drawn)) > 2
    assert picture.shape == np.asarray(samples_grid(data, rows=2, columns=8, seed=1)).shape
    with pytest.raises(UsageError, match="a traversal of a factor needs every combination of factors; table is not"):
        factor_grid(data)


def test_samples_are_drawn_as_training_draws_them():
    shades = np.arange(0, 250, 50, dtype=np.uint8)
    table = Table(np.broadcast_to(shades[:, None, None, None], (5, 64, 64, 1)), np.arange(5)[:, None], names=["shade"])
    drawn = cells(np.asarray(show(Restricted(table, keep="shade=2|shade=4"), rows=3, columns=8)), 3, 8)
    assert set(np.unique(drawn)) == {100, 200}
