"""A codebook encodes each cell once, however it is asked, and answers mistakes in one line."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.data import Dataset, FactorSpace, Table, load
from unweave.errors import UsageError
from unweave.metrics import codebook as module
from unweave.metrics.cell_index import DenseCellIndex, SparseCellIndex
from unweave.metrics.codebook import Codebook, open_codebook
from unweave.metrics.traversals import draw_traversals, several_valued, value_of, with_value

SIZES = (2, 3, 4)
FACTORS = np.stack(np.unravel_index(np.arange(24), SIZES), axis=1)


class CountingEncoder:
    """The brightest pixel of an image, which tells its cell, and how often it was looked at."""

    def __init__(self):
        self.seen = []

    def __call__(self, images):
        assert images.dtype == np.uint8
        assert images.shape[1:] == (2, 2, 1)
        cells = images.max(axis=(1, 2, 3)).astype(np.float32) - 1
        self.seen += cells.astype(int).tolist()
        return np.stack([cells, -cells], axis=1)


@pytest.fixture
def data():
    images = np.zeros((24, 2, 2, 1), dtype=np.uint8)
    images[:, 0, 0, 0] = 1 + np.arange(24)
    return Table(images, FACTORS)


@pytest.fixture(params=["dense", "sparse"])
def kind(request, monkeypatch):
    if request.param == "sparse":
        monkeypatch.setattr(module, "DENSE", 0)
    return {"dense": DenseCellIndex, "sparse": SparseCellIndex}[request.param]


def test_each_cell_is_encoded_once(data, kind, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 5)
    encode, rng = CountingEncoder(), np.random.default_rng(0)
    book = Codebook(encode, data)
    assert isinstance(book._index, kind)
    for _ in range(30):
        cells = rng.integers(24, size=rng.integers(1, 8))
        np.testing.assert_array_equal(book.codes(cells), np.stack([cells, -cells], axis=1))
    assert sorted(encode.seen) == list(range(24))
    assert len(book) == 24


def test_cells_come_in_any_shape_and_as_float64(data, kind):
    book = Codebook(CountingEncoder(), data)
    codes = book.codes(np.arange(24).reshape(2, 3, 4))
    assert codes.shape == (2, 3, 4, 2)
    assert codes.dtype == np.float64
    assert codes[1, 2, 3].tolist() == [23, -23]


def test_codes_known_elsewhere_are_not_encoded_again(data, kind):
    encode = CountingEncoder()
    book = Codebook(encode, data)
    book.add([3, 5, 3], [[30, 0], [50, 0], [30, 0]])
    book.add([5, 7], [[0, 0], [70, 0]])
    assert book.codes([5, 3, 7, 1])[:, 0].tolist() == [50, 30, 70, 1]
    assert encode.seen == [1]


def test_progress_is_told(data, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 10)
    told = []
    book = Codebook(CountingEncoder(), data, on_progress=lambda _, *count: told.append(count))
    book.prepare(np.arange(24))
    book.prepare([0, 1])
    assert told == [(10, 24), (20, 24), (24, 24)]


def test_codes_of_a_grid_need_no_images():
    book = Codebook.of_grid(FACTORS, SIZES)
    assert book.sizes == SIZES
    assert book.exact
    assert not book.has_images
    assert book.codes([23, 0]).tolist() == [[1, 2, 3], [0, 0, 0]]
    with pytest.raises(UsageError, match="made from codes alone"):
        book.images([0])


def test_images_are_those_of_the_data(data):
    book = Codebook(CountingEncoder(), data)
    assert book.has_images
    np.testing.assert_array_equal(book.images([7, 2]), data.images([7, 2]))


def test_noisy_sets_say_that_they_are_not_exact(data):
    noisy = load("shapes2d-noisy")
    assert not Codebook(lambda images: images[:, 0, 0], noisy).exact
    assert Codebook(lambda images: images[:, 0, 0], data).exact


class Huge(Dataset):
    name, shape, binary, options = "huge", (1, 1, 1), False, {}
    factors = FactorSpace(tuple("abcdef"), (100,) * 6)

    def _draw(self, indices):
        return (indices % 100).astype(np.uint8).reshape(-1, 1, 1, 1)


def test_a_huge_grid_costs_what_is_asked_of_it():
    book = Codebook(lambda images: images[:, 0, 0].astype(np.float32), Huge())
    assert book.codes([10**12 - 1, 0]).tolist() == [[99], [0]]


def test_a_table_that_is_no_grid_is_refused(data):
    part = Table(data.images(np.arange(23)), FACTORS[:23])
    with pytest.raises(UsageError, match=r"needs every combination of factors; table is not a full grid$"):
        Codebook(CountingEncoder(), part)


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (lambda images: np.zeros(len(images)), "must have the shape"),
        (lambda images: np.zeros((len(images) + 1, 2)), "must have the shape"),
        (lambda images: np.zeros((len(images), 0)), "must have the shape"),
        (lambda images: np.full((len(images), 2), np.nan), "NaN"),
        (lambda images: np.full((len(images), 2), np.inf, dtype=np.float32), "NaN"),
        (lambda images: np.full((len(images), 2), 1e200), "NaN"),
        (lambda images: np.full((len(images), 2), "a"), "must be numbers"),
        (lambda images: [[1.0], [1.0, 2.0]], "cannot be read"),
        (
            lambda images: np.zeros((len(images), 1 + int(images[0, 0, 0, 0] > 5))),
            "gave 1 latents for some images and 2 for others",
        ),
    ],
)
def test_bad_codes_are_answered_in_one_line(data, encode, message, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 10)
    with pytest.raises(UsageError, match=message) as caught:
        Codebook(encode, data).codes(np.arange(24))
    assert "\n" not in str(caught.value)


def test_bad_arguments_are_answered(data):
    book = Codebook(CountingEncoder(), data)
    for cells in ([24], [-1]):
        with pytest.raises(UsageError, match="between 0 and 23"):
            book.codes(cells)
    with pytest.raises(UsageError, match="cells must be integers"):
        book.codes([0.5])
    with pytest.raises(UsageError, match="must be a function"):
        Codebook(np.zeros((24, 2)), data)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="at least one value"):
        Codebook.of_grid([[0.0]], (0,))
    with pytest.raises(UsageError, match=r"shape \(24, codes\)"):
        Codebook.of_grid(np.zeros((23, 2)), SIZES)
    with pytest.raises(UsageError, match="give a Codebook, or an encoder and a data set"):
        open_codebook(CountingEncoder(), None)
    with pytest.raises(UsageError, match="has its own data set"):
        open_codebook(book, data)
    assert open_codebook(book, None) is book


def test_one_factor_is_changed_and_the_others_stay():
    cells, factors = np.arange(24), np.arange(24) % 3
    values = np.array([1, 0, 2])[factors]
    expected = FACTORS.copy()
    expected[np.arange(24), factors] = values
    np.testing.assert_array_equal(FACTORS[with_value(cells, factors, values, SIZES)], expected)
    np.testing.assert_array_equal(value_of(cells, factors, SIZES), FACTORS[cells, factors])


def test_traversals_run_through_one_factor():
    drawn = draw_traversals((2, 1, 3, 4), 50, np.random.default_rng(0))
    assert list(drawn) == [0, 2, 3]
    for factor, cells in drawn.items():
        values = np.stack(np.unravel_index(cells, (2, 1, 3, 4)), axis=-1)
        assert (values[:, :, factor] == np.arange((2, 1, 3, 4)[factor])).all()
        others = np.delete(values, factor, axis=2)
        assert (others == others[:, :1]).all()
        assert len(np.unique(others[:, 0], axis=0)) > 4


def test_factors_of_one_value_leave_nothing_to_change():
    with pytest.raises(UsageError, match="every factor has a single value"):
        several_valued((1, 1))
