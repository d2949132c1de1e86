"""Draw cells of a grid with one factor changed or fixed, for the metrics that intervene on factors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from unweave.data.factors import Integers
from unweave.errors import UsageError

NUMBERS = 2**22
"""The most numbers that a metric processes at once: 32 MB."""


def several_valued(sizes: Sequence[int]) -> Integers:
    """Return the positions of the factors with more than one value; the others cannot change."""
    several = np.flatnonzero(np.asarray(sizes) > 1)
    if len(several) == 0:
        raise UsageError("every factor has a single value: there is nothing to measure")
    return several


def strides(sizes: Sequence[int]) -> Integers:
    """Return how much a cell's index grows when a factor's value grows by one."""
    return np.array([math.prod(sizes[i + 1 :]) for i in range(len(sizes))], dtype=np.int64)


def draw_cells(sizes: Sequence[int], shape: int | tuple[int, ...], rng: np.random.Generator) -> Integers:
    """Draw cells uniformly from the grid."""
    return rng.integers(math.prod(sizes), size=shape)


def value_of(cells: Integers, factors: Integers, sizes: Sequence[int]) -> Integers:
    """Return the value that one factor has in each cell; `factors`, their positions, are broadcast to the cells."""
    return cells // strides(sizes)[factors] % np.asarray(sizes)[factors]


def with_value(cells: Integers, factors: Integers, values: Integers, sizes: Sequence[int]) -> Integers:
    """Return cells with another value of one factor and the same values of the others."""
    return cells + (values - value_of(cells, factors, sizes)) * strides(sizes)[factors]


def traversals(sizes: Sequence[int], factor: int, bases: Integers) -> Integers:
    """Return (n, size) cells: from each base (n,) one factor runs through its values, the others stay fixed."""
    return with_value(bases[:, None], np.array(factor), np.arange(sizes[factor]), sizes)


def draw_traversals(sizes: Sequence[int], count: int, rng: np.random.Generator) -> dict[int, Integers]:
    """Draw `count` traversals of every factor that has several values: its position to cells (count, size)."""
    factors = several_valued(sizes).tolist()
    return {factor: traversals(sizes, factor, draw_cells(sizes, count, rng)) for factor in factors}


def chunks(rows: int, numbers: int) -> Iterator[slice]:
    """Yield slices of rows of `width` numbers each that fit into a few dozen megabytes."""
    step = max(1, NUMBERS // max(1, numbers))
    for start in range(0, rows, step):
        yield slice(start, start + step)


def geometric_mean(scores: np.ndarray) -> np.ndarray:
    """Return the geometric mean over factors, the last axis, of scores from 0 up."""
    return np.prod(scores, axis=-1) ** (1 / scores.shape[-1])
