"""The columns of a list of images: which of them are factors, and what their cells say."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.data.dataset import Values
from unweave.errors import UsageError, unknown

FILE_COLUMNS = ("file", "file_name", "filename", "image", "image_id", "path")
"""How the column of files may be called; the first of these that is there is taken."""
IGNORED = (*FILE_COLUMNS, "id", "index", "idx", "key", "uuid", "url", "split", "partition", "fold", "subset", "unnamed")
"""Columns that are no factors by their names, unless they are chosen; case and what follows a colon do not matter."""
SPARSE = 10
"""Whole numbers whose largest is at least so many times their number of different values are numbered by rank."""
WHOLE = re.compile(r"[+-]?\d+")
DECIMAL = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?")

Cell = tuple[int, str]
"""The number of a line, and what stands in it."""


@dataclass(frozen=True)
class Column:
    """The values of one factor."""

    values: Values
    """Classes from 0 on, or real numbers."""
    levels: tuple[str, ...] = ()
    """What the classes are called in the list, where they were numbered."""
    note: str = ""
    """What the user should know about it."""


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
    """Return what the cells of a factor say.

    Cells are all numbers or all words. Words are numbered in alphabetical order. Numbers that are all whole are
    classes: as they are or, where one is negative or they are sparse, numbered by rank. Other numbers stay real.
    """
    texts = [text for _, text in cells]
    if not DECIMAL.fullmatch(texts[0]):
        return _words(path, name, cells)
    for line, text in cells:
        if not text or not DECIMAL.fullmatch(text):
            raise _refused(path, line, name, text, "no number as above")
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
            raise _refused(path, line, name, text, "no value")
        if DECIMAL.fullmatch(text):
            raise _refused(path, line, name, text, "no word as above")
    return _ranked([text for _, text in cells])


def _whole(name: str, numbers: Sequence[int]) -> Column:
    distinct = len(set(numbers))
    if min(numbers) >= 0 and max(numbers) < SPARSE * distinct:
        return Column(np.array(numbers))
    ranked = _ranked(numbers)
    ends = f"{ranked.levels[0]} is 0" + (f", {ranked.levels[-1]} is {distinct - 1}" if distinct > 1 else "")
    return Column(ranked.values, ranked.levels, f"the numbers in '{name}' are numbered by rank: {ends}")


def _ranked(values: Sequence[int] | Sequence[str]) -> Column:
    """Return values as their places among the different ones, and these."""
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    return Column(np.array([places[value] for value in values]), tuple(map(str, places)))


def _refused(path: object, line: int, name: str, text: str, what: str) -> UsageError:
    held = f"'{name}' is '{text}', which is {what}" if text else f"has no '{name}'"
    way_out = "correct it, leave the row out, or choose other columns: factors=A,B"
    return UsageError(f"line {line} of '{path}'{':' if text else ''} {held}; {way_out}")
