"""Lists of image files and their factors: a CSV, or a table of attributes such as CelebA's."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from unweave.data.factors import Integers
from unweave.errors import UsageError
from unweave.files import refuse_special

FILE_COLUMNS = ("file", "file_name")
LARGEST = 2**31
WHOLE = re.compile(r"[+-]?\d+")
DECIMAL = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?")

Row = tuple[int, list[str]]
"""The number of a line and its cells."""


@dataclass(frozen=True)
class Listing:
    """The rows of a list: the files, the lines they stand in, and their factors (n, k)."""

    path: Path
    files: list[str]
    lines: list[int]
    names: list[str]
    factors: Integers
    sizes: list[int] | None = None
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def label(self, row: int) -> str:
        """Return what errors call the image of a row."""
        return f"'{self.files[row]}' (line {self.lines[row]} of '{self.path}')"


def read_csv(path: Path) -> Listing:
    """Read a CSV with a column `file` (or `file_name`) and one column a factor.

    A factor's column holds whole numbers from 0 on, which are taken as they are, or else words or decimal
    numbers, which are numbered in their order and kept as `levels`.
    """
    header, rows = _checked(path, list(_cells(path)))
    column = next((header.index(name) for name in FILE_COLUMNS if name in header), None)
    if column is None:
        raise UsageError(f"'{path}' has no column 'file'; its columns are: {', '.join(header)}")
    names = [name for name in header if name != header[column]]
    if not names:
        raise UsageError(f"'{path}' has no factors: it needs columns beside '{header[column]}'")
    factors = np.empty((len(rows), len(names)), dtype=np.int64)
    levels = {}
    for axis, name in enumerate(names):
        place = header.index(name)
        cells = [(line, cells[place]) for line, cells in rows]
        factors[:, axis], words = _column(path, name, cells)
        if words:
            levels[name] = words
    files, lines = _files(path, [(line, cells[column]) for line, cells in rows])
    return Listing(path, files, lines, names, factors, levels=levels)


def read_attributes(path: Path) -> Listing:
    """Read a list of binary attributes: a line of names, then a file with its 0s and 1s, or -1s and 1s, a line.

    Cells are separated by commas or by spaces. As in CelebA's own list, a line with the number of rows may come
    first, and the names may leave out the column of files.
    """
    lines = list(_cells(path))
    count = None
    if lines and len(lines[0][1]) == 1 and lines[0][1][0].isdigit():
        count = int(lines.pop(0)[1][0])
    if len(lines) > 1 and len(lines[0][1]) + 1 == len(lines[1][1]):
        lines[0][1].insert(0, "file")
    header, rows = _checked(path, lines)
    if count is not None and count != len(rows):
        raise UsageError(f"'{path}' says that it has {count:,} rows, but it has {len(rows):,}")
    if len(header) < 2:
        raise UsageError(f"'{path}' has no attributes: it needs columns beside the one of files")
    factors = np.array([_signs(path, header, row) for row in rows])
    minus, zero = (factors == -1).any(axis=1), (factors == 0).any(axis=1)
    if minus.any() and zero.any():
        line, _ = rows[int(max(minus.argmax(), zero.argmax()))]
        raise UsageError(f"'{path}' has both 0 and -1 by line {line}; attributes are 0 and 1, or -1 and 1")
    files, numbers = _files(path, [(line, cells[0]) for line, cells in rows])
    return Listing(path, files, numbers, header[1:], (factors == 1).astype(np.int64), [2] * (len(header) - 1))


def _cells(path: Path) -> Iterator[Row]:
    """Yield the lines that are not empty, split at commas if the first ones have any, else at spaces."""
    refuse_special(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            commas = path.suffix.lower() == ".csv" or "," in file.readline() + file.readline()
            file.seek(0)
            if not commas:
                yield from ((line, cells) for line, text in enumerate(file, 1) if (cells := text.split()))
                return
            reader = csv.reader(file, strict=True)
            for cells in reader:
                if any(map(str.strip, cells)):
                    yield reader.line_num, [cell.strip() for cell in cells]
    except UnicodeDecodeError as error:
        raise UsageError(f"'{path}' is no text in UTF-8") from error
    except csv.Error as error:
        raise UsageError(f"'{path}' is no proper CSV: {error}") from error


def _checked(path: Path, lines: list[Row]) -> tuple[list[str], list[Row]]:
    """Return the header and the rows below it, all of one length."""
    if not lines:
        raise UsageError(f"'{path}' is empty")
    (_, header), *rows = lines
    if not rows:
        raise UsageError(f"'{path}' has a line of names, but no rows below it")
    if len(set(header)) < len(header) or "" in header:
        raise UsageError(f"the columns of '{path}' need names, all different: {', '.join(header)}")
    for line, cells in rows:
        if len(cells) != len(header):
            raise UsageError(f"line {line} of '{path}' has {len(cells)} cells, but there are {len(header)} columns")
    return header, rows


def _files(path: Path, cells: Sequence[tuple[int, str]]) -> tuple[list[str], list[int]]:
    """Return the files and their lines; each may be there once."""
    seen: dict[str, int] = {}
    for line, file in cells:
        if not file:
            raise UsageError(f"line {line} of '{path}' names no file")
        if file in seen:
            raise UsageError(f"'{path}' has '{file}' twice, in the lines {seen[file]} and {line}")
        seen[file] = line
    return list(seen), list(seen.values())


def _column(path: Path, name: str, cells: Sequence[tuple[int, str]]) -> tuple[Integers, tuple[str, ...]]:
    """Return the values of a factor, and its levels where they are no whole numbers."""
    kind = _kind(cells[0][1])
    for line, cell in cells:
        if not cell:
            raise UsageError(f"line {line} of '{path}' has no '{name}'")
        if _kind(cell) != kind:
            raise UsageError(f"line {line} of '{path}': '{name}' is '{cell}', which is no {kind} as above")
        if kind == "whole number" and not 0 <= int(cell) < LARGEST:
            raise UsageError(f"line {line} of '{path}': '{name}' is {cell}, but factors are numbered 0, 1, 2, …")
    texts = [cell for _, cell in cells]
    if kind == "whole number":
        return np.array([int(text) for text in texts]), ()
    key = float if kind == "decimal number" else str
    places = {value: place for place, value in enumerate(sorted({key(text) for text in texts}))}
    return np.array([places[key(text)] for text in texts]), tuple(map(str, places))


def _kind(cell: str) -> str:
    if WHOLE.fullmatch(cell):
        return "whole number"
    return "decimal number" if DECIMAL.fullmatch(cell) else "word"


def _signs(path: Path, header: list[str], row: Row) -> list[int]:
    line, cells = row
    for name, cell in zip(header[1:], cells[1:], strict=True):
        if cell not in ("-1", "0", "1"):
            raise UsageError(f"line {line} of '{path}': '{name}' is '{cell}'; attributes are 0 and 1, or -1 and 1")
    return [int(cell) for cell in cells[1:]]
