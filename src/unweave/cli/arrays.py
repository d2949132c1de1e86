"""Arrays out of files (npy, npz, CSV, Parquet), and tables of scores into them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unweave.cli.csv_arrays import read_csv, read_csv_texts
from unweave.cli.numpy_arrays import array_names, read_members, read_npy
from unweave.errors import UsageError, warn_user
from unweave.files import refuse_special, write_atomically
from unweave.text import to_json

if TYPE_CHECKING:
    import polars

MEMBER = re.compile(r"(.*\.npz):(.+)", re.IGNORECASE | re.DOTALL)
"""An array of an npz file, FILE.npz:NAME."""
LABEL = re.compile(r"^factor_(?=.*\D)", re.DOTALL)
"""The prefix of a factor's name; a number alone is not a name."""


def read_array(path: Path, *, texts: bool = False) -> np.ndarray:
    """Return the array in a .npy, .npz, .csv or .parquet file; nothing in it is ever executed.

    A .csv file may begin with a header; blank lines and lines that begin with # are skipped. For an .npz file with
    several arrays, give FILE.npz:NAME. With `texts`, which is for factors, columns may hold text: the array then holds
    objects, texts and numbers. The first line of a .csv file with text is a header unless it holds a number, or a word
    that occurs again in its column.
    """
    with _one_line(path):
        file, name = _member(path)
        kind = file.suffix.lower()
        if kind == ".npy":
            return read_npy(file)
        if kind == ".npz":
            return _read_one(file, name)
        if kind == ".csv":
            return read_csv_texts(file) if texts else read_csv(file)
        if kind == ".parquet":
            return _to_array(_whole(_read_parquet(file)), texts)
        raise UsageError(f"'{path}' must be a .npy or .npz file (numpy.save, numpy.savez), a .csv or a .parquet file")


def read_codes(path: Path, *, test: bool = False) -> np.ndarray:
    """Return the codes in a file, whose factors are in another one.

    From an .npz file with several arrays it takes `codes` (or first `test_codes`, for a test); from a .parquet file
    the columns whose names begin with code, or all columns if none does.
    """
    return _read_part(path, "code", test, texts=False)


def read_factors(path: Path, *, test: bool = False) -> np.ndarray:
    """Return the factors in a file, in the way `read_codes` reads codes; they may be text."""
    return _read_part(path, "factor", test, texts=True)


def read_factor_names(path: Path) -> list[str] | None:
    """Return the names of the factors in a .parquet file, without the prefix factor_; None for most other files.

    They are the names of the columns that begin with factor, or of all columns if none does. An .npz file that
    `unweave encode` wrote has them in its record.
    """
    if path.suffix.lower() == ".npz":
        return _recorded_names(path)
    if path.suffix.lower() != ".parquet":
        return None
    import polars

    columns = list(polars.read_parquet_schema(path))
    names = [name for name in columns if name.startswith("factor")] or columns
    short = [LABEL.sub("", name) for name in names]
    return short if len(set(short)) == len(short) else names


def _recorded_names(path: Path) -> list[str] | None:
    """Return the factors that the record in an .npz file names, if it has a record."""
    if "record" not in array_names(path):
        return None
    try:
        names = json.loads(str(read_members(path, ["record"])[0]))["factors"]
    except (ValueError, KeyError, TypeError):
        return None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) and names else None


def read_codes_and_factors(path: Path) -> tuple[np.ndarray, np.ndarray | None]:
    """Return codes and, if the file has them, their factors.

    An .npz file has arrays `codes` and `factors`; a .parquet file has columns whose names begin with code or factor,
    and other columns are ignored, with a warning. In any other file, or one with a single array, the array is the
    codes.
    """
    with _one_line(path):
        if path.suffix.lower() == ".npz":
            names = array_names(path)
            if len(names) == 1 and "factors" not in names:
                return read_members(path, names)[0], None
            if "codes" not in names:
                raise UsageError(f"'{path}' holds {_listed(names)}; name the arrays codes and factors")
            arrays = read_members(path, [name for name in ("codes", "factors") if name in names])
            return arrays[0], arrays[1] if len(arrays) > 1 else None
        if path.suffix.lower() == ".parquet":
            return _divide(path, _read_parquet(path))
    return read_array(path), None


