"""MPI3D: a robot arm holds an object in front of a camera; two sets are simulated and two are real."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from unweave.data.conversion import Unreadable, convert
from unweave.data.dataset import Images
from unweave.data.factors import FactorSpace
from unweave.data.npz import open_member
from unweave.data.stored import Stored

COMPLEX = ("real3d_complicated_shapes_ordered.npz",)
NAMES = ("colour", "shape", "size", "camera", "background", "horizontal", "vertical")


class MPI3D(Stored):
    """The base class of the MPI3D sets.

    The files published today have six colours and six shapes. Those of the first release had four of each; they are
    recognised by their number of rows.
    """

    factors = FactorSpace(NAMES, (6, 6, 2, 3, 3, 40, 40))
    licence = "CC BY 4.0"
    first_release: ClassVar[FactorSpace] = FactorSpace(NAMES, (4, 4, 2, 3, 3, 40, 40))

    def _open(self, file: Path) -> Images:
        images = open_member(file, "images")
        if file.name in COMPLEX and self.name != MPI3DComplex.name:  # it has as many rows as a first release
            raise Unreadable(f"it is the file of {MPI3DComplex.name}")
        if images.shape[0] == len(self.first_release):
            self.factors = self.first_release
        rows = (len(self), *self.shape)
        images.check(rows)
        if images.stored:
            return images.mapped()
        return convert([file], file.with_name(f"{file.name}.images.npy"), rows, images.chunks)


class MPI3DToy(MPI3D):
    """A robot arm and the object it holds, in a plain simulation [Gondal2019]_."""

    name = "mpi3d-toy"
    files = ("mpi3d_toy.npz",)


class MPI3DRealistic(MPI3D):
    """A robot arm and the object it holds, in a realistic simulation [Gondal2019]_."""

    name = "mpi3d-realistic"
    files = ("mpi3d_realistic.npz",)


class MPI3DReal(MPI3D):
    """A robot arm and the object it holds, photographed [Gondal2019]_."""

    name = "mpi3d-real"
    files = ("mpi3d_real.npz",)


class MPI3DComplex(MPI3D):
    """A robot arm and one of four everyday objects, photographed [Gondal2019]_."""

    name = "mpi3d-complex"
    files = COMPLEX
    factors = FactorSpace(NAMES, (4, 4, 2, 3, 3, 40, 40))
