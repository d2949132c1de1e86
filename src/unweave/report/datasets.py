"""Pictures of a data set: what each factor changes, and random samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unweave.report.grids import Grid, Row, draw
from unweave.report.protocols import DataLike


def factor_grid(data: DataLike, *, columns: int = 10, seed: int = 0) -> Image.Image:
    """Return a picture with one row a factor: that factor's values, the others as in one random image."""
    return draw(_factor_rows(data, columns, seed))


def samples_grid(data: DataLike, *, rows: int = 3, columns: int = 10, seed: int = 0) -> Image.Image:
    """Return a picture of random images."""
    return draw(_sample_rows(data, rows, columns, seed))


def show(data: DataLike, *, rows: int = 3, columns: int = 10, seed: int = 0) -> Image.Image:
    """Return the picture of a data set: a traversal of every factor, and random samples below."""
    return draw(_factor_rows(data, columns, seed), _sample_rows(data, rows, columns, seed))


def spread(size: int, count: int) -> NDArray[np.int64]:
    """Return at most `count` of the values 0..size-1, evenly spaced, with both ends.

    >>> spread(4, 10).tolist(), spread(40, 5).tolist()
    ([0, 1, 2, 3], [0, 10, 20, 29, 39])
    """
    return np.linspace(0, size - 1, min(size, count)).round().astype(np.int64)


def _factor_rows(data: DataLike, columns: int, seed: int) -> Grid:
    space = data.factors
    base = space.from_index(np.random.default_rng(seed).integers(len(data)))
    rows = []
    for name, size in zip(space.names, space.sizes, strict=True):
        chosen = space.traversal(name, base)[spread(size, columns)]
        note = "1 value" if size == 1 else f"{size:,} values"
        rows.append(Row(data.images(space.to_index(chosen)), name, note))
    height, width, _ = data.shape
    return Grid(rows, title=f"{data.name}: {len(data):,} images of {height} × {width}, one factor at a time")


def _sample_rows(data: DataLike, rows: int, columns: int, seed: int) -> Grid:
    # A stream of its own: the samples stay the same whatever the traversals draw.
    rng = np.random.default_rng([seed, 1])
    indices = rng.integers(len(data), size=(rows, columns))
    return Grid([Row(data.images(line)) for line in indices], title="random samples")
