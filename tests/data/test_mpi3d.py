"""MPI3D from files of its published form, compressed and not."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unweave.data import FactorSpace, files
from unweave.data.mpi3d import COMPLEX, MPI3D, NAMES, MPI3DComplex, MPI3DReal, MPI3DRealistic, MPI3DToy
from unweave.data.sources import SOURCES
from unweave.errors import UsageError

GRID, FIRST = FactorSpace(NAMES, (3, 3, 2, 3, 3, 2, 2)), FactorSpace(NAMES, (2, 2, 2, 3, 3, 2, 2))
FULL, FULL_FIRST = MPI3D.factors, MPI3D.first_release
PICTURES = np.random.default_rng(0).integers(0, 256, size=(len(GRID), 64, 64, 3), dtype=np.uint8)
SAVE = pytest.mark.parametrize("save", [np.savez, np.savez_compressed])


@pytest.fixture(autouse=True)
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "slow" not in request.keywords:
        monkeypatch.setattr(MPI3D, "factors", GRID)
        monkeypatch.setattr(MPI3D, "first_release", FIRST)


@SAVE
@pytest.mark.parametrize("kind", [MPI3DToy, MPI3DRealistic, MPI3DReal])
def test_the_images_are_those_of_the_file(kind: type[MPI3D], save: Callable[..., None], tmp_path: Path):
    file = tmp_path / f"{kind.name.replace('-', '_')}.npz"
    save(file, images=PICTURES)
    data = kind(path=str(tmp_path))
    indices = np.random.default_rng(1).integers(len(GRID), size=100)
    images = data.images(indices)
    np.testing.assert_array_equal(images, PICTURES[indices])
    assert images.flags.c_contiguous
    images[:] = 7
    np.testing.assert_array_equal(data.images(indices), PICTURES[indices])
    assert (data.nbytes, data.mapped) == (0, PICTURES.nbytes)
    copies = [] if save is np.savez else [f"{file.name}.images.npy"]  # one that is stored is mapped where it lies
    assert sorted(os.listdir(tmp_path)) == [file.name, *copies]


@SAVE
def test_a_file_of_the_first_release(save: Callable[..., None], tmp_path: Path):
    save(tmp_path / "mpi3d_toy.npz", images=PICTURES[: len(FIRST)])
    data = MPI3DToy(path=str(tmp_path))
    assert data.factors == FIRST
    assert len(data) == len(FIRST)
    np.testing.assert_array_equal(data.images([100]), PICTURES[100:101])
    assert MPI3DToy.factors == GRID


@SAVE
def test_the_complex_set_is_told_from_the_first_release_by_its_file(
    save: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """They have equally many images."""
    assert MPI3DComplex.factors == FULL_FIRST
    monkeypatch.setattr(MPI3DComplex, "factors", FIRST)
    save(tmp_path / COMPLEX[0], images=PICTURES[: len(FIRST)])
    data = MPI3DComplex(path=str(tmp_path))
    assert (data.name, data.factors) == ("mpi3d-complex", FIRST)
    np.testing.assert_array_equal(data.images([100]), PICTURES[100:101])
    for kind in (MPI3DToy, MPI3DRealistic, MPI3DReal):
        with pytest.raises(UsageError, match=f"is not the file of {kind.name}: it is the file of mpi3d-complex"):
            kind(path=str(tmp_path / COMPLEX[0]))


def test_a_file_without_a_published_checksum_is_fetched_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    place = tmp_path / "mpi3d-complex" / COMPLEX[0]
    message = f"must be fetched by hand: get it from https://drive.google.com/.* and save it as '{place}'"
    given: list[dict[str, Any]] = [{}, {"url": "http://localhost/a.npz"}, {"from_file": [tmp_path / "a.npz"]}]
    for options in given:
        with pytest.raises(UsageError, match=message):
            files.fetch("mpi3d-complex", **options)
    assert list(tmp_path.iterdir()) == []
    place.parent.mkdir()
    np.savez(place, images=PICTURES[: len(FIRST)])
    assert files.fetch("mpi3d-complex") == [place]
    assert files.status("mpi3d-complex") == f"here, in {place.parent}"


def test_the_official_address_is_among_the_places():
    official = "https://huggingface.co/datasets/waleedgondal/mpi3d/resolve/main/"
    for kind in ("toy", "realistic", "real"):
        (found,) = SOURCES[f"mpi3d-{kind}"]
        assert f"{official}mpi3d_{kind}.npz" in found.urls


def test_an_array_behind_others(tmp_path: Path):
    np.savez(tmp_path / "mpi3d_toy.npz", first=np.arange(1001), images=PICTURES, last=np.arange(10))
    np.testing.assert_array_equal(MPI3DToy(path=str(tmp_path)).images([9, 3]), PICTURES[[9, 3]])


def test_the_grids():
    assert FULL.names == ("colour", "shape", "size", "camera", "background", "horizontal", "vertical")
    assert FULL.sizes == (6, 6, 2, 3, 3, 40, 40)
    assert len(FULL) == 1_036_800
    assert FULL_FIRST.sizes == (4, 4, 2, 3, 3, 40, 40)
    assert len(FULL_FIRST) == 460_800


@SAVE
@pytest.mark.parametrize(
    ("images", "message"),
    [
        (PICTURES[1:], "images has 647 rows instead of 648"),
        (PICTURES[..., 0], r"images has the shape \(648, 64, 64\)"),
        (PICTURES.view(np.int8), "images is of type int8 instead of uint8"),
        (np.asfortranarray(PICTURES), "not stored row by row"),
        (np.uint8(3), "not stored row by row"),
        (np.array([{}] * 648, dtype=object), "images holds Python objects"),
    ],
)
def test_a_file_with_other_content(save: Callable[..., None], images: np.ndarray, message: str, tmp_path: Path):
    save(tmp_path / "mpi3d_toy.npz", images=images)
    refused(tmp_path, message)


@SAVE
def test_a_file_cut_short(save: Callable[..., None], tmp_path: Path):
    file = tmp_path / "mpi3d_toy.npz"
    save(file, images=PICTURES)
    whole = file.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(tmp_path, "damaged, incomplete or not an npz archive")


def test_an_array_that_is_shorter_than_its_header_says(tmp_path: Path):
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        for length, message in [(-1, "have the length|ends too early"), (1, "have the length|longer than")]:
            content = io.BytesIO()
            np.save(content, PICTURES)
            whole = content.getvalue()
            with zipfile.ZipFile(tmp_path / "mpi3d_toy.npz", "w", compression) as archive:
                archive.writestr("images.npy", whole[:-1] if length < 0 else whole + b"!")
            refused(tmp_path, message)


def test_a_member_that_is_no_array(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "mpi3d_toy.npz", "w") as archive:
        archive.writestr("images.npy", b"not an array")
    refused(tmp_path, "not hold an array in numpy's format")
    with zipfile.ZipFile(tmp_path / "mpi3d_toy.npz", "w") as archive:
        archive.writestr("pictures.npy", b"")
    refused(tmp_path, "there is no array 'images' in it")


def refused(folder: Path, message: str) -> None:
    before = os.listdir(folder)
    with pytest.raises(UsageError, match=message) as caught:
        MPI3DToy(path=str(folder))
    assert "\n" not in str(caught.value)
    assert os.listdir(folder) == before


class Sparse(io.FileIO):
    """A file that takes no room for what is zero."""

    def write(self, data) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not any(memoryview(data)[:64]) and bytes(data).count(0) == len(data):
            self.seek(len(data), io.SEEK_CUR)
            return len(data)
        return super().write(data)


@pytest.mark.slow
@pytest.mark.parametrize(("grid", "compression"), [(FULL, zipfile.ZIP_STORED), (FULL_FIRST, zipfile.ZIP_DEFLATED)])
def test_a_full_file(grid: FactorSpace, compression: int, tmp_path: Path):
    step = 1600
    with (
        Sparse(tmp_path / "mpi3d_real.npz", "w+") as file,
        zipfile.ZipFile(file, "w", compression, compresslevel=1) as archive,
        archive.open("images.npy", "w", force_zip64=True) as stream,
    ):
        header = {"descr": "|u1", "fortran_order": False, "shape": (len(grid), 64, 64, 3)}
        np.lib.format.write_array_header_1_0(stream, header)
        for start in range(0, len(grid), step):
            factors = np.zeros(64 * 64 * 3, np.uint8)
            factors[:7] = grid.from_index(start)
            stream.write(factors.tobytes())
            stream.write(bytes((step - 1) * 64 * 64 * 3))
    data = MPI3DReal(path=str(tmp_path))
    assert data.factors == grid
    indices = np.arange(0, len(grid), step)
    np.testing.assert_array_equal(data.images(indices).reshape(len(indices), -1)[:, :7], grid.from_index(indices))
    assert not data.images(indices[1:] - 1).any()
    for written in tmp_path.iterdir():  # gigabytes
        written.unlink()
