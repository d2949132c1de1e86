"""dSprites from files of its two published forms; the full one is drawn by shapes2d."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import unweave.data
from unweave.data import FactorSpace, load
from unweave.data.dsprites import DSprites
from unweave.errors import UsageError

GRID = FactorSpace(DSprites.factors.names, (3, 2, 5, 4, 4))
NPZ, HDF5 = DSprites.files
PICTURES = np.random.default_rng(0).integers(0, 2, size=(len(GRID), 64, 64), dtype=np.uint8)


class Trap:
    """Unpickling it makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (str(self.folder),)


def classes_of(grid: FactorSpace) -> np.ndarray:
    """The file's table of factors: a colour, which is always 0, and then ours."""
    return np.insert(grid.from_index(np.arange(len(grid))), 0, 0, axis=1)


def write_npz(path: Path, **changes: Any) -> Path:
    trap = np.array(Trap(path.parent / "trap"), dtype=object)
    classes = classes_of(GRID)
    arrays: dict[str, Any] = {
        "metadata": trap,
        "imgs": PICTURES,
        "latents_classes": classes,
        "latents_values": classes * 1.0,
    }
    arrays |= changes
    kept: dict[str, Any] = {key: value for key, value in arrays.items() if value is not None}
    np.savez_compressed(path, **kept)
    return path


def write_hdf5(path: Path, **changes: Any) -> Path:
    arrays: dict[str, Any] = {"imgs": PICTURES, "latents/classes": classes_of(GRID)} | changes
    with h5py.File(path, "w") as file:
        for key, value in arrays.items():
            file.create_dataset(key, data=value, compression="gzip", chunks=(32, 2, 4, 1)[: np.ndim(value)])
    return path


@pytest.fixture(autouse=True)
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "slow" not in request.keywords:
        monkeypatch.setattr(DSprites, "factors", GRID)


@pytest.mark.parametrize(("write", "name"), [(write_npz, NPZ), (write_hdf5, HDF5)])
def test_the_images_are_those_of_the_file(write: Callable[[Path], Path], name: str, tmp_path: Path):
    file = write(tmp_path / name)
    indices = np.random.default_rng(1).integers(len(GRID), size=100)
    for path in (file, tmp_path):
        data = DSprites(path=str(path))
        images = data.images(indices)
        np.testing.assert_array_equal(images, PICTURES[indices, ..., None] * 255)
        assert images.dtype == np.uint8
        assert images.flags.c_contiguous
        assert images.flags.writeable
    assert not (tmp_path / "trap").exists()
    assert data.images([]).shape == (0, 64, 64, 1)
    assert data.nbytes + data.mapped == len(GRID) * 512


def test_white_may_also_be_255(tmp_path: Path):
    data = DSprites(path=str(write_npz(tmp_path / NPZ, imgs=PICTURES * 255)))
    np.testing.assert_array_equal(data.images([7])[0, ..., 0], PICTURES[7] * 255)


def test_what_is_known_before_the_file_is_there():
    names = ("shape", "scale", "orientation", "x", "y")
    assert DSprites.name == "dsprites"
    assert DSprites.factors.names == names
    assert DSprites.binary
    assert DSprites.shape == (64, 64, 1)


def test_bad_indices(tmp_path: Path):
    data = DSprites(path=str(write_npz(tmp_path / NPZ)))
    for bad, message in [([len(data)], "between 0 and"), ([-1], "between 0 and"), ([0.5], "integers"), (3, "list")]:
        with pytest.raises(UsageError, match=message):
            data.images(bad)


