"""Where the codes of a cell are stored: in a codebook's array, in the order of encoding."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class CellIndex(Protocol):
    """An index from cells to rows."""

    def find(self, cells: np.ndarray) -> np.ndarray:
        """Return the row of each cell, -1 where it has none."""
        ...

    def missing(self, cells: np.ndarray) -> np.ndarray:
        """Return the cells (...) that have no row, each once, in ascending order."""
        ...

    def add(self, cells: np.ndarray) -> None:
        """Assign the next rows to these cells (n,), which have none yet."""
        ...


class DenseCellIndex:
    """An entry for every cell of the grid."""

    def __init__(self, cells: int) -> None:
        self._rows = np.full(cells, -1, dtype=np.int32)
        self._count = 0

    def find(self, cells: np.ndarray) -> np.ndarray:
        """Return the row of each cell, -1 where it has none."""
        return self._rows[cells]

    def missing(self, cells: np.ndarray) -> np.ndarray:
        """Return the cells without a row."""
        asked = np.zeros(len(self._rows), dtype=bool)  # several times faster than sorting the cells
        asked[cells] = True
        return np.flatnonzero(asked & (self._rows < 0))

    def add(self, cells: np.ndarray) -> None:
        """Give the next rows to these cells."""
        self._rows[cells] = np.arange(self._count, self._count + len(cells))
        self._count += len(cells)


class SparseCellIndex:
    """An entry for every cell that has a row, in the order of the cells, for grids of any size."""

    def __init__(self) -> None:
        self._cells = np.empty(0, dtype=np.int64)
        self._rows = np.empty(0, dtype=np.int64)

    def find(self, cells: np.ndarray) -> np.ndarray:
        """Return the row of each cell, -1 where it has none."""
        if len(self._cells) == 0:
            return np.full(cells.shape, -1)
        at = np.minimum(np.searchsorted(self._cells, cells), len(self._cells) - 1)
        return np.where(self._cells[at] == cells, self._rows[at], -1)

    def missing(self, cells: np.ndarray) -> np.ndarray:
        """Return the cells without a row."""
        asked = np.unique(cells)
        return asked[self.find(asked) < 0]

    def add(self, cells: np.ndarray) -> None:
        """Give the next rows to these cells."""
        rows = np.arange(len(self._rows), len(self._rows) + len(cells))
        at = np.searchsorted(self._cells, np.sort(cells))
        self._cells = np.insert(self._cells, at, np.sort(cells))
        self._rows = np.insert(self._rows, at, rows[np.argsort(cells)])
