"""The tables of a run as Parquet files: its log, and its scores with the step and weights that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from unweave.errors import UsageError
from unweave.files import exclusive, write_atomically

if TYPE_CHECKING:
    import polars

NUMBERS = ("value", "low", "high", "floor", "ceiling", "adjusted")
SAME_SCORE = ("metric", "options", "weights")
"""A new score replaces a saved one that agrees in these columns."""


def read_table(path: Path) -> polars.DataFrame:
    """Return the table in a Parquet file of a run."""
    import polars

    try:
        return polars.read_parquet(path)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise UsageError(f"'{path}' cannot be read as a table; remove it if it is damaged") from error


def read_log(path: Path) -> polars.DataFrame:
    """Return the log of a run: step, loss and every term, all numbers."""
    table = read_table(path)
    needed = {"step", "loss"} if len(table) else {"step"}
    if not needed <= set(table.columns) or not all(kind.is_numeric() for kind in table.dtypes):
        raise _other_columns(path, table)
    return table


def write_table(path: Path, table: polars.DataFrame) -> None:
    """Write a table as Parquet, atomically."""
    write_atomically(path, to_parquet(table))


def to_parquet(table: polars.DataFrame) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    buffer = BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def read_scores(path: Path) -> polars.DataFrame | None:
    """Return the scores in a file, with all columns: those that an earlier version did not write are null."""
    import polars

    if not path.is_file():
        return None
    table = read_table(path)
    try:
        if "metric" not in table.columns or table["metric"].null_count():
            raise _other_columns(path, table)
        return _with_all_columns(table)
    except polars.exceptions.PolarsError as error:  # a column of another type
        raise _other_columns(path, table) from error


def read_scores_at_once(paths: Sequence[Path | str], file: str) -> polars.DataFrame | None:
    """Return the scores in many files as one table, with the path of each row's file in the column `file`.

    Returns None if files have different columns, or one is damaged. It is a hundred times faster than reading them one
    by one.
    """
    import polars

    try:
        table = polars.read_parquet([str(path) for path in paths], include_file_paths=file, glob=False)
        if "metric" not in table.columns or table["metric"].null_count():
            return None
        return _with_all_columns(table)
    except (OSError, polars.exceptions.PolarsError):
        return None


def merge_scores(path: Path, scores: polars.DataFrame, *, step: int, weights: str) -> None:
    """Save scores of a model; they replace earlier ones with the same names, options and weights.

    Several processes may save at once: each reads, merges and writes while the others wait. The lock is a separate
    file, because training holds the folder's lock while it lasts, and a run may be scored meanwhile.
    """
    import polars

    table = _with_all_columns(scores.with_columns(step=polars.lit(step), weights=polars.lit(weights)))
    with exclusive(path.with_name(f".{path.name}.lock")):
        if (kept := read_scores(path)) is not None:
            replaced = set(table.select(SAME_SCORE).rows())  # in a join, nulls would not be equal
            kept = kept.filter([row not in replaced for row in kept.select(SAME_SCORE).rows()])
            table = polars.concat([kept, table], how="diagonal")
        write_table(path, table)


def _other_columns(path: Path, table: polars.DataFrame) -> UsageError:
    """Return the error for a table with wrong columns."""
    columns = ", ".join(f"{name} ({kind})" for name, kind in table.schema.items())
    return UsageError(f"'{path}' is damaged, remove it; its columns are: {columns}")


def _with_all_columns(scores: polars.DataFrame) -> polars.DataFrame:
    import polars

    numbers = dict.fromkeys(NUMBERS, polars.Float64)
    rest = {"options": polars.String, "step": polars.Int64, "weights": polars.String}
    kinds = polars.Schema({"metric": polars.String, **numbers, **rest})
    lacking = [polars.lit(None, kind).alias(name) for name, kind in kinds.items() if name not in scores.columns]
    others = [name for name in scores.columns if name not in kinds]
    return scores.with_columns(lacking).cast(kinds).select(*kinds, *others)
