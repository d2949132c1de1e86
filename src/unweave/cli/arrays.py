"""Arrays out of files: NumPy's own format, and comma-separated values."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from unweave.errors import UsageError

MISSING = {"", "na", "n/a", "null", "none"}  # what programs write for a value that they lack; no name of a column

CAUSES = {
    ";": "cells are separated by ';'; save with commas",
    "\t": "cells are separated by tabs; save with commas",
    " ": "cells are separated by spaces; save with commas",
    ",": "a comma stands within quotes; write decimal points, and no quotes around numbers",
    "'": "quotes stand around numbers; take them off",
}
"""What to say of a cell that is numbers but for a character."""


def read_array(path: Path) -> np.ndarray:
    """Return the array in a .npy or .csv file; nothing in it is ever executed.

    A .csv file may begin with a line of names; blank lines, and lines that begin with #, are skipped.
    """
    readers = {".npy": _read_npy, ".csv": _read_csv}
    kind = path.suffix.lower()
    if kind == ".npz":
        raise UsageError(f"'{path}' may hold several arrays; save one of them as a .npy file (numpy.save)")
    if kind not in readers:
        raise UsageError(f"'{path}' must be a .npy file (numpy.save) or a .csv file")
    try:
        return readers[kind](path)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"'{path}' does not hold a plain array of numbers: {error}") from error


def _read_npy(path: Path) -> np.ndarray:
    try:
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except (MemoryError, OSError):
        raise
    except Exception as error:  # a broken header makes numpy raise almost anything
        if "Object arrays" in str(error):
            raise ValueError("it holds Python objects, which are refused; save numbers") from error
        raise ValueError("it is not, or not all of, what numpy.save writes; save it again") from error


def _read_csv(path: Path) -> np.ndarray:
    """Return the rows of numbers, as int64 where all are whole and fit, else as float64."""
    with suppress(ValueError, OverflowError):
        return _collect(path, int, "q")  # by way of floats, digits beyond 2**53 would be lost
    values = _collect(path, float, "d")
    whole = (np.abs(values) < 2.0**63).all() and (values == np.rint(values)).all()
    return values.astype(np.int64) if whole else values


def _collect(path: Path, number: Callable[[str], float], typecode: str) -> np.ndarray:
    """Return the rows of numbers, after a line of names where there is one."""
    values, first, width = array(typecode), 0, 0
    for line, row in _rows(path):
        if not first:
            first, width = line, len(row)
            if _has_names(line, row):
                continue
        if len(row) != width:
            counts = f"its number of cells is {len(row)}, that of line {first} is {width}; make all rows alike"
            raise ValueError(f"line {line}: {_cause(row) or counts}")
        try:
            values.extend(map(number, row))
        except ValueError:
            raise _bad_cell(line, row) from None
        if "_" in "".join(row):  # Python reads 1_000 as a number
            raise _bad_cell(line, row)
    if not values:
        raise ValueError(f"it has no rows{' below its names' if first else ''}; write a line of numbers a sample")
    return np.array(values).reshape(-1, width)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row, with the number of the line in which it begins."""
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
        except csv.Error:  # a quote that does not close around a cell, or a cell beyond the module's limit
            raise ValueError(f"line {line} cannot be split into cells; take quotes off, save with commas") from None


def _lines(file: Iterable[str]) -> Iterator[str]:
    """Yield every line, emptied if it is blank or a comment, so that lines are still counted right."""
    for count, line in enumerate(file, 1):
        if "\0" in line:
            raise ValueError(f"line {count} has a zero byte, so it is not UTF-8 text; save it as UTF-8")
        yield "\n" if line.lstrip()[:1] in ("", "#") else line


def _has_names(line: int, row: list[str]) -> bool:
    """Tell whether the first row names the columns; one that names only some, or not an index, is refused."""
    numbers = [cell for cell in row if _is_number(cell)]
    names = [cell for cell in row if not (_is_number(cell) or _cause([cell]) or cell.strip().lower() in MISSING)]
    counted = [str(column) for column in range(len(row) - 1)]  # pandas' names for columns that have none
    if row[0].strip() in ("", "Unnamed: 0") and ((names and not numbers) or numbers == counted != []):
        how = "index=False, header=False" if numbers else "index=False"
        raise ValueError(f"its first column has no name, as an index that pandas wrote; write it without ({how})")
    if names and numbers:
        mixed = f"{names[0][:40]!r} is not a number, {numbers[0][:40]!r} is"
        raise ValueError(f"line {line} has names and numbers mixed ({mixed}); give every column a name, or none")
    return bool(names)


def _bad_cell(line: int, row: list[str]) -> ValueError:
    """Return the error for a row in which a cell is no number, or not one of the kind that is collected."""
    column, cell = next(((place, cell) for place, cell in enumerate(row, 1) if not _is_number(cell)), (0, ""))
    shown = repr(cell[:40]) if cell.strip() else "an empty cell"
    what = _cause([cell]) or f"{shown} is not a number; write one, or leave out the row"
    return ValueError(f"line {line}, column {column}: {what}")


def _cause(row: list[str]) -> str:
    """Return why the first cell that is numbers but for a character is none, and what to do, or nothing."""
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
