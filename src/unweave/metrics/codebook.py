"""The codes of the cells of a grid of factors: each is encoded once, on first use, and shared by all metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset, Images, Inputs
from unweave.data.factors import Integers, integers
from unweave.data.table import require_grid
from unweave.errors import UsageError
from unweave.metrics.cell_index import CellIndex, DenseCellIndex, SparseCellIndex
from unweave.metrics.inputs import LARGEST
from unweave.metrics.traversals import draw_cells, several_valued, value_of, with_value
from unweave.progress import OnProgress

CHUNK = 512
"""Images encoded together."""
DENSE = 2**24
"""Grids of up to this many cells (64 MB) index every cell; larger ones index only the encoded cells."""

Encode: TypeAlias = Callable[[Images], ArrayLike]
"""A function from uint8 images (n, H, W, C) to codes (n, d)."""


class Codebook:
    """The codes of a data set that is a full grid of factors, under one encoder.

    A metric that intervenes on factors requests the codes of cells, numbered as in the data set: the last factor varies
    fastest. Each cell is encoded once, when it is first requested.

    Where the factors determine the image (`exact`), the result is the same as encoding every image again. Where they do
    not, as in the noisy variants, one image stands for all images of its cell, which hides variation within a cell.

    Parameters
    ----------
    encode
        A function from uint8 images (n, H, W, C) to codes (n, d).
    data
        The data set: a full grid of factors.
    on_progress
        Called as `on_progress("encoding", done, total)` while cells are encoded.

    Examples
    --------
    >>> from unweave.metrics import Codebook
    >>> book = Codebook.of_grid([[0.0], [0.1], [1.0], [1.1]], sizes=(2, 2))
    >>> book.codes([2, 0])
    array([[1.],
           [0.]])
    """

    sizes: tuple[int, ...]
    """How many values each factor has."""
    names: tuple[str, ...]
    exact: bool
    """Whether the factors determine the image."""
    seconds: float = 0.0
    """Time spent encoding so far."""

    def __init__(self, encode: Encode, data: Dataset, *, on_progress: OnProgress | None = None) -> None:
        """Take an encoder of uint8 images (n, H, W, C) and its data; `on_progress` reports the encoding."""
        if not callable(encode):
            raise UsageError(f"encode must be a function of images, not {type(encode).__name__}")
        require_grid(data, "a metric that intervenes on factors")
        self.sizes, self.names, self.exact = data.factors.sizes, data.factors.names, data.is_function
        self._encode, self._data, self._on_progress = encode, data, on_progress
        cells = math.prod(self.sizes)
        self._index: CellIndex = DenseCellIndex(cells) if cells <= DENSE else SparseCellIndex()
        self._codes: np.ndarray | None = None

    @classmethod
    def of_grid(cls, codes: ArrayLike, sizes: Sequence[int]) -> Codebook:
        """Return a codebook of the codes (cells, d) of every cell of a grid, in its order, without images."""
        book = cls.__new__(cls)
        book.sizes = tuple(int(size) for size in integers(list(sizes), "sizes"))
        if not book.sizes or min(book.sizes) < 1:
            raise UsageError(f"every factor needs at least one value, but the sizes are {book.sizes}")
        book.names = tuple(f"factor{number}" for number in range(len(book.sizes)))
        book.exact = True
        cells = math.prod(book.sizes)
        book._data, book._codes, book._index = None, _check(codes, cells, "codes of the grid"), DenseCellIndex(cells)
        book._index.add(np.arange(cells))
        return book

    def __len__(self) -> int:
        """Return how many cells are encoded."""
        return 0 if self._codes is None else len(self._codes)

    def __repr__(self) -> str:
        return f"<Codebook of {math.prod(self.sizes):,} cells, {len(self):,} of them encoded>"

    @property
    def has_images(self) -> bool:
        """False if it was made from codes alone: metrics that need images then raise a `UsageError`."""
        return self._data is not None

    def add(self, cells: ArrayLike, codes: ArrayLike) -> None:
        """Add codes (n, d) that the encoder has already computed for the images of these cells (n,)."""
        indices, first = np.unique(self._inside(cells), return_index=True)
        new = self._index.find(indices) < 0
        self._keep(indices[new], _check(codes, np.size(cells), "codes")[first[new]])

    def prepare(self, cells: ArrayLike) -> None:
        """Encode the cells that are not encoded yet. Pass all cells that a metric needs at once."""
        missing = self._index.missing(self._inside(cells))
        if len(missing) > 0:
            self._keep(missing, self._encoded(missing))

    def codes(self, cells: ArrayLike) -> np.ndarray:
        """Return the codes (..., d), float64, of the cells with these indices (...)."""
        return self.of_rows(self.rows(cells))

    def rows(self, cells: ArrayLike) -> np.ndarray:
        """Return the rows at which the codes of these cells (...) are stored, from 0 up in the order of encoding."""
        indices = self._inside(cells)
        rows = self._index.find(indices)
        if self._codes is None or (rows < 0).any():
            self.prepare(indices)
            rows = self._index.find(indices)
        return rows

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return the codes (..., d), float64, that are stored at these rows (...)."""
        if self._codes is None:
            raise UsageError("no cells were requested, and none is encoded yet")
        return self._codes[rows].astype(np.float64, copy=False)

    def images(self, cells: ArrayLike) -> Images:
        """Return the images (n, H, W, C) of the cells with these indices (n,)."""
        return self._known_data.images(self._inside(cells))

    @property
    def _known_data(self) -> Dataset:
        if self._data is None:
            raise UsageError("this metric needs images, but the codebook was made from codes alone")
        return self._data

    def _inputs(self, cells: Integers) -> Inputs:
        """Return the encoder's input for these cells: images or vectors."""
        return self._known_data.inputs(cells)

    def draw(self, shape: int | tuple[int, ...], rng: np.random.Generator) -> Integers:
        """Draw cells uniformly."""
        return draw_cells(self.sizes, shape, rng)

    def draw_pairs(self, count: int, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw factors (count,), and pairs of cells (count, batch, 2) that share the factor's value within a pair."""
        factors = rng.choice(several_valued(self.sizes), size=count)
        pairs = self.draw((count, batch, 2), rng)
        shared = value_of(pairs[:, :, 0], factors[:, None], self.sizes)
        pairs[:, :, 1] = with_value(pairs[:, :, 1], factors[:, None], shared, self.sizes)
        return factors, pairs

    def draw_batches(self, count: int, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw factors (count,), and cells (count, batch) that share the factor's value within a batch."""
        factors = rng.choice(several_valued(self.sizes), size=count)
        cells = self.draw((count, batch), rng)
        value = value_of(cells[:, :1], factors[:, None], self.sizes)
        return factors, with_value(cells, factors[:, None], value, self.sizes)

    def _inside(self, cells: ArrayLike) -> Integers:
        indices = integers(cells, "cells")
        if indices.size and not (indices.min() >= 0 and indices.max() < math.prod(self.sizes)):
            raise UsageError(f"cells must lie between 0 and {math.prod(self.sizes) - 1}")
        return indices

    def _encoded(self, cells: Integers) -> np.ndarray:
        """Return the codes of cells, encoded a chunk at a time."""
        started, parts = perf_counter(), list[np.ndarray]()
        for start in range(0, len(cells), CHUNK):
            chunk = cells[start : start + CHUNK]
            parts.append(_check(self._encode(self._inputs(chunk)), len(chunk), "codes of the encoder"))
            _check_width(parts[0], parts[-1])
            if self._on_progress is not None:
                self._on_progress("encoding", start + len(chunk), len(cells))
        self.seconds += perf_counter() - started
        return np.concatenate(parts)

    def _keep(self, cells: Integers, codes: np.ndarray) -> None:
        if self._codes is not None:
            _check_width(self._codes, codes)
            codes = np.concatenate([self._codes, codes])
        self._codes = codes
        self._index.add(cells)


class DerivedBook(Codebook):
    """A codebook with the cells and images of another one, but other codes."""

    def __init__(self, book: Codebook) -> None:
        self.sizes, self.names, self.exact, self._book = book.sizes, book.names, book.exact, book

    def prepare(self, cells: ArrayLike) -> None:
        """Encode the cells that the other book has not encoded yet."""
        self._book.prepare(cells)

    def images(self, cells: ArrayLike) -> np.ndarray:
        """Return the images of the cells with these indices."""
        return self._book.images(cells)

    # The other book draws, because its labels may be noisy.
    def draw_pairs(self, count: int, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw factors and pairs of cells that share the factor's value."""
        return self._book.draw_pairs(count, batch, rng)

    def draw_batches(self, count: int, batch: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Draw factors and cells that share the factor's value."""
        return self._book.draw_batches(count, batch, rng)


def open_codebook(encode: Encode | Codebook, data: Dataset | None) -> Codebook:
    """Return the given codebook, or make one from the given encoder and data set."""
    if isinstance(encode, Codebook):
        if data is not None:
            raise UsageError("a Codebook has its own data set: pass the Codebook alone")
        return encode
    if data is None:
        raise UsageError("give a Codebook, or an encoder and a data set")
    return Codebook(encode, data)


def _check(codes: ArrayLike, rows: int, name: str) -> np.ndarray:
    """Return codes as an array of floats, single precision kept, after checking that there is one row for each cell."""
    try:
        array = np.asarray(codes)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{name} cannot be read as one array: {str(error).splitlines()[0]}") from error
    if array.dtype.kind not in "biuf":
        raise UsageError(f"{name} must be numbers, got an array of type {array.dtype}")
    if array.ndim != 2 or array.shape[0] != rows or array.shape[1] == 0:
        raise UsageError(f"{name} must have the shape ({rows}, codes), got {array.shape}")
    array = array.astype(np.float32 if array.dtype.itemsize <= 4 and array.dtype.kind == "f" else np.float64)
    if not float(np.abs(array).max()) <= LARGEST:  # written so that NaN fails too
        raise UsageError(f"{name} hold NaN, an infinity or a value beyond {LARGEST:g}")
    return array


def _check_width(before: np.ndarray, after: np.ndarray) -> None:
    if before.shape[1] != after.shape[1]:
        raise UsageError(f"the encoder gave {before.shape[1]} latents for some images and {after.shape[1]} for others")
