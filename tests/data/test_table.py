from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from unweave.data import Dataset, FactorSpace
from unweave.data.statistics import summarise
from unweave.data.table import AbsentTable, Table, require_grid
from unweave.errors import UsageError
from unweave.metrics import evaluate
from unweave.metrics.evaluate import whole_scores

GRID = FactorSpace(("shape", "x"), (3, 4))


def pictures(n: int, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(n).integers(0, 256, (n, 6, 5, channels), dtype=np.uint8)


def shuffled_grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images, factors and cells of a full grid in a random order."""
    cells = np.random.default_rng(3).permutation(len(GRID))
    return pictures(len(GRID)), GRID.from_index(cells), cells


def test_a_full_grid_is_put_into_its_order():
    images, factors, cells = shuffled_grid()
    table = Table(images, factors, names=["shape", "x"])
    assert (table.factors, table.shape, len(table)) == (GRID, (6, 5, 3), 12)
    assert table.is_grid
    assert table.is_function
    every = np.arange(12)
    np.testing.assert_array_equal(table.values(every), GRID.from_index(every))
    np.testing.assert_array_equal(table.images(cells), images)


def test_rows_that_are_no_grid_keep_their_order():
    images, factors, _ = shuffled_grid()
    for table in (
        Table(images[1:], factors[1:]),  # one combination is missing
        Table(images, factors, sizes=(3, 5)),  # x = 4 never occurs
        Table(images, np.concatenate([factors[1:], factors[1:2]])),  # one is missing, another one there twice
        Table(np.concatenate([images, images]), np.concatenate([factors, factors])),
    ):
        assert not table.is_grid
        n = len(table)
        source = images if n == 12 else images[1:] if n == 11 else np.concatenate([images, images])
        np.testing.assert_array_equal(table.images(np.arange(n)), source)
    assert Table(images[1:], factors[1:]).is_function
    assert not Table(images, np.concatenate([factors[1:], factors[1:2]])).is_function
    np.testing.assert_array_equal(Table(images[1:], factors[1:]).values([4, 0]), factors[1:][[4, 0]])


def test_defaults():
    table = Table(pictures(2, 1)[..., 0], [[0, 3], [5, 0]])
    assert table.shape == (6, 5, 1)
    assert table.factors == FactorSpace(("factor0", "factor1"), (6, 4))
    assert table.nbytes >= 60


def test_binary_and_statistics():
    grey = pictures(1500, 1)
    assert not Table(grey, np.zeros((1500, 1), int)).binary
    black_white = np.where(grey > 127, np.uint8(255), np.uint8(0))
    table = Table(black_white, np.zeros((1500, 1), int))
    assert table.binary
    assert table.statistics() == summarise([black_white])
    black_white[1400, 0, 0] = 7  # late in the set
    assert not Table(black_white, np.zeros((1500, 1), int)).binary


def test_the_digest_tells_what_is_in_the_set_and_not_how_a_grid_was_listed():
    images, factors, cells = shuffled_grid()
    table = Table(images, factors, names=["shape", "x"])
    order = np.argsort(cells)
    assert Table(images[order], factors[order], names=["shape", "x"]).description == table.description
    others = [
        Table(images, factors, names=["shape", "y"]),
        Table(images, factors, names=["shape", "x"], sizes=(4, 4)),
        Table(images, factors[::-1], names=["shape", "x"]),
        Table(images ^ (np.arange(12) == 11).astype(np.uint8)[:, None, None, None], factors, names=["shape", "x"]),
    ]
    assert len({table.digest, *(other.digest for other in others)}) == 5
    assert table.description == {"name": "table", "shape": "6x5x3", "digest": table.digest}


def test_images_are_new_arrays_and_indices_are_checked():
    images, factors, _ = shuffled_grid()
    table = Table(images, factors)
    table.images([0])[:] = 9
    assert (table.images([0]) != 9).any()
    for bad, message in [([12], "between 0 and 11"), ([-1], "between 0 and 11"), ([0.5], "integers"), (3, "list of")]:
        with pytest.raises(UsageError, match=message):
            table.images(bad)
    with pytest.raises(UsageError, match="between 0 and 11"):
        table.values([-1])


GOOD = np.zeros((2, 4, 4, 1), np.uint8)


@pytest.mark.parametrize(
    ("images", "factors", "options", "message"),
    [
        (np.zeros((2, 4, 4), np.float32), [[0], [1]], {}, r"not float32; .*\(255 \* images\)\.round\(\)\.astype"),
        (np.zeros((2, 4, 4), bool), [[0], [1]], {}, r"255 \* images\.astype\('uint8'\)"),
        (np.zeros((2, 4, 4), np.int64), [[0], [1]], {}, "must be uint8, not int64"),
        (np.zeros((2, 3, 8, 8), np.uint8), [[0], [1]], {}, r"transpose\(0, 2, 3, 1\)"),
        (np.zeros((2, 8, 8, 4), np.uint8), [[0], [1]], {}, "1 or 3 channels"),
        (np.zeros((2, 8), np.uint8), [[0], [1]], {}, "shape"),
        (np.zeros((0, 8, 8), np.uint8), np.zeros((0, 1), int), {}, "and not be empty"),
        (np.ones((2, 4, 4), np.uint8), [[0], [1]], {}, r"only 0 and 1.*255 \* images"),
        (GOOD, [[0.5], [np.inf]], {}, "factors must be finite numbers, but column 0 of image 1 is not"),
        (GOOD, [["a"], ["b"]], {}, "factors must be integers"),
        (GOOD, [0, 1], {}, r"shape \(n, k\)"),
        (GOOD, np.zeros((2, 0), int), {}, r"shape \(n, k\)"),
        (GOOD, [[0]], {}, "each of the 2 images, not 1 rows"),
        (GOOD, [[0], [-1]], {"names": ["x"]}, "'x' of image 1 is -1"),
        (GOOD, [[0], [1]], {"names": ["x", "y"]}, "a list of 1"),
        (GOOD, [[0], [1]], {"names": "x"}, "a list of 1"),
        (GOOD, [[0, 1], [1, 0]], {"names": ["x", "x"]}, "must differ"),
        (GOOD, [[0], [1]], {"sizes": (1,)}, "'factor0' has 1 values, 0 to 0, but 1 occurs"),
        (GOOD, [[0], [1]], {"sizes": (2, 2)}, "sizes must be a list of 1"),
    ],
)
def test_mistakes_get_one_clear_line(images, factors, options: dict, message: str):
    with pytest.raises(UsageError, match=message) as caught:
        Table(images, factors, **options)
    assert "\n" not in str(caught.value)


def test_what_a_configuration_knows_of_a_table():
    options = Table(pictures(2), [[0], [1]]).options
    table = AbsentTable(shape=str(options["shape"]), digest=str(options["digest"]))
    assert table.description == {"name": "table", **options}
    assert table.shape == (6, 5, 3)  # all that a model needs
    uses: list[Callable[[], object]] = [
        lambda: table.images([0]),
        lambda: table.values([0]),
        lambda: table.factors,
        lambda: table.binary,
        lambda: len(table),
        lambda: table.statistics(),
    ]
    for use in uses:
        with pytest.raises(
            UsageError, match=f"table {options['digest']} are not stored anywhere; pass the same images"
        ):
            use()
    assert not hasattr(table, "nothing")
    with pytest.raises(UsageError, match="64x64x3, or 20 for vectors, not 'square'"):
        AbsentTable(shape="square", digest="0")
    with pytest.raises(UsageError, match=r"made from arrays in Python: unweave\.data\.Table\(images, factors\)"):
        AbsentTable()


def test_require_grid(get: Callable[..., Dataset]):
    require_grid(get("xysquares"), "this")
    with pytest.raises(UsageError) as caught:
        require_grid(Table(GOOD, [[0], [2]]), "a traversal")
    assert str(caught.value) == "a traversal needs every combination of factors; table is not a full grid"


def test_codes_of_a_table_that_is_no_grid_can_be_scored():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 2, (600, 3))
    table = Table(np.zeros((600, 4, 4), np.uint8), factors, names=["smiling", "male", "young"])
    assert not table.is_grid
    found = table.values(table.sample(600, rng))
    metrics = ["mig", "sap", "sap-correlation", "dci"]
    scores = whole_scores(evaluate(found + 0.01 * rng.standard_normal(found.shape), found, metrics, intervals=False))
    noise = whole_scores(evaluate(rng.standard_normal(found.shape), found, metrics, intervals=False))
    for name, high, low in zip(scores["metric"], scores["value"], noise["value"], strict=True):
        assert high > low + 0.3, name
