"""Read tables in any common form (arrays, lists, tensors, data frames, strings) as one array of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from unweave.errors import UsageError

Texts = tuple[str, ...]


@dataclass(frozen=True)
class Read:
    """A table of numbers (n, columns) that is not empty."""

    numbers: np.ndarray
    """Real numbers of any type; a column of strings holds their positions in `texts`."""
    texts: Mapping[int, Texts] = field(default_factory=dict)
    """The sorted distinct strings of each column of strings."""


def read(values: Any, name: str) -> Read:
    """Read a table: anything that `numpy.asarray` takes, a tensor on any device, or a data frame.

    A column of strings is numbered in alphabetical order; strings that spell numbers become those numbers. A Series is
    one column. Error messages call the table `name`, a plural.
    """
    array = _as_array(values, name)
    if hasattr(values, "to_frame") and array.ndim == 1:  # a Series of pandas or polars: a column, not a row
        array = array[:, None]
    if array.dtype.kind not in "biufOSTU" or array.ndim == 0:
        raise UsageError(f"{name} must be numbers, got an array of type {array.dtype}")
    if array.ndim != 2:
        hint = "; give a single column as array[:, None]" if array.ndim == 1 else ""
        raise UsageError(f"{name} must have two dimensions (samples, columns), got shape {array.shape}{hint}")
    if 0 in array.shape:
        raise UsageError(f"{name} are empty: shape {array.shape}")
    return Read(array) if array.dtype.kind in "biuf" else _read_columns(array, name.removesuffix("s"))


def renumber(table: Read, known: Read, name: str, known_name: str) -> Read:
    """Return a table with its strings numbered as in another table; strings unknown there get the next numbers."""
    columns = list(table.numbers.T)
    for column in sorted({*table.texts, *known.texts}):
        if not (column in table.texts and column in known.texts):
            kinds = ("texts", "numbers") if column in table.texts else ("numbers", "texts")
            ours, theirs = (f"{label.removesuffix('s')} {column + 1}" for label in (name, known_name))
            raise UsageError(f"{ours} holds {kinds[0]} but {theirs} holds {kinds[1]}: pass the same kind in both")
        levels = dict.fromkeys([*known.texts[column], *table.texts[column]])
        places = {text: place for place, text in enumerate(levels)}
        columns[column] = np.array([places[text] for text in table.texts[column]])[columns[column].astype(np.int64)]
    return Read(np.column_stack(columns), table.texts) if table.texts else table


def whole_columns(array: np.ndarray) -> np.ndarray:
    """Return which columns (k,) of numbers (n, k) hold whole numbers only."""
    if array.dtype.kind != "f":
        return np.ones(array.shape[1], dtype=bool)
    return (array == np.rint(array)).all(axis=0)


def _as_array(values: Any, name: str) -> np.ndarray:
    """Return an array of any type and shape; tensors are recognised without importing torch."""
    if isinstance(values, np.ma.MaskedArray) and (count := int(np.sum(np.ma.getmaskarray(values)))):
        raise UsageError(f"{name} have {count:,} masked entries: fill them in, or leave their rows out")
    try:
        for step in ("detach", "cpu"):  # a tensor with gradients, or on a device
            if callable(getattr(values, step, None)):
                values = getattr(values, step)()
        try:
            array = np.asarray(values)
        except TypeError:  # numpy has no bfloat16
            as_float = getattr(values, "float", None)
            if not callable(as_float):
                raise
            array = np.asarray(as_float())
        # numpy would turn a list of numbers and strings into strings; as objects they stay what they are.
        return np.asarray(values, dtype=object) if array.dtype.kind in "SU" else array
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{name} cannot be read as one array: {(str(error).splitlines() or ['?'])[0]}") from error


def _read_columns(array: np.ndarray, name: str) -> Read:
    """Read a table of Python objects column by column."""
    columns, texts = [], {}
    for place, cells in enumerate(array.T.tolist()):
        words = [cell.decode(errors="backslashreplace") if isinstance(cell, bytes) else cell for cell in cells]
        numbers = _as_numbers(words, f"{name} {place + 1}")
        if numbers is None:
            texts[place] = tuple(sorted(set(words)))
            places = {text: number for number, text in enumerate(texts[place])}
            numbers = np.array([places[text] for text in words])
        columns.append(numbers)
    return Read(np.column_stack(columns), texts)


def _as_numbers(cells: list[Any], where: str) -> np.ndarray | None:
    """Return the cells of a column as numbers, or None if all are strings and some do not spell numbers."""
    strings = [cell for cell in cells if isinstance(cell, str)]
    others = [cell for cell in cells if not isinstance(cell, str)]
    odd = [cell for cell in others if not isinstance(cell, Real | Decimal | np.bool_)]
    if odd or (strings and others):
        shown = repr(odd[0] if odd else others[0]).splitlines()[0][:40]
        what = f"texts ({strings[0][:40]!r}) and {shown} mixed" if strings else f"{shown}, which is no number"
        raise UsageError(f"{where} holds {what}; leave out rows without a value, and pass numbers or strings")
    if others:
        numbers = np.array(others)
        return numbers if numbers.dtype.kind in "biuf" else numbers.astype(np.float64)
    with suppress(ValueError):
        if not any("_" in text for text in strings):  # Python reads 1_2 as 12
            return np.array([float(text) for text in strings])
    return None
