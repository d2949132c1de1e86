"""Reading CSV files of numbers, or of numbers and words; each error names its line and column."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

MISSING = {"", "na", "n/a", "null", "none"}  # what programs write for a value that they lack; no name of a column

CAUSES = {
    ";": "cells are separated by ';'; save with commas",
    "\t": "cells are separated by tabs; save with commas",
    " ": "cells are separated by spaces; save with commas",
    ",": "a comma stands within quotes; write decimal points, and no quotes around numbers",
    "'": "quotes stand around numbers; take them off",
}
"""What to say about a cell that would be a number but for one character."""


def read_csv(path: Path) -> np.ndarray:
    """Return the rows of numbers: int64 if all are whole and fit, otherwise float64."""
    with suppress(ValueError, OverflowError):
        return _collect(path, int, "q")  # floats would lose digits beyond 2**53
    values = _collect(path, float, "d")
    whole = (np.abs(values) < 2.0**63).all() and (values == np.rint(values)).all()
    return values.astype(np.int64) if whole else values


def read_csv_texts(path: Path) -> np.ndarray:
    """Return the rows of numbers; if a column holds words, an array of Python objects, texts and numbers."""
    try:
        return read_csv(path)
    except ValueError as error:
        rows = [(line, [cell.strip() for cell in row]) for line, row in _rows(path)]
        if not rows or not any(_is_word(cell) for _, row in rows[1:] for cell in row):
            raise error  # there are no words to read
    for mark in (";", "\t"):
        if all(mark in row[0] for _, row in rows):
            raise ValueError(f"{rows[0][1][0][:40]!r} shows that {CAUSES[mark]}")
    for line, row in rows:
        _check_width(line, row, rows[0][0], len(rows[0][1]))
    if _has_head(rows):
        rows = rows[1:]
    lines, cells = zip(*rows, strict=True)
    columns = [_read_column(lines, column, place) for place, column in enumerate(zip(*cells, strict=True), 1)]
    return np.array(columns, dtype=object).T


def _has_head(rows: Sequence[tuple[int, list[str]]]) -> bool:
    """Return whether the first row of a table with words is a header: no number, no word that occurs below."""
    (_, head), *body = rows
    _refuse_index(head)
    if any(_is_number(cell) or _cause([cell]) for cell in head):
        return False
    return not any(name == row[column] for column, name in enumerate(head) for _, row in body)


def _read_column(lines: Sequence[int], cells: Sequence[str], place: int) -> list[str] | list[int] | list[float]:
    """Return a column as whole numbers, as numbers or as texts."""
    numbers = [_is_number(cell) for cell in cells]
    for line, cell, is_number in zip(lines, cells, numbers, strict=True):
        if not (is_number or _is_word(cell)):
            shown = repr(cell) if cell else "an empty cell"
            what = _cause([cell]) or f"{shown} means a missing value; leave out the row, or rename the class"
            raise ValueError(f"line {line}, column {place}: {what}")
    if not any(numbers):
        return list(cells)
    if not all(numbers):
        word, number = numbers.index(False), numbers.index(True)
        found = f"{cells[word][:40]!r} in line {lines[word]}, {cells[number][:40]!r} in line {lines[number]}"
        raise ValueError(f"column {place} mixes words and numbers ({found}); use one of them throughout")
    with suppress(ValueError):
        return [int(cell) for cell in cells]
    return [float(cell) for cell in cells]


def _collect(path: Path, number: Callable[[str], float], typecode: str) -> np.ndarray:
    """Return the rows of numbers, without the header if there is one."""
    values, first, width = array(typecode), 0, 0
    for line, row in _rows(path):
        if not first:
            first, width = line, len(row)
            if _has_names(line, row):
                continue
        _check_width(line, row, first, width)
        try:
            values.extend(map(number, row))
        except ValueError:
            raise _bad_cell(line, row) from None
        if "_" in "".join(row):  # Python reads 1_000 as a number
            raise _bad_cell(line, row)
    if not values:
        raise ValueError(f"it has no rows{' below its names' if first else ''}; write one line of numbers per sample")
    return np.array(values).reshape(-1, width)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, with the number of its first line."""
    with path.open(encoding="utf-8-sig") as file:  # spreadsheets put a byte order mark in front
        reader = csv.reader(_lines(file), skipinitialspace=True, strict=True)
        line = 1
        try:
            for row in reader:
                if row:
                    yield line, row
                line = reader.line_num + 1
        except UnicodeDecodeError:
            raise ValueError("it is not UTF-8 text; save it as UTF-8") from None
        except csv.Error:  # an unclosed quote, or a cell beyond the module's limit
            raise ValueError(f"line {line} cannot be split into cells; take quotes off, save with commas") from None


def _lines(file: Iterable[str]) -> Iterator[str]:
    """Yield every line, emptied if it is blank or a comment, so that line numbers stay correct."""
    for count, line in enumerate(file, 1):
        if "\0" in line:
            raise ValueError(f"line {count} has a zero byte, so it is not UTF-8 text; save it as UTF-8")
        yield "\n" if line.lstrip()[:1] in ("", "#") else line


def _check_width(line: int, row: list[str], first: int, width: int) -> None:
    if len(row) != width:
        counts = f"its number of cells is {len(row)}, that of line {first} is {width}; make all rows equally long"
        raise ValueError(f"line {line}: {_cause(row) or counts}")


def _has_names(line: int, row: list[str]) -> bool:
    """Return whether the first row is a header; it is an error if it names only some of the columns."""
    _refuse_index(row)
    numbers, names = [cell for cell in row if _is_number(cell)], [cell for cell in row if _is_word(cell)]
    if names and numbers:
        mixed = f"{names[0][:40]!r} is not a number, {numbers[0][:40]!r} is"
        raise ValueError(f"line {line} has names and numbers mixed ({mixed}); give every column a name, or none")
    return bool(names)


def _refuse_index(row: list[str]) -> None:
    """Raise an error if the first column alone has no name."""
    numbers, names = [cell for cell in row if _is_number(cell)], [cell for cell in row if _is_word(cell)]
    counted = [str(column) for column in range(len(row) - 1)]  # pandas' names for columns that have none
    if row[0].strip() in ("", "Unnamed: 0") and ((names and not numbers) or numbers == counted != []):
        how = "index=False, header=False" if numbers else "index=False"
        raise ValueError(f"its first column has no name, like an index of pandas; write it without ({how})")


def _bad_cell(line: int, row: list[str]) -> ValueError:
    """Return the error for a row with a cell that is not a number of the expected kind."""
    column, cell = next(((place, cell) for place, cell in enumerate(row, 1) if not _is_number(cell)), (0, ""))
    shown = repr(cell[:40]) if cell.strip() else "an empty cell"
    what = _cause([cell]) or f"{shown} is not a number; write one, or leave out the row"
    return ValueError(f"line {line}, column {column}: {what}")


def _is_word(cell: str) -> bool:
    """Return whether a cell is a name or a label: not a number, not meant to be one, and not missing."""
    return not (_is_number(cell) or _cause([cell]) or cell.strip().lower() in MISSING)


def _cause(row: list[str]) -> str:
    """Return why the first cell that is almost a number is not one and what to do, or an empty text."""
    for cell in row:
        for character, cause in CAUSES.items():
            pieces = [piece for piece in cell.split(character) if piece.strip()]
            if not _is_number(cell) and pieces and all(map(_is_number, pieces)):
                return f"{cell[:40]!r} shows that {cause}"
    return ""


def _is_number(cell: str) -> bool:
    with suppress(ValueError):
        float(cell)
        return "_" not in cell
    return False
