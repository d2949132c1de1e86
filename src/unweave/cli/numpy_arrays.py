"""Arrays in numpy's own files, .npy and .npz; nothing in them is ever executed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np


def read_npy(path: Path) -> np.ndarray:
    """Return the array in a .npy file."""
    with path.open("rb") as file:
        return _read_numpy(file, "numpy.save")


def _read_numpy(file: IO[bytes], writer: str) -> np.ndarray:
    """Return an array in numpy's own format."""
    try:
        return np.lib.format.read_array(file, allow_pickle=False)
    except (MemoryError, OSError):
        raise
    except Exception as error:  # a broken header, or a broken archive around it, makes numpy raise almost anything
        if "Object arrays" in str(error):
            raise ValueError("it holds Python objects, which are not read; save numbers") from error
        raise ValueError(f"it is not, or not all of, what {writer} writes; save it again") from error


def array_names(path: Path) -> list[str]:
    """Return the names of the arrays in an npz file, of which there is at least one."""
    with _archive(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    if not names:
        raise ValueError("it is an archive without arrays; write it with numpy.savez")
    return names


def read_members(path: Path, names: Sequence[str]) -> list[np.ndarray]:
    """Return the arrays of these names in an .npz file."""
    with _archive(path) as archive:
        return [_read_member(archive, name) for name in names]


def _read_member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    try:
        with archive.open(f"{name}.npy") as file:
            return _read_numpy(file, "numpy.savez")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # damaged, or encrypted
        raise ValueError("it is not, or not all of, what numpy.savez writes; save it again") from error


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ValueError("it is not, or not all of, what numpy.savez writes; save it again") from error
    with archive:
        yield archive
