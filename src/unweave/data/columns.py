"""The columns of a list of images: which of them are factors, and how their cells are read."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.data.dataset import Values
from unweave.errors import UsageError, unknown

FILE_COLUMNS = ("file", "file_name", "filename", "image", "image_id", "path")
"""Possible names of the column of files; the first one that exists is used."""
IGNORED = (*FILE_COLUMNS, "id", "index", "idx", "key", "uuid", "url", "split", "partition", "fold", "subset", "unnamed")
"""Names of columns that are not factors unless chosen; case and anything after a colon do not matter."""
SPARSE = 10
"""Integers are replaced by their ranks if the largest is at least this many times the number of distinct values."""
WHOLE = re.compile(r"[+-]?\d+")
DECIMAL = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?")

Cell = tuple[int, str]
"""The number of a line, and the cell's text."""


@dataclass(frozen=True)
class Column:
    """The values of one factor."""

    values: Values
    """Classes, numbered from 0, or real numbers."""
    levels: tuple[str, ...] = ()
    """The texts of the classes in the list, if they were numbered here."""
    note: str = ""
    """A note for the user."""


def file_column(header: Sequence[str]) -> int | None:
    """Return the position of the column that names the files."""
    lowered = [name.lower() for name in header]
    return next((lowered.index(name) for name in FILE_COLUMNS if name in lowered), None)


def factor_columns(names: Sequence[str], chosen: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return the columns that are factors, and those that are ignored because of their names.

    >>> factor_columns(["id", "mood", "split", "age"], None)
    (['mood', 'age'], ['id', 'split'])
    >>> factor_columns(["id", "mood", "split", "age"], ["split"])
    (['split'], [])
    """
    if chosen is not None:
        for name in chosen:
            if name not in names:
                raise unknown("column", name, names)
        return list(chosen), []
    ignored = [name for name in names if name.lower().partition(":")[0].strip() in IGNORED]
    return [name for name in names if name not in ignored], ignored


def read_column(path: object, name: str, cells: Sequence[Cell]) -> Column:
    """Return the values of a factor, from its cells.

    Cells must be all numbers or all words. Words are numbered in alphabetical order. If all numbers are integers, they
    are classes; negative or sparse ones are replaced by their ranks. Other numbers stay real.
    """
    texts = [text for _, text in cells]
    if not DECIMAL.fullmatch(texts[0]):
        return _words(path, name, cells)
    for line, text in cells:
        if not text or not DECIMAL.fullmatch(text):
            raise _refused(path, line, name, text, "not a number, unlike the cells above")
        if not math.isfinite(float(text)):
            raise _refused(path, line, name, text, "too large for a number")
    if all(map(WHOLE.fullmatch, texts)):
        return _whole(name, [int(text) for text in texts])
    numbers = np.array([float(text) for text in texts])
    if (numbers == np.floor(numbers)).all():  # 1.0, 2.0, as pandas writes whole numbers
        return _whole(name, [int(number) for number in numbers])
    return Column(numbers)


def _words(path: object, name: str, cells: Sequence[Cell]) -> Column:
    for line, text in cells:
        if not text or text.lower() in ("nan", "null"):
            raise _refused(path, line, name, text, "not a value")
        if DECIMAL.fullmatch(text):
            raise _refused(path, line, name, text, "a number, unlike the cells above")
    return _ranked([text for _, text in cells])


def _whole(name: str, numbers: Sequence[int]) -> Column:
    distinct = len(set(numbers))
    if min(numbers) >= 0 and max(numbers) < SPARSE * distinct:
        return Column(np.array(numbers))
    ranked = _ranked(numbers)
    ends = f"{ranked.levels[0]} is 0" + (f", {ranked.levels[-1]} is {distinct - 1}" if distinct > 1 else "")
    return Column(ranked.values, ranked.levels, f"the numbers in '{name}' are numbered by rank: {ends}")


def _ranked(values: Sequence[int] | Sequence[str]) -> Column:
    """Return the ranks of values among the distinct ones, and the distinct values as texts."""
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    return Column(np.array([places[value] for value in values]), tuple(map(str, places)))


def _refused(path: object, line: int, name: str, text: str, what: str) -> UsageError:
    held = f"'{name}' is '{text}', which is {what}" if text else f"has no '{name}'"
    way_out = "correct it, leave the row out, or choose other columns: factors=A,B"
    return UsageError(f"line {line} of '{path}'{':' if text else ''} {held}; {way_out}")
