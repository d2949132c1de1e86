from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unweave.data import FactorSpace
from unweave.errors import UsageError

GRID = FactorSpace(("shape", "scale", "x"), (3, 1, 5))
SQUARES = FactorSpace(tuple("abcdef"), (8,) * 6)

grids = st.lists(st.integers(1, 9), min_size=1, max_size=6).map(
    lambda sizes: FactorSpace(tuple(f"f{i}" for i in range(len(sizes))), tuple(sizes))
)


def vectors(grid: FactorSpace, n: int, seed: int) -> np.ndarray:
    return grid.sample(n, np.random.default_rng(seed))


def test_cells_are_counted_with_the_last_factor_fastest():
    cells = np.array(list(product(range(3), range(1), range(5))))
    assert len(GRID) == 15
    np.testing.assert_array_equal(GRID.from_index(np.arange(15)), cells)
    np.testing.assert_array_equal(GRID.to_index(cells), np.arange(15))


@given(grids, st.data())
def test_round_trip(grid: FactorSpace, data: st.DataObject):
    shape = data.draw(st.sampled_from([(), (1,), (7,), (2, 3), (0,)]))
    indices = np.random.default_rng(0).integers(len(grid), size=shape)
    factors = grid.from_index(indices)
    assert factors.shape == (*shape, len(grid.sizes))
    assert factors.dtype == np.int64
    assert ((factors >= 0) & (factors < grid.sizes)).all()
    again = grid.to_index(factors)
    assert again.dtype == np.int64
    np.testing.assert_array_equal(again, indices)


def test_sample_covers_every_cell_evenly():
    indices = GRID.to_index(vectors(GRID, 15_000, seed=0))
    counts = np.bincount(indices, minlength=15)
    assert abs(counts - 1000).max() < 5 * np.sqrt(1000)


def test_sample_holds_fixed_factors_and_leaves_the_others_as_they_were():
    free = vectors(GRID, 20, seed=3)
    values = np.arange(20) % 5
    held = GRID.sample(20, np.random.default_rng(3), fixed={"shape": 2, 2: values})
    assert (held[:, 0] == 2).all()
    np.testing.assert_array_equal(held[:, 2], values)
    np.testing.assert_array_equal(held[:, 1], free[:, 1])


def test_traversal_moves_one_factor():
    np.testing.assert_array_equal(GRID.traversal("x", [1, 0, 4]), [[1, 0, k] for k in range(5)])
    np.testing.assert_array_equal(GRID.traversal(0, [1, 0, 4]), [[k, 0, 4] for k in range(3)])


def test_distance_is_the_sum_of_steps_and_broadcasts():
    assert GRID.distance([0, 0, 0], [2, 0, 3]) == 5
    assert GRID.distance(np.zeros((4, 1, 3), int), np.zeros((2, 3), int)).shape == (4, 2)


@given(grids, st.integers(0, 2**32 - 1))
def test_scaled_distance_equals_the_sum_of_fractions(grid: FactorSpace, seed: int):
    a, b = vectors(grid, 10, seed), vectors(grid, 10, seed + 1)
    scaled = grid.scaled_distance(a, b)
    assert scaled.dtype == np.int64
    for u, v, numerator in zip(a.tolist(), b.tolist(), scaled.tolist(), strict=True):
        steps = zip(u, v, grid.sizes, strict=True)
        exact = sum((Fraction(abs(i - j), max(size - 1, 1)) for i, j, size in steps), Fraction(0))
        assert Fraction(numerator, grid.denominator) == exact


def test_float_distances_mistake_ties_as_often_as_the_thesis_says():
    # Michlo (2022), section 5.2.4: ordering XYSquares by sums of floats errs in about 1.4 % of cases.
    anchor, positive, negative = (vectors(SQUARES, 200_000, seed) for seed in range(3))
    exact = SQUARES.scaled_distance(anchor, positive) > SQUARES.scaled_distance(anchor, negative)

    def summed(other: np.ndarray) -> np.ndarray:
        return (np.abs(anchor - other).astype(np.float32) / np.float32(7)).sum(axis=1)

    assert (exact != (summed(positive) > summed(negative))).mean() == pytest.approx(0.014, abs=0.001)


def test_scaled_distance_refuses_what_does_not_fit():
    sizes = (2**31, 2**31 - 1, 2**31 - 2)
    grid = FactorSpace(("a", "b", "c"), sizes)
    with pytest.raises(UsageError, match="64 bits"):
        grid.scaled_distance([0, 0, 0], [1, 1, 1])


def test_axis_takes_names_and_positions():
    assert [GRID.axis(name) for name in GRID.names] == [0, 1, 2]
    assert GRID.axis(2) == 2
    with pytest.raises(UsageError, match="did you mean 'shape'"):
        GRID.axis("shap")
    for position in (3, -1):
        with pytest.raises(UsageError, match="numbered 0 to 2"):
            GRID.axis(position)


@pytest.mark.parametrize(
    ("names", "sizes", "message"),
    [
        ((), (2,), "do not make a grid"),
        (("a",), (2, 3), "do not make a grid"),
        (("a", "a"), (2, 3), "must differ"),
        (("a", "b"), (2, 0), "at least one value"),
        (("a", "b\nc"), (2, 3), r"one line of plain text, not 'b\\nc'"),
        (("a", "\x1b[2J"), (2, 3), "one line of plain text"),
    ],
)
def test_bad_grids(names: tuple[str, ...], sizes: tuple[int, ...], message: str):
    with pytest.raises(UsageError, match=message):
        FactorSpace(names, sizes)


@pytest.mark.parametrize("indices", [15, -1, [0, 15]])
def test_indices_out_of_range(indices: object):
    with pytest.raises(UsageError, match="between 0 and 14"):
        GRID.from_index(indices)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("indices", [1.0, [True], ["1"]])
def test_indices_of_a_wrong_type(indices: object):
    with pytest.raises(UsageError, match="must be integers"):
        GRID.from_index(indices)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([0, 0], "need 3 entries"),
        (0, "need 3 entries"),
        ([0, 1, 0], "'scale' must lie between 0 and 0"),
        ([[0, 0, 0], [0, 0, -1]], "'x' must lie between 0 and 4"),
        ([0.0, 0.0, 0.0], "must be integers"),
    ],
)
def test_bad_factors(factors: object, message: str):
    with pytest.raises(UsageError, match=message):
        GRID.to_index(factors)  # pyright: ignore[reportArgumentType]


def test_bad_fixed_values():
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="'shape' must lie between 0 and 2"):
        GRID.sample(2, rng, fixed={"shape": 3})
    with pytest.raises(UsageError, match="must be integers"):
        GRID.sample(2, rng, fixed={"shape": 0.5})
