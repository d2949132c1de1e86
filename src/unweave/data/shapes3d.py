"""3D Shapes, mapped from an uncompressed copy of its images."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from unweave.data.conversion import check_order, collect, convert
from unweave.data.dataset import Images
from unweave.data.factors import FactorSpace
from unweave.data.hdf5 import hdf5_chunks
from unweave.data.stored import Stored


class Shapes3D(Stored):
    """An object in a room, seen from 15 sides: 3D Shapes as published [Burgess2018]_."""

    name = "shapes3d"
    licence = "Apache-2.0"
    factors = FactorSpace(
        ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation"), (10, 10, 10, 8, 4, 15)
    )
    files = ("3dshapes.h5",)

    def _open(self, file: Path) -> Images:
        # The file is compressed: reading a batch of 64 would decompress 64 blocks and take far longer than a step.
        rows = (len(self), *self.shape)
        return convert([file], file.with_name(f"{file.name}.images.npy"), rows, lambda: self._images(file))

    def _images(self, file: Path) -> Iterator[Images]:
        labels = collect((len(self), 6), hdf5_chunks(file, "labels", (len(self), 6), np.float64), np.float64)
        check_order("labels", labels, self.factors)
        yield from hdf5_chunks(file, "images", (len(self), *self.shape))
