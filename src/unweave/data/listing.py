"""Read lists of image files and their factors: a CSV, or a table of attributes such as CelebA's."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from unweave.data.columns import factor_columns, file_column, read_column
from unweave.data.dataset import Values
from unweave.errors import UsageError
from unweave.files import refuse_special

Row = tuple[int, list[str]]
"""The number of a line and its cells."""


@dataclass(frozen=True)
class Listing:
    """The rows of a list: the files, their line numbers, and their factors (n, k)."""

    path: Path
    files: list[str]
    lines: list[int]
    names: list[str]
    factors: Values
    sizes: list[int] | None = None
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Notes for the user: columns that were ignored, numbers that were replaced by ranks."""

    def label(self, row: int) -> str:
        """Return the name of a row's image in error messages."""
        return f"'{self.files[row]}' (line {self.lines[row]} of '{self.path}')"


def read_csv(path: Path, chosen: Sequence[str] | None = None) -> Listing:
    """Read a CSV with a column of files, named as in `FILE_COLUMNS`, and one column for each factor.

    The factors are the chosen columns or, by default, all except those that `IGNORED` names. `columns.read_column`
    says what cells may contain. The words or numbers behind ranks are kept as `levels`.
    """
    header, rows = _checked(path, list(_cells(path)))
    column = file_column(header)
    if column is None:
        hint = f"factors=none loads the folder's images without it, vectors:path={path} loads its rows as vectors"
        raise UsageError(f"'{path}' has no column 'file'; its columns are: {', '.join(header)}; {hint}")
    others = [name for name in header if name != header[column]]
    names, ignored = factor_columns(others, chosen)
    columns = {}
    for name in names:
        place = header.index(name)
        columns[name] = read_column(path, name, [(line, cells[place]) for line, cells in rows])
    files, lines = _files(path, [(line, cells[column]) for line, cells in rows])
    values = [found.values for found in columns.values()]
    factors = np.stack(values, axis=1) if values else np.zeros((len(rows), 0), dtype=np.int64)
    levels = {name: found.levels for name, found in columns.items() if found.levels}
    notes = [f"'{path}': {found.note}" for found in columns.values() if found.note]
    if ignored:
        listed = ",".join(ignored)
        notes.insert(0, f"'{path}': columns ignored because of their names: {listed} (factors={listed} uses them)")
    return Listing(path, files, lines, names, factors, levels=levels, notes=tuple(notes))


def read_attributes(path: Path, chosen: Sequence[str] | None = None) -> Listing:
    """Read a list of binary attributes: a line of names, then one line per file with 0s and 1s, or -1s and 1s.

    Cells are separated by commas or spaces. As in CelebA's list, the first line may be the number of rows, and the
    line of names may leave out the column of files.
    """
    lines = list(_cells(path))
    count = None
    if lines and len(lines[0][1]) == 1 and lines[0][1][0].isdigit():
        count = int(lines.pop(0)[1][0])
    if len(lines) > 1 and len(lines[0][1]) + 1 == len(lines[1][1]):
        lines[0][1].insert(0, "file")
    header, rows = _checked(path, lines)
    if count is not None and count != len(rows):
        raise UsageError(
            f"'{path}' should have {count:,} rows by its first line, but has {len(rows):,}; fetch it again"
        )
    if len(header) < 2:
        raise UsageError(f"'{path}' has no attributes: it needs columns besides the one of files")
    names = header[1:] if chosen is None else factor_columns(header[1:], chosen)[0]
    factors = np.array([_signs(path, header, row) for row in rows])
    minus, zero = (factors == -1).any(axis=1), (factors == 0).any(axis=1)
    if minus.any() and zero.any():
        line, _ = rows[int(max(minus.argmax(), zero.argmax()))]
        raise UsageError(f"'{path}' has both 0 and -1 up to line {line}; attributes must be 0 and 1, or -1 and 1")
    files, numbers = _files(path, [(line, cells[0]) for line, cells in rows])
    places = [header.index(name) - 1 for name in names]
    return Listing(path, files, numbers, names, (factors[:, places] == 1).astype(np.int64), [2] * len(names))


def _cells(path: Path) -> Iterator[Row]:
    """Yield the lines that are not empty, split at commas if the first lines have any, otherwise at spaces."""
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
        raise UsageError(f"'{path}' is not UTF-8 text; save it as UTF-8") from error
    except csv.Error as error:
        raise UsageError(f"'{path}' is not a valid CSV file: {error}") from error


def _checked(path: Path, lines: list[Row]) -> tuple[list[str], list[Row]]:
    """Return the header and the rows below it, all of one length."""
    if not lines:
        raise UsageError(f"'{path}' is empty")
    (_, header), *rows = lines
    if header[0] == "":  # the header that pandas writes for its index
        header[0] = "unnamed"
    if not rows:
        raise UsageError(f"'{path}' has a header, but no rows")
    if len(set(header)) < len(header) or "" in header:
        raise UsageError(f"the columns of '{path}' need names that differ: {', '.join(header)}")
    for line, cells in rows:
        if len(cells) != len(header):
            raise UsageError(f"line {line} of '{path}' has {len(cells)} cells, but there are {len(header)} columns")
    return header, rows


def _files(path: Path, cells: Sequence[tuple[int, str]]) -> tuple[list[str], list[int]]:
    """Return the files and their line numbers; no file may occur twice."""
    seen: dict[str, int] = {}
    for line, file in cells:
        if not file:
            raise UsageError(f"line {line} of '{path}' names no file")
        if file in seen:
            raise UsageError(f"'{path}' has '{file}' twice, in lines {seen[file]} and {line}")
        seen[file] = line
    return list(seen), list(seen.values())


def _signs(path: Path, header: list[str], row: Row) -> list[int]:
    line, cells = row
    for name, cell in zip(header[1:], cells[1:], strict=True):
        if cell not in ("-1", "0", "1"):
            raise UsageError(f"line {line} of '{path}': '{name}' is '{cell}'; attributes must be 0 and 1, or -1 and 1")
    return [int(cell) for cell in cells[1:]]
