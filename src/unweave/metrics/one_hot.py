"""Categorical latents, whose numbers are names: one-hot columns or ranks replace them where metrics need numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unweave.errors import UsageError


def check_categorical(categorical: Sequence[int], width: int) -> tuple[int, ...]:
    """Return the columns that are categorical, counted from 0, each once, in their order."""
    if isinstance(categorical, str) or not isinstance(categorical, Sequence | np.ndarray):
        raise UsageError(f"categorical must be columns of codes, such as [9], got {categorical!r}")
    for column in categorical:
        if isinstance(column, bool) or not isinstance(column, int | np.integer) or not 0 <= column < width:
            raise UsageError(f"categorical must be columns of codes, from 0 to {width - 1}, got {column!r}")
    return tuple(sorted({int(column) for column in categorical}))


def kept_categorical(categorical: Sequence[int], kept: np.ndarray) -> tuple[int, ...]:
    """Return the positions of categorical columns after only the columns `kept`, (d,), are left."""
    return tuple(place for place, column in enumerate(kept.tolist()) if column in categorical)


@dataclass(frozen=True)
class OneHot:
    """Codes with one column for each category, 1 in the rows of that category, in place of each categorical column.

    >>> read = OneHot.of(np.array([[0.5, 7.0], [0.1, 2.0]]), (1,))
    >>> read(np.array([[0.3, 2.0]]))
    array([[0.3, 1. , 0. ]])
    >>> read.total(np.array([[0.3, 1.0, 2.0]]))
    array([[0.3, 3. ]])
    """

    categories: tuple[np.ndarray | None, ...]
    """The ascending values of each categorical column; None for a column of numbers."""

    @classmethod
    def of(cls, codes: np.ndarray, categorical: Sequence[int]) -> OneHot:
        """Return the columns for the categories in codes (n, d); categories that appear later match no column."""
        columns = check_categorical(categorical, codes.shape[1])
        return cls(tuple(np.unique(codes[:, j]) if j in columns else None for j in range(codes.shape[1])))

    @classmethod
    def with_categories(cls, categories: Sequence[int]) -> OneHot:
        """Return the columns for the number of categories of each latent, as a run records it: 0 for a number."""
        return cls(tuple(np.arange(count) if count else None for count in categories))

    def kept(self, columns: np.ndarray) -> OneHot:
        """Return the same for codes of which only these columns are left."""
        return OneHot(tuple(self.categories[j] for j in columns))

    @property
    def widths(self) -> np.ndarray:
        """How many columns stand for each latent, (d,)."""
        return np.array([1 if values is None else len(values) for values in self.categories])

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Return codes (..., d) with a column for each category."""
        if all(values is None for values in self.categories):
            return codes
        parts = [
            codes[..., [j]] if values is None else (codes[..., [j]] == values).astype(codes.dtype)
            for j, values in enumerate(self.categories)
        ]
        return np.concatenate(parts, axis=-1)

    def total(self, columns: np.ndarray) -> np.ndarray:
        """Return the sum over the columns of each latent, (..., d)."""
        starts = np.concatenate([[0], np.cumsum(self.widths)[:-1]])
        return np.add.reduceat(columns, starts, axis=-1)


@dataclass(frozen=True)
class Ranked:
    """Codes whose categories are numbered by how often they occur, ties by their first row: names do not matter.

    >>> Ranked.of(np.array([[7.0], [2.0], [2.0], [5.0]]), (0,))(np.array([[2.0], [5.0], [7.0]])).T
    array([[0., 2., 1.]])
    """

    categories: Mapping[int, np.ndarray]
    """The values of each categorical column, in the order of their new numbers."""

    @classmethod
    def of(cls, codes: np.ndarray, categorical: Sequence[int]) -> Ranked:
        """Return the numbers for the categories in codes (n, d)."""
        found = {}
        for j in categorical:
            values, first, counts = np.unique(codes[:, j], return_index=True, return_counts=True)
            found[j] = values[np.lexsort((first, -counts))]
        return cls(found)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Return codes (..., d) with the new numbers; all other categories have the next one."""
        result = codes.copy()
        for j, values in self.categories.items():
            same = codes[..., [j]] == values
            result[..., j] = np.where(same.any(axis=-1), same.argmax(axis=-1), len(values))
        return result
