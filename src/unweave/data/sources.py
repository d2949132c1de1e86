"""The addresses of the published data sets, and the checksums of their files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

DSPRITES = "https://github.com/google-deepmind/dsprites-dataset/raw/master/"
SMALLNORB = "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/"
MPI3D = "https://storage.googleapis.com/mpi3d_disentanglement_dataset/data/"
MPI3D_OFFICIAL = "https://huggingface.co/datasets/waleedgondal/mpi3d/resolve/main/"
MPI3D_COMPLEX = "https://drive.google.com/file/d/1Tp8eTdHxgUMtsZv5uAoYAbJR1BOa_OQm/view"
MPI3D_FORMERLY = "https://storage.googleapis.com/disentanglement_dataset/Final_Dataset/"
MPI3D_SIZE = 12_700_000_000
MPI3D_REAL = (f"{MPI3D}real", f"{MPI3D}mpi3d_real", f"{MPI3D_OFFICIAL}mpi3d_real", f"{MPI3D_FORMERLY}mpi3d_real")


@dataclass(frozen=True)
class Source:
    """One published file."""

    file: str
    urls: tuple[str, ...]
    """Its address, then its mirrors."""
    checksum: str
    """The kind and the digest of the file, as `checksum` returns them; "" if none is published.

    A file without a checksum must be fetched by hand: a download could not be verified.
    """
    size: int | None = None
    """Size in bytes, if known; rounded if its page gives a rounded size."""
    alternative: bool = False
    """True for a file that can replace the others of its data set; it is not fetched, but users may put it there."""


def checksum(path: Path, kind: str) -> str:
    """Return the digest of a file as "KIND:HEX".

    The kinds are "md5" and "git": git's name of a file, the SHA-1 of "blob SIZE", a zero byte and the content.
    """
    digest = hashlib.new({"md5": "md5", "git": "sha1"}[kind], usedforsecurity=False)
    with path.open("rb") as file:
        if kind == "git":
            digest.update(b"blob %d\0" % path.stat().st_size)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return f"{kind}:{digest.hexdigest()}"


def _smallnorb(file: str, md5: str, size: int) -> Source:
    return Source(f"smallnorb-5x{file}.mat.gz", (f"{SMALLNORB}smallnorb-5x{file}.mat.gz",), f"md5:{md5}", size)


def _mpi3d(kind: str, md5: str) -> Source:
    file = f"mpi3d_{kind}.npz"
    # The official address comes after those that the checksum belongs to. A dead link costs no time.
    return Source(file, (MPI3D + file, MPI3D_OFFICIAL + file, MPI3D_FORMERLY + file), f"md5:{md5}", MPI3D_SIZE)


SOURCES: dict[str, tuple[Source, ...]] = {
    "dsprites": (
        Source(
            "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",
            (f"{DSPRITES}dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz",),
            "git:d98996d3f8ee1550e06b9d4ed78d0beb478910d5",
        ),
        Source(
            "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5",
            (f"{DSPRITES}dsprites_ndarray_co1sh3sc6or40x32y32_64x64.hdf5",),
            "md5:b331c4447a651c44bf5e8ae09022e230",
            28_024_106,
            alternative=True,
        ),
    ),
    "shapes3d": (
        Source(
            "3dshapes.h5",
            ("https://storage.googleapis.com/3d-shapes/3dshapes.h5",),
            "md5:099a2078d58cec4daad0702c55d06868",
            267_573_662,
        ),
    ),
    "cars3d": (
        Source(
            "nips2015-analogy-data.tar.gz",
            ("http://www.scottreed.info/files/nips2015-analogy-data.tar.gz",),
            "md5:4e866a7919c1beedf53964e6f7a23686",
        ),
    ),
    "smallnorb": (
        _smallnorb("46789x9x18x6x2x96x96-training-dat", "66054832f9accfe74a0f4c36a75bc0a2", 131_896_188),
        _smallnorb("46789x9x18x6x2x96x96-training-cat", "23c8b86101fbf0904a000b43d3ed2fd9", 348),
        _smallnorb("46789x9x18x6x2x96x96-training-info", "51dee1210a742582ff607dfd94e332e3", 71_052),
        _smallnorb("01235x9x18x6x2x96x96-testing-dat", "e4ad715691ed5a3a5f138751a4ceb071", 130_799_817),
        _smallnorb("01235x9x18x6x2x96x96-testing-cat", "5aa791cd7e6016cf957ce9bdb93b8603", 347),
        _smallnorb("01235x9x18x6x2x96x96-testing-info", "a9454f3864d7fd4bb3ea7fc3eb84924e", 10_428),
    ),
    "mpi3d-toy": (_mpi3d("toy", "55889cb7c7dfc655d6e0277beee88868"),),
    "mpi3d-realistic": (_mpi3d("realistic", "59a6225b88b635365f70c91b3e52f70f"),),
    "mpi3d-real": (
        Source(  # the new address has no prefix for this file
            "mpi3d_real.npz",
            tuple(f"{place}.npz" for place in MPI3D_REAL),
            "md5:0f33f609918fb5c97996692f91129802",
            MPI3D_SIZE,
        ),
    ),
    "mpi3d-complex": (Source("real3d_complicated_shapes_ordered.npz", (MPI3D_COMPLEX,), "", 5_700_000_000),),
}
"""The files of each published data set, by the data set's name."""