def test_it_is_found_where_it_was_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    monkeypatch.setitem(unweave.data.DATASETS, "dsprites", DSprites)
    with pytest.raises(UsageError, match=f"unweave data fetch dsprites .*{NPZ}"):
        load("dsprites")
    (tmp_path / "dsprites").mkdir()
    write_hdf5(tmp_path / "dsprites" / HDF5)
    data = load("dsprites")
    assert data.description == {"name": "dsprites"}
    np.testing.assert_array_equal(data.images([5]) // 255, PICTURES[5:6, ..., None])


def test_the_description_names_the_file_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(unweave.data.DATASETS, "dsprites", DSprites)
    write_npz(tmp_path / "own.npz")
    monkeypatch.chdir(tmp_path)
    data = load("dsprites:path=own.npz")
    assert data.description == {"name": "dsprites", "path": str(tmp_path / "own.npz")}
    monkeypatch.chdir("/")
    description: dict[str, Any] = data.description
    np.testing.assert_array_equal(load(**description).images([3]), data.images([3]))


def test_statistics_are_exact_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = write_npz(tmp_path / NPZ)
    statistics = DSprites(path=str(file)).statistics()
    assert statistics.mean[0] == pytest.approx(PICTURES.mean())
    assert statistics.deviation[0] == pytest.approx(PICTURES.reshape(len(GRID), -1).std(axis=1, ddof=1).mean())

    again = DSprites(path=str(file))
    with monkeypatch.context() as patch:
        patch.setattr(again, "images", None)
        assert again.statistics() == statistics
    kept = file.with_name(f"{NPZ}.statistics.json")
    for spoilt in ("", "[]", "{}", kept.read_text().replace("mean", "middle")):
        kept.write_text(spoilt)
        assert again.statistics() == statistics

    write_npz(file, imgs=PICTURES * 0)
    os.utime(file, ns=(0, 0))
    assert DSprites(path=str(file)).statistics().mean == (0,)


grey = PICTURES.copy()
grey[77, 3, 3] = 100
MISTAKES = {
    "rows": ({"imgs": PICTURES[:-1]}, "imgs has 479 rows instead of 480"),
    "shape": ({"imgs": PICTURES[:, :32]}, r"imgs has the shape \(480, 32, 64\) instead of"),
    "dimensions": ({"imgs": PICTURES[..., None]}, "imgs has the shape"),
    "type": ({"imgs": PICTURES * 1.0}, "imgs is of type float64 instead of uint8"),
    "grey": ({"imgs": grey}, "grey pixels"),
    "order": ({"latents_classes": classes_of(GRID)[::-1]}, "not in the published order: see shape"),
    "labels": ({"latents_classes": classes_of(GRID)[:, 1:]}, "latents_classes has the shape"),
}


@pytest.mark.parametrize("kind", MISTAKES)
@pytest.mark.parametrize("write", [write_npz, write_hdf5])
def test_a_file_with_other_content(write: Callable[..., Path], kind: str, tmp_path: Path):
    changes, message = MISTAKES[kind]
    if write is write_hdf5:
        changes = {key.replace("_", "/"): value for key, value in changes.items()}
    file = write(tmp_path / NPZ, **changes)
    refused(file, message.replace("latents_", "latents."))


def test_objects_are_refused_and_never_unpickled(tmp_path: Path):
    trap = np.array([Trap(tmp_path / "trap")] * len(GRID), dtype=object)
    refused(write_npz(tmp_path / NPZ, imgs=trap), "imgs holds Python objects")
    refused(write_npz(tmp_path / NPZ, latents_classes=trap), "latents_classes holds Python objects")
    assert not (tmp_path / "trap").exists()


@pytest.mark.parametrize("write", [write_npz, write_hdf5])
def test_a_file_cut_short(write: Callable[[Path], Path], tmp_path: Path):
    whole = write(tmp_path / NPZ).read_bytes()
    for length in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / NPZ).write_bytes(whole[:length])
        refused(tmp_path / NPZ, "neither an npz nor an HDF5 file" if length < 4 else "damaged")


def test_a_damaged_archive(tmp_path: Path):
    whole = bytearray(write_npz(tmp_path / NPZ).read_bytes())
    with zipfile.ZipFile(tmp_path / NPZ) as archive:
        start = archive.getinfo("imgs.npy").header_offset
    for place in (60, 5_000, 50_000):
        damaged = whole.copy()
        damaged[start + place] ^= 0xFF
        (tmp_path / NPZ).write_bytes(damaged)
        refused(tmp_path / NPZ, "damaged|numpy's format|grey")


def test_a_missing_array(tmp_path: Path):
    refused(write_npz(tmp_path / NPZ, imgs=None), "there is no array 'imgs' in it")
    with h5py.File(tmp_path / NPZ, "w") as file:
        file.create_group("imgs")
    refused(tmp_path / NPZ, "there is no array 'latents/classes' in it")


def test_a_wrong_path(tmp_path: Path):
    for path, message in [(tmp_path, f"there is no {NPZ} in"), (tmp_path / "none.npz", "there is no file")]:
        with pytest.raises(UsageError, match=message):
            DSprites(path=str(path))


def refused(file: Path, message: str) -> None:
    """Loading fails with one line that names the file, and leaves nothing behind."""
    before = set(file.parent.iterdir())
    with pytest.raises(UsageError, match=message) as caught:
        DSprites(path=str(file))
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)
    assert set(file.parent.iterdir()) == before


@pytest.mark.slow
def test_all_the_images_of_a_full_file(tmp_path: Path):
    ours = load("shapes2d")
    assert len(DSprites.factors) == len(ours) == 737_280
    classes = classes_of(DSprites.factors)
    with zipfile.ZipFile(tmp_path / NPZ, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("latents_classes.npy", "w") as stream:
            np.lib.format.write_array(stream, classes)
        with archive.open("imgs.npy", "w", force_zip64=True) as stream:
            header = {"descr": "|u1", "fortran_order": False, "shape": (len(ours), 64, 64)}
            np.lib.format.write_array_header_1_0(stream, header)
            for part in np.array_split(np.arange(len(ours)), 360):
                stream.write((ours.images(part) // 255).tobytes())
    data = DSprites(path=str(tmp_path))
    assert data.nbytes + data.mapped <= 400e6
    for part in np.array_split(np.arange(len(ours)), 720):
        np.testing.assert_array_equal(data.images(part), ours.images(part))
    for file in tmp_path.iterdir():
        file.unlink()
