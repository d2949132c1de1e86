"""Read one array of an HDF5 file in chunks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unweave.data.conversion import Unreadable, check_array
from unweave.errors import UsageError

if TYPE_CHECKING:
    import h5py

CHUNK = 1 << 22
"""Bytes read at a time, unless the file is compressed in larger blocks."""


def hdf5_chunks(path: Path, key: str, shape: tuple[int, ...], dtype: DTypeLike = np.uint8) -> Iterator[NDArray]:
    """Yield an array in chunks of whole rows, after checking its shape and type.

    A chunk covers whole blocks of the file. Otherwise a block that spans thousands of rows, as in dSprites, would be
    decompressed once for every chunk that it overlaps.
    """
    with _opened(path, key) as array:
        check_array(key, (array.shape, array.dtype), shape, dtype)
        block = array.chunks[0] if array.chunks else 1
        length = prod(shape[1:]) * array.dtype.itemsize
        step = block * max(1, CHUNK // (block * length))
        for start in range(0, shape[0], step):
            yield array[start : start + step]


@contextmanager
def _opened(path: Path, key: str) -> Iterator[h5py.Dataset]:
    """Open an array, or raise `Unreadable`."""
    try:
        import h5py
    except ImportError:
        raise UsageError(f"reading '{path.name}' needs h5py: pip install 'unweave[hdf5]'") from None
    try:
        with h5py.File(path, "r") as file:
            array = file.get(key)
            if not isinstance(array, h5py.Dataset):
                raise Unreadable(f"there is no array '{key}' in it")
            yield array
    except (OSError, RuntimeError, KeyError) as error:
        raise Unreadable(f"it is damaged, incomplete or not an HDF5 file ({error})") from error
