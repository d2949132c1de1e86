"""smallNORB: toys on a turntable, from the six files of its training and test parts."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from unweave.data.conversion import Unreadable, check_array, collect, convert, shrink
from unweave.data.dataset import Images
from unweave.data.factors import FactorSpace, Integers
from unweave.data.stored import Stored, locate, naming
from unweave.errors import UsageError

PARTS = ("smallnorb-5x46789x9x18x6x2x96x96-training", "smallnorb-5x01235x9x18x6x2x96x96-testing")
BYTES, INTEGERS = np.dtype("u1"), np.dtype("<i4")
TYPES = {0x1E3D4C55: BYTES, 0x1E3D4C54: INTEGERS}
"""Types by the number at the start of a file."""

CHUNK = 1 << 22
"""Bytes read at a time."""


class SmallNORB(Stored):
    """A grey toy under six lights: five categories of ten toys each [LeCun2004]_, seen by the left camera.

    The training part and the test part, with five toys of each category each, are joined into one grid. The images
    are resized from 96×96 pixels.
    """

    name = "smallnorb"
    factors = FactorSpace(("category", "instance", "elevation", "azimuth", "lighting"), (5, 10, 9, 18, 6))
    shape = (64, 64, 1)
    files = (f"{PARTS[0]}-dat.mat.gz", f"{PARTS[0]}-dat.mat")

    def _open(self, file: Path) -> Images:
        sources = [self._find(file.parent, part, kind) for part in PARTS for kind in ("dat", "cat", "info")]
        target = file.with_name("smallnorb.images.npy")
        return convert(sources, target, (len(self), *self.shape), lambda: self._images(file.parent))

    def _find(self, folder: Path, part: str, kind: str) -> Path:
        return locate(self.name, str(folder), (f"{part}-{kind}.mat.gz", f"{part}-{kind}.mat"))

    def _images(self, folder: Path) -> Iterator[Images]:
        """Sort the images of both parts, which are in no particular order, by their factors."""
        half = len(self) // 2
        places = np.concatenate([self._places(folder, part, half) for part in PARTS])
        if len(np.unique(places)) < len(self):
            raise Unreadable("its parts do not hold every combination of factors exactly once")
        images = np.empty((len(self), 64, 64), np.uint8)
        for part, order in zip(PARTS, np.split(places, 2), strict=True):
            path = self._find(folder, part, "dat")
            with naming(self.name, path):
                start = 0
                for pairs in matrix_chunks(path, (half, 2, 96, 96), BYTES):
                    images[order[start : start + len(pairs)]] = [shrink(left) for left in pairs[:, 0]]
                    start += len(pairs)
        yield images[..., None]

    def _places(self, folder: Path, part: str, count: int) -> Integers:
        """Return the indices of a part's images."""
        path = self._find(folder, part, "cat")
        with naming(self.name, path):
            category = collect((count,), matrix_chunks(path, (count,), INTEGERS), INTEGERS)
        path = self._find(folder, part, "info")
        with naming(self.name, path):
            info = collect((count, 4), matrix_chunks(path, (count, 4), INTEGERS), INTEGERS)
            instance, elevation, azimuth, lighting = info.T
            if (azimuth % 2).any():  # 0, 2, … 34: in steps of 10°
                raise Unreadable("an azimuth is odd")
            try:
                return self.factors.to_index(np.stack([category, instance, elevation, azimuth // 2, lighting], axis=1))
            except UsageError as error:
                raise Unreadable(str(error)) from error


def matrix_chunks(path: Path, shape: tuple[int, ...], dtype: np.dtype) -> Iterator[NDArray]:
    """Yield a matrix in NORB's format in chunks of whole rows.

    The file starts with little-endian 32-bit numbers: the type, the number of dimensions, and the dimensions, padded
    to at least three. The values follow, row by row.
    """
    with _opened(path) as stream:
        check_array("it", _read_header(stream), shape, dtype)
        length = prod(shape[1:]) * dtype.itemsize
        step = max(1, CHUNK // length)
        for start in range(0, shape[0], step):
            count = min(step, shape[0] - start)
            data = stream.read(count * length)
            if len(data) < count * length:
                raise Unreadable("it ends too early")
            yield np.frombuffer(data, dtype).reshape(count, *shape[1:])
        if stream.read(1):
            raise Unreadable("it is longer than its header says")


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    """Return the shape and the type of a matrix."""
    try:
        magic, count = struct.unpack("<ii", stream.read(8))
        if magic not in TYPES or not 1 <= count <= 4:
            raise Unreadable("it is not a matrix in NORB's format")
        dimensions = struct.unpack(f"<{max(3, count)}i", stream.read(4 * max(3, count)))
    except struct.error as error:
        raise Unreadable("it ends too early") from error
    return dimensions[:count], TYPES[magic]


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, compressed or not."""
    try:
        with path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if not zipped:
                yield file
                return
            with gzip.open(file) as stream:
                yield cast(IO[bytes], stream)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unreadable(f"it is damaged or incomplete ({error})") from error
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
