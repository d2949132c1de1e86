"""Read vectors from files: npz, CSV, Parquet and h5ad."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.data.columns import Column, read_column
from unweave.data.dataset import Values
from unweave.data.h5ad import read_h5ad
from unweave.data.table_files import as_text, read_npz
from unweave.data.vectors import Vectors
from unweave.errors import UsageError, unknown
from unweave.files import refuse_special

if TYPE_CHECKING:
    import polars

MISSING = ["", "nan", "NaN", "NA", "null"]
"""Texts that mean a missing number in a CSV."""


@dataclass(frozen=True)
class Choice:
    """The parts of a file to read."""

    factors: Sequence[str] = ()
    """Columns that are factors."""
    features: Sequence[str] = ()
    """Columns that are features; by default all others."""
    ignore: Sequence[str] = ()
    """Columns that are neither."""
    layer: str = ""
    """The layer of an h5ad file to read instead of X."""


@dataclass(frozen=True)
class Content:
    """The content of a file of vectors."""

    values: Any
    features: Sequence[str] | None = None
    factors: Values | None = None
    names: Sequence[str] | None = None
    levels: dict[str, tuple[str, ...]] | None = None


class VectorFile(Vectors):
    """Your own vectors in an npz, CSV, Parquet or h5ad file; the option `factors` names columns that are factors."""

    name = "vectors"

    def __init__(
        self,
        *,
        path: str = "",
        factors: str = "",
        features: str = "",
        ignore: str = "",
        layer: str = "",
        standardise: bool = True,
        digest: str = "",
    ) -> None:
        if not path:
            raise UsageError("vectors need a path: vectors:path=cells.npz")
        place = Path(os.path.abspath(os.path.expanduser(str(path))))  # the same from every working directory
        if not place.exists():
            raise UsageError(f"there is no file '{place}'")
        refuse_special(place)
        if not isinstance(standardise, bool):
            raise UsageError(f"standardise must be true or false, not {standardise!r}")
        choice = Choice(_listed(factors), _listed(features), _listed(ignore), str(layer))
        content = _reader(place)(place, choice)
        try:
            super().__init__(
                content.values,
                content.factors,
                names=content.names,
                features=content.features,
                standardise=standardise,
            )
        except UsageError as error:
            raise UsageError(f"'{place}': {error}") from error
        if digest and digest != self.digest:
            raise UsageError(f"'{place}' holds other vectors or factors: its digest is {self.digest}, not {digest}")
        self.levels = content.levels or {}
        given = {"factors": factors, "features": features, "ignore": ignore, "layer": layer}
        chosen = {option: str(value) for option, value in given.items() if value}
        kept = {} if standardise else {"standardise": False}
        self.options = {"path": str(place), **chosen, **kept, "digest": self.digest}


def _listed(text: str) -> list[str]:
    """Return the names in "cell_type,batch"."""
    return [name.strip() for name in str(text).split(",") if name.strip()]


def _reader(path: Path) -> Callable[[Path, Choice], Content]:
    if path.suffix.lower() not in READERS:
        raise UsageError(f"'{path}' is not a file of vectors: its name must end in {', '.join(READERS)}")
    return READERS[path.suffix.lower()]


def _read_npz(path: Path, choice: Choice) -> Content:
    """Read the arrays values (or x), factors, names and features; the last three may be missing."""
    _refuse(path, choice, "factors", "features", "ignore", "layer")
    arrays = read_npz(path, (), ("values", "x", "factors", "names", "features"))
    values = arrays.get("values", arrays.get("x"))
    if values is None:
        raise UsageError(f"'{path}' has no array 'values' or 'x' of vectors (n, D)")
    names, features = (_texts(path, key, arrays.get(key)) for key in ("names", "features"))
    return Content(values, features, arrays.get("factors"), names)


def _texts(path: Path, key: str, words: np.ndarray | None) -> list[str] | None:
    if words is None:
        return None
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise UsageError(f"the array '{key}' in '{path}' must be a list of texts")
    return [as_text(word) for word in words.tolist()]


def _read_csv(path: Path, choice: Choice) -> Content:
    import polars

    return _of_table(path, choice, lambda: polars.read_csv(path, infer_schema_length=None, null_values=MISSING))


def _read_parquet(path: Path, choice: Choice) -> Content:
    import polars

    return _of_table(path, choice, lambda: polars.read_parquet(path))


def _of_table(path: Path, choice: Choice, read: Callable[[], polars.DataFrame]) -> Content:
    """Return the columns of a table as features and factors."""
    import polars
    from polars.exceptions import PanicException, PolarsError

    _refuse(path, choice, "layer")
    try:
        table = read()
    except (PolarsError, PanicException, UnicodeDecodeError) as error:
        raise UsageError(f"'{path}' cannot be read as a table, or is damaged") from error
    for name in (*choice.factors, *choice.features, *choice.ignore):
        if name not in table.columns:
            raise unknown("column", name, table.columns)
    left = [name for name in table.columns if name not in (*choice.factors, *choice.ignore)]
    features = list(choice.features) or left
    for name in features:
        kind = table.schema[name]
        if not (kind.is_numeric() or kind == polars.Boolean):
            ways = f"name it as a factor (factors={name}), or leave it out (ignore={name})"
            raise UsageError(f"column '{name}' of '{path}' does not hold numbers; {ways}")
        if table[name].null_count():
            raise UsageError(f"'{name}' of row {table[name].is_null().arg_max()} of '{path}' is missing")
    if not features or not len(table):
        raise UsageError(f"'{path}' holds no {'rows' if features else 'features'}")
    values = table.select(polars.col(features).cast(polars.Float64)).to_numpy()
    columns = {name: table[name].cast(polars.String).fill_null("").to_list() for name in choice.factors}
    return Content(values, features, *_factors(path, columns))


def _read_h5ad(path: Path, choice: Choice) -> Content:
    _refuse(path, choice, "features", "ignore")
    values, features, columns = read_h5ad(path, choice.factors, choice.layer)
    return Content(values, features, *_factors(path, columns))


def _factors(
    path: Path, columns: dict[str, list[str]]
) -> tuple[Values | None, list[str] | None, dict[str, tuple[str, ...]]]:
    """Return the factors (n, k), their names, and the words of those that were numbered."""
    if not columns:
        return None, None, {}
    found: dict[str, Column] = {
        name: read_column(path, name, list(enumerate(cells))) for name, cells in columns.items()
    }
    levels = {name: column.levels for name, column in found.items() if column.levels}
    return np.column_stack([column.values for column in found.values()]), list(found), levels


def _refuse(path: Path, choice: Choice, *options: str) -> None:
    """Raise a `UsageError` for options that do not apply to this kind of file."""
    for option in options:
        if getattr(choice, option):
            raise UsageError(f"the option {option} does not apply to '{path.name}'")


READERS: dict[str, Callable[[Path, Choice], Content]] = {
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
    ".h5ad": _read_h5ad,
}
