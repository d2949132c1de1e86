"""dSprites, stored at one bit per pixel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unweave.data.conversion import Unreadable, check_order, collect, convert
from unweave.data.dataset import Images
from unweave.data.factors import FactorSpace, Integers
from unweave.data.hdf5 import hdf5_chunks
from unweave.data.npz import open_member
from unweave.data.stored import Stored

Reader = Callable[[str, tuple[int, ...], DTypeLike], Iterator[NDArray]]
"""Takes the name, shape and type of an array, and yields its rows in chunks."""


class DSprites(Stored):
    """A white shape that turns, grows and moves: dSprites as published [Matthey2017]_.

    The file's first factor, a colour with one value, is left out.
    """

    name = "dsprites"
    factors = FactorSpace(("shape", "scale", "orientation", "x", "y"), (3, 6, 40, 32, 32))
    shape = (64, 64, 1)
    binary = True
    licence = "zlib/libpng, the licence of the software that drew it"
    files = (
        "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
        "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5",
    )

    def _open(self, file: Path) -> Images:
        packed = (len(self), 64 * 64 // 8)
        return convert([file], file.with_name(f"{file.name}.packed.npy"), packed, lambda: self._packed(file))

    def _packed(self, file: Path) -> Iterator[Images]:
        """Read the images in chunks, and pack eight pixels into a byte."""
        read, classes = reader(file)
        labels = collect((len(self), 6), read(classes, (len(self), 6), np.int64), np.int64)
        check_order(classes, labels[:, 1:], self.factors)
        for chunk in read("imgs", (len(self), 64, 64), np.uint8):
            if not ((chunk == 0) | (chunk == chunk.max())).all():
                raise Unreadable("imgs has grey pixels, but dSprites is black and white")
            yield np.packbits(chunk.reshape(len(chunk), -1), axis=1)

    def _draw(self, indices: Integers) -> Images:
        pixels = np.unpackbits(self._take(indices), axis=1)
        np.negative(pixels, out=pixels)  # in a byte, 1 becomes 255
        return pixels.reshape(-1, *self.shape)


def reader(file: Path) -> tuple[Reader, str]:
    """Return the reader of a file, chosen by its first bytes, and its name of the array of factors."""
    with file.open("rb") as stream:
        start = stream.read(4)
    if start == b"PK\x03\x04":
        return partial(_npz_chunks, file), "latents_classes"
    if start == b"\x89HDF":
        return partial(hdf5_chunks, file), "latents/classes"
    raise Unreadable("it is neither an npz nor an HDF5 file")


def _npz_chunks(file: Path, key: str, shape: tuple[int, ...], dtype: DTypeLike) -> Iterator[NDArray]:
    member = open_member(file, key)
    member.check(shape, dtype)
    return member.chunks()
