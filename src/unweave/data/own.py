"""The kinds of files and arrays that become data sets, and how a path tells its kind."""

from __future__ import annotations

from pathlib import Path

from unweave.data.dataset import Dataset
from unweave.data.folder import Attributes, ImageFolder
from unweave.data.parquet import Parquet
from unweave.data.table import AbsentTable
from unweave.data.table_files import Npz
from unweave.errors import UsageError

FORMATS: dict[str, type[Dataset]] = {
    "npz": Npz,
    "folder": ImageFolder,
    "attributes": Attributes,
    "parquet": Parquet,
    "table": AbsentTable,
}
"""By name, as in `load("npz:path=my.npz")`; their factors are known once they are read."""


SUFFIXES = {".npz": "npz", ".parquet": "parquet", ".csv": "folder", ".txt": "attributes"}


def data_of_path(path: str) -> str | None:
    """Return the name in `FORMATS` that a file or folder of images and factors is read with, if there is one.

    What can only be meant as a path, but is not there or of no known kind, is refused; any other name is None.
    """
    if not path:  # which Path would take for the current folder
        return None
    place = Path(path).expanduser()
    kind = _of_folder(place) if place.is_dir() else _of_file(place)
    if not place.exists():
        if kind or path.endswith("/"):
            raise UsageError(f"there is no file or folder '{path}'")
        return None
    if kind is None and ("/" in path or place.suffix):
        kinds = ", ".join(SUFFIXES)
        raise UsageError(f"'{path}' is no data set: it must be a file of images and factors ({kinds}) or their folder")
    return kind


def _of_file(file: Path) -> str | None:
    return "attributes" if file.match("list_attr*.csv") else SUFFIXES.get(file.suffix)


def _of_folder(folder: Path) -> str | None:
    if next(folder.rglob("*.parquet"), None):
        return "parquet"
    if next(folder.glob("list_attr*"), None):
        return "attributes"
    return "folder" if next(folder.glob("*.csv"), None) else None
