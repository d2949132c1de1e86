"""Read one array of an npz archive in chunks, or map it into memory; nothing is ever unpickled."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unweave.data.conversion import Unreadable, check_array

CHUNK = 1 << 22
"""Bytes read at a time."""

LOCAL_HEADER = struct.Struct("<26xHH")
"""The header of a member of a zip file; it ends with the lengths of the name and of the extra field."""


@dataclass(frozen=True)
class Member:
    """An array in an npz archive."""

    path: Path
    key: str
    shape: tuple[int, ...]
    dtype: np.dtype
    stored: bool
    """True if the array is stored uncompressed."""

    def check(self, shape: tuple[int, ...], dtype: DTypeLike = np.uint8) -> None:
        """Raise `Unreadable` if the array does not have this shape and type."""
        check_array(self.key, (self.shape, self.dtype), shape, dtype)

    def chunks(self) -> Iterator[NDArray]:
        """Yield the array in chunks of whole rows; its checksum is compared at the end."""
        length = prod(self.shape[1:]) * self.dtype.itemsize
        step = max(1, CHUNK // length)
        with _opened(self.path, self.key) as (_, stream):
            _read_header(stream)
            for start in range(0, self.shape[0], step):
                count = min(step, self.shape[0] - start)
                data = stream.read(count * length)
                if len(data) < count * length:
                    raise Unreadable(f"{self.key} ends too early")
                yield np.frombuffer(data, self.dtype).reshape(count, *self.shape[1:])
            if stream.read(1):  # reading to the end also makes zipfile compare the checksum
                raise Unreadable(f"{self.key} is longer than its header says")

    def mapped(self) -> NDArray:
        """Map the array into memory from the file; it must be stored uncompressed."""
        with _opened(self.path, self.key) as (info, stream):
            _read_header(stream)
            header = stream.tell()
        if info.file_size != header + prod(self.shape) * self.dtype.itemsize:
            raise Unreadable(f"{self.key} does not have the length that its header says")
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            name, extra = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        offset = info.header_offset + LOCAL_HEADER.size + name + extra + header
        return np.memmap(self.path, self.dtype, "r", offset, self.shape)


def open_member(path: Path, key: str) -> Member:
    """Return the header of an array in the archive; the array itself is not read."""
    with _opened(path, key) as (info, stream):
        shape, dtype = _read_header(stream)
    return Member(path, key, shape, dtype, info.compress_type == zipfile.ZIP_STORED)


@contextmanager
def _opened(path: Path, key: str) -> Iterator[tuple[zipfile.ZipInfo, IO[bytes]]]:
    """Open a member of the archive, or raise `Unreadable`."""
    try:
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo(f"{key}.npy")
            with archive.open(info) as stream:
                yield info, stream
    except KeyError:
        raise Unreadable(f"there is no array '{key}' in it") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise Unreadable(f"it is damaged, incomplete or not an npz archive ({error})") from error
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    """Read the header in front of an array in numpy's format."""
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(stream)
    except (ValueError, KeyError) as error:
        raise Unreadable("it does not hold an array in numpy's format") from error
    if fortran or not shape:
        raise Unreadable("its array is not stored row by row")
    return shape, dtype
