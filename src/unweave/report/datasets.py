"""Pictures of a data set: what each factor changes, and random samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unweave.data import Dataset
from unweave.data.table import require_grid
from unweave.report.grids import Grid, Row, draw


def factor_grid(data: Dataset, *, columns: int = 10, seed: int = 0) -> Image.Image:
    """Return a picture with one row for each factor: its values, with the other factors as in one random image.

    Parameters
    ----------
    data
        The data set, a full grid of factors.
    columns
        The most values of a factor to show, evenly spaced.
    seed
        Seed of the image whose factors are changed.

    Returns
    -------
    PIL.Image.Image
        The picture.

    Examples
    --------
    >>> factor_grid(unweave.load("xysquares:size=32"), columns=4).save("factors.png")
    """
    return draw(_factor_rows(data, columns, seed))


def samples_grid(data: Dataset, *, rows: int = 3, columns: int = 10, seed: int = 0) -> Image.Image:
    """Return a picture of random images.

    Parameters
    ----------
    data
        The data set.
    rows, columns
        Rows and columns of images.
    seed
        Seed of the images.

    Returns
    -------
    PIL.Image.Image
        The picture.

    Examples
    --------
    >>> samples_grid(unweave.load("xysquares:size=32"), rows=2, columns=3).save("samples.png")
    """
    return draw(_sample_rows(data, rows, columns, seed))


def show(data: Dataset, *, rows: int = 3, columns: int = 10, seed: int = 0) -> Image.Image:
    """Return the picture of a data set: a traversal of every factor, and random samples below.

    If the data set is not a full grid, so that one factor cannot change alone, only samples are shown. Vectors are
    drawn as lines.

    Parameters
    ----------
    data
        The data set.
    rows, columns
        Rows and columns of samples; a factor of more values than columns is shown at evenly spaced ones.
    seed
        Seed of the samples, and of the image whose factors are changed.

    Returns
    -------
    PIL.Image.Image
        The picture.

    Examples
    --------
    >>> show(unweave.load("xysquares:size=32")).save("data.png")
    """
    if not data.has_images:
        from unweave.report.lines import picture, sample_figure

        return picture(sample_figure(data, rows * columns, seed))
    samples = _sample_rows(data, rows, columns, seed)
    if not data.is_grid:
        return draw(replace(samples, title=f"{_headline(data)}, random samples"))
    return draw(_factor_rows(data, columns, seed), samples)


def spread(size: int, count: int) -> NDArray[np.int64]:
    """Return at most `count` of the values 0..size-1, evenly spaced, with both ends.

    >>> spread(4, 10).tolist(), spread(40, 5).tolist()
    ([0, 1, 2, 3], [0, 10, 20, 29, 39])
    """
    return np.linspace(0, size - 1, min(size, count)).round().astype(np.int64)


def _factor_rows(data: Dataset, columns: int, seed: int) -> Grid:
    require_grid(data, "a traversal of a factor")
    space = data.factors
    base = space.from_index(np.random.default_rng(seed).integers(len(data)))
    rows = []
    for name, size in zip(space.names, space.sizes, strict=True):
        chosen = space.traversal(name, base)[spread(size, columns)]
        note = "1 value" if size == 1 else f"{size:,} values"
        rows.append(Row(data.images(space.to_index(chosen)), name, note))
    return Grid(rows, title=f"{_headline(data)}, one factor at a time")


def _sample_rows(data: Dataset, rows: int, columns: int, seed: int) -> Grid:
    # A separate stream: the samples do not depend on what the traversals draw.
    rng = np.random.default_rng([seed, 1])
    indices = data.sample(rows * columns, rng).reshape(rows, columns)
    return Grid([Row(data.images(line)) for line in indices], title="random samples")


def _headline(data: Dataset) -> str:
    height, width, _ = data.shape
    return f"{data.name}: {len(data):,} images of {height} × {width}"