def read_test_codes_and_factors(path: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the arrays `test_codes` and `test_factors` of an .npz file, or None if it has neither."""
    if path.suffix.lower() != ".npz":
        return None
    with _one_line(path):
        wanted = ("test_codes", "test_factors")
        missing = [name for name in wanted if name not in array_names(path)]
        if len(missing) == 1:
            raise UsageError(f"'{path}' has no array {missing[0]}; test_codes and test_factors come together")
        if missing:
            return None
        codes, factors = read_members(path, wanted)
        return codes, factors


def read_optional(path: Path, name: str) -> np.ndarray | None:
    """Return the array of this name in an .npz file, or None if there is none."""
    if path.suffix.lower() != ".npz":
        return None
    with _one_line(path):
        return read_members(path, [name])[0] if name in array_names(path) else None


def refuse_file(*runs: Path) -> None:
    """Raise a `UsageError` if a file is given instead of a run's folder, and say where files go."""
    for path in runs:
        if _member(path)[0].is_file():
            files = " ".join(shlex.quote(str(run)) for run in runs)
            raise UsageError(f"'{path}' is a file, not the folder of a run; give files with --codes {files}")


def check_scores_path(path: Path) -> None:
    """Raise a `UsageError` if `write_scores` could not write to this path; call it before computing scores."""
    if path.suffix.lower() not in (".csv", ".parquet", ".json"):
        raise UsageError(f"write scores to a .csv, .parquet or .json file, not to '{path}'")
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder; choose another name")
    refuse_special(path)
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder '{path.parent}' to write '{path.name}' into; make it first")


def write_scores(table: polars.DataFrame, path: Path) -> None:
    """Write a table of scores as CSV, Parquet or JSON (a list of rows), by the file's suffix, atomically."""
    check_scores_path(path)
    kind = path.suffix.lower()
    if kind == ".parquet":
        buffer = BytesIO()
        table.write_parquet(buffer)
        content = buffer.getvalue()
    elif kind == ".csv":
        content = table.write_csv().encode()
    else:
        rows = [{**row, **_decoded(row)} for row in table.iter_rows(named=True)]
        content = f"{to_json(rows)}\n".encode()
    write_atomically(path, content)


def _decoded(row: dict[str, object]) -> dict[str, object]:
    """Return a row with its options decoded from JSON."""
    options = row.get("options")
    return {"options": json.loads(options)} if isinstance(options, str) else {}


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Turn errors about a file into one line that names it."""
    refuse_special(_member(path)[0])
    try:
        yield
    except UsageError:
        raise
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"'{path}' does not hold a plain array of numbers: {error}") from error


def _member(path: Path) -> tuple[Path, str]:
    """Return the file and, for FILE.npz:NAME, the name of the array, otherwise an empty name."""
    match = MEMBER.fullmatch(str(path))
    return (path, "") if match is None or path.exists() else (Path(match[1]), match[2])


def _read_one(path: Path, name: str) -> np.ndarray:
    """Return the array of this name in an npz file, or its only array if no name is given."""
    names = array_names(path)
    if name and name not in names:
        raise UsageError(f"'{path}' has no array '{name}'; it holds {_listed(names)}")
    if not name and len(names) > 1:
        example = f"{path}:{names[0]}"
        raise UsageError(f"'{path}' holds {_listed(names)}; choose one ({example}), or name them codes and factors")
    return read_members(path, [name or names[0]])[0]


def _read_parquet(path: Path) -> polars.DataFrame:
    """Return a table that has rows and columns."""
    import polars
    from polars.exceptions import PanicException, PolarsError

    with path.open("rb") as file:  # opened here, so that the system says why it cannot be
        try:
            table = polars.read_parquet(file)
        except (PolarsError, PanicException) as error:
            raise UsageError(f"'{path}' is not a readable Parquet file; write it again") from error
    if 0 in table.shape:
        raise ValueError("it has no rows; write a row for each sample")
    for column in table:
        if re.fullmatch(r"__index_level_\d+__|Unnamed: 0|", column.name):
            raise ValueError("it has an index that pandas wrote; write it without (index=False)")
    return table


def _whole(table: polars.DataFrame) -> polars.DataFrame:
    """Return a table that has no missing values."""
    for column in table:
        if column.null_count():
            row = column.is_null().arg_max()
            raise ValueError(f"column '{column.name}' has no value in row {row}; leave out rows without values")
    return table


def _to_array(table: polars.DataFrame, texts: bool) -> np.ndarray:
    """Return the columns of a table as one array; text is an error unless `texts`."""
    import polars

    words = (polars.String, polars.Categorical, polars.Enum)
    for name, kind in table.schema.items():
        if kind in words and not texts:
            raise ValueError(f"column '{name}' holds texts, not numbers")
        if not (kind in words or kind.is_numeric() or kind == polars.Boolean):
            raise ValueError(f"column '{name}' is of type {kind}; save plain numbers, one per column")
    return table.cast({polars.Decimal: polars.Float64}).to_numpy()


def _divide(path: Path, table: polars.DataFrame) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the columns whose names mark them as codes, and those marked as factors."""
    codes = [name for name in table.columns if name.startswith("code")]
    factors = [name for name in table.columns if name.startswith("factor")]
    if not codes:
        how = "begin the names of its columns with code or factor, or give --factors too"
        raise UsageError(f"'{path}' has no codes; {how}")
    _warn_of_others(path, table.columns, [*codes, *factors], "code or factor")
    labels = _to_array(_whole(table.select(factors)), texts=True) if factors else None
    return _to_array(_whole(table.select(codes)), texts=False), labels


def _read_part(path: Path, kind: str, test: bool, texts: bool) -> np.ndarray:
    """Return the codes, or the factors, of a file that may hold both."""
    with _one_line(path):
        if path.suffix.lower() == ".npz":
            held = array_names(path)
            wanted = [name for name in (*([f"test_{kind}s"] if test else []), f"{kind}s") if name in held]
            if wanted:
                return read_members(path, wanted[:1])[0]
        if path.suffix.lower() == ".parquet":
            table = _read_parquet(path)
            columns = [name for name in table.columns if name.startswith(kind)] or table.columns
            _warn_of_others(path, table.columns, columns, kind)
            return _to_array(_whole(table.select(columns)), texts)
    return read_array(path, texts=texts)


def _warn_of_others(path: Path, columns: Sequence[str], taken: Sequence[str], beginning: str) -> None:
    """Warn of columns that are ignored."""
    others = [name for name in columns if name not in taken and not name.startswith(("code", "factor"))]
    if others:
        what = f"column {others[0][:40]} is" if len(others) == 1 else f"columns {_listed(others)} are"
        warn_user(f"'{path}': the {what} ignored; only names that begin with {beginning} are read", UserWarning)


def _listed(names: Sequence[str]) -> str:
    """Return names in one line, shortened if there are many."""
    return ", ".join([*(name[:40] for name in names[:8]), *["…"] * (len(names) > 8)])
