"""Cars3D: cars on a turntable, read directly from the published archive."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath

import numpy as np

from unweave.data.conversion import Unreadable, convert, shrink
from unweave.data.dataset import Images
from unweave.data.factors import FactorSpace
from unweave.data.stored import Stored

LARGEST = 50_000_000
"""Largest accepted size of a car's file, in bytes; its pixels take 4.7 million."""


class Cars3D(Stored):
    """A car seen from 24 sides and four heights: 183 cars [Reed2015]_, at half the published size.

    Cars are numbered in the order of their files' names.
    """

    name = "cars3d"
    factors = FactorSpace(("elevation", "azimuth", "object"), (4, 24, 183))
    files = ("nips2015-analogy-data.tar.gz",)

    def _open(self, file: Path) -> Images:
        rows = (len(self), *self.shape)
        return convert([file], file.with_name(f"{file.name}.images.npy"), rows, lambda: self._images(file))

    def _images(self, file: Path) -> Iterator[Images]:
        elevations, azimuths, objects = self.factors.sizes
        cars = {name: self._read_car(name, content) for name, content in mat_files(file)}
        if len(cars) != objects:
            raise Unreadable(f"it holds {len(cars)} cars instead of {objects}")
        images = np.empty((elevations, azimuths, objects, *self.shape), np.uint8)
        for place, name in enumerate(sorted(cars)):
            images[:, :, place] = cars.pop(name)
        yield images.reshape(-1, *self.shape)

    def _read_car(self, name: str, content: bytes) -> Images:
        """Return the images of a car (elevation, azimuth, 64, 64, 3)."""
        elevations, azimuths, _ = self.factors.sizes
        pixels = read_mat(name, content)
        if pixels.shape != (128, 128, 3, azimuths, elevations) or pixels.dtype != np.uint8:
            raise Unreadable(f"'im' in {name} has the shape {pixels.shape} and the type {pixels.dtype}")
        pictures = pixels.transpose(4, 3, 0, 1, 2).reshape(-1, 128, 128, 3)
        return np.stack([shrink(picture) for picture in pictures]).reshape(elevations, azimuths, *self.shape)


def mat_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the .mat files in the archive's folder of cars, one by one; nothing is unpacked to disk."""
    try:
        with gzip.open(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as members:
            for member in members:
                if not member.isfile() or not is_car(PurePosixPath(member.name)):
                    continue
                if member.size > LARGEST:
                    raise Unreadable(f"{member.name} is too large for the views of a car")
                content = members.extractfile(member)
                yield PurePosixPath(member.name).name, content.read() if content else b""
            while stream.read(1 << 20):  # to the end, where gzip compares the checksum
                pass
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Unreadable(f"it is damaged, incomplete or not a tar.gz archive ({error})") from error
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error


def is_car(place: PurePosixPath) -> bool:
    """Return whether a file in the archive holds a car; hidden files are not part of the data set."""
    return place.parent.name == "cars" and place.suffix == ".mat" and not place.name.startswith(".")


def read_mat(name: str, content: bytes) -> np.ndarray:
    """Return the array `im` of a MATLAB file."""
    from scipy.io import loadmat

    try:
        return loadmat(BytesIO(content), variable_names=["im"])["im"]
    except Exception as error:  # on broken bytes scipy may raise anything
        raise Unreadable(f"{name} is damaged, or not a MATLAB file with an array 'im'") from error
