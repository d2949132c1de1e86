"""The kinds of files and arrays that can be loaded as data sets, and how the kind of a path is detected."""

from __future__ import annotations

import zipfile
from pathlib import Path

from unweave.data.backdrops import has_pictures, is_picture
from unweave.data.dataset import Dataset
from unweave.data.encoded import SUFFIXES as ENDINGS
from unweave.data.folder import Attributes, ImageFolder
from unweave.data.parquet import Parquet
from unweave.data.table import AbsentTable
from unweave.data.table_files import Npz
from unweave.data.vector_files import VectorFile
from unweave.errors import UsageError

FORMATS: dict[str, type[Dataset]] = {
    "npz": Npz,
    "folder": ImageFolder,
    "attributes": Attributes,
    "parquet": Parquet,
    "vectors": VectorFile,
    "table": AbsentTable,
}
"""Formats by name, as in `load("npz:path=my.npz")`; their factors are known after reading."""


SUFFIXES = {".npz": "npz", ".parquet": "parquet", ".csv": "folder", ".txt": "attributes", ".h5ad": "vectors"}


def data_of_path(path: str) -> str | None:
    """Return the name in `FORMATS` for the path of a file or folder; None if it is not a path.

    A name that can only be a path, but does not exist or has no known kind, raises a `UsageError`.
    """
    if not path:  # Path would treat it as the current folder
        return None
    place = Path(path).expanduser()
    kind = _of_folder(place) if place.is_dir() else _of_file(place)
    if not place.exists():
        if kind or path.endswith("/"):
            raise UsageError(f"there is no file or folder '{path}'")
        return None
    if kind is None and place.is_dir():
        raise UsageError(f"the folder '{path}' holds no images ({', '.join(ENDINGS)}) and no .parquet files")
    if kind is None and ("/" in path or place.suffix):
        kinds = ", ".join(SUFFIXES)
        raise UsageError(f"'{path}' is not a data set: it must be a file of images ({kinds}) or a folder of them")
    return kind


def _of_file(file: Path) -> str | None:
    if file.suffix == ".npz" and file.is_file() and zipfile.is_zipfile(file):  # reading a pipe would block
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
        return "vectors" if "images.npy" not in names and names & {"values.npy", "x.npy"} else "npz"
    return "attributes" if file.match("list_attr*.csv") else SUFFIXES.get(file.suffix)


def _of_folder(folder: Path) -> str | None:
    """Return the kind of a folder, from its files, then from those of its subfolders."""
    for pattern, kind in (("*.parquet", "parquet"), ("list_attr*", "attributes"), ("*.csv", "folder")):
        if next(folder.glob(pattern), None):
            return kind
    if any(is_picture(file.name) for file in folder.iterdir()):
        return "folder"
    if next(folder.rglob("*.parquet"), None):
        return "parquet"
    return "folder" if has_pictures(folder) else None
