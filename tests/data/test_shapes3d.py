"""3D Shapes from a file of its published form."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from unweave.data import FactorSpace
from unweave.data.shapes3d import Shapes3D
from unweave.errors import UsageError

FULL = Shapes3D.factors
GRID = FactorSpace(FULL.names, (3, 2, 2, 4, 2, 5))
PICTURES = np.random.default_rng(0).integers(0, 256, size=(len(GRID), 64, 64, 3), dtype=np.uint8)
LAYOUTS = {"one a block": (1, 64, 64, 3), "many a block": (50, 8, 8, 1), "plain": None}


def labels_of(grid: FactorSpace) -> np.ndarray:
    """The file's table of factors: hues from 0 to 0.9, sizes, the kind of object, and angles."""
    ends = [(0, 0.9), (0, 0.9), (0, 0.9), (0.75, 1.25), (0, 3), (-30, 30)]
    steps = [np.linspace(low, high, size) for (low, high), size in zip(ends, grid.sizes, strict=True)]
    return np.stack([step[i] for step, i in zip(steps, grid.from_index(np.arange(len(grid))).T, strict=True)], axis=1)


def write(path: Path, layout: str = "plain", **changes: Any) -> Path:
    chunks = LAYOUTS[layout]
    arrays: dict[str, Any] = {"images": PICTURES, "labels": labels_of(GRID)} | changes
    with h5py.File(path, "w") as file:
        file.create_dataset("labels", data=arrays["labels"])
        file.create_dataset("images", data=arrays["images"], chunks=chunks, compression="gzip" if chunks else None)
    return path


@pytest.fixture(autouse=True)
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "slow" not in request.keywords:
        monkeypatch.setattr(Shapes3D, "factors", GRID)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_images_are_those_of_the_file(layout: str, tmp_path: Path):
    write(tmp_path / "3dshapes.h5", layout)
    data = Shapes3D(path=str(tmp_path))
    indices = np.random.default_rng(1).integers(len(GRID), size=100)
    images = data.images(indices)
    np.testing.assert_array_equal(images, PICTURES[indices])
    assert images.flags.c_contiguous
    images[:] = 7
    np.testing.assert_array_equal(data.images(indices), PICTURES[indices])
    assert (data.nbytes, data.mapped) == (0, PICTURES.nbytes)
    assert not data.binary


def test_the_grid():
    assert FULL.names == ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation")
    assert FULL.sizes == (10, 10, 10, 8, 4, 15)
    assert len(FULL) == 480_000


def test_a_factor_changes_what_the_file_says(tmp_path: Path):
    data = Shapes3D(path=str(write(tmp_path / "3dshapes.h5")))
    labels = labels_of(GRID)
    for axis, name in enumerate(GRID.names):
        line = GRID.to_index(GRID.traversal(name, [1, 1, 1, 1, 1, 1]))
        assert (np.diff(labels[line][:, axis]) > 0).all()
        assert (np.delete(labels[line], axis, axis=1) == np.delete(labels[line[:1]], axis, axis=1)).all()
        np.testing.assert_array_equal(data.images(line), PICTURES[line])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": PICTURES[1:]}, "images has 479 rows instead of 480"),
        ({"images": PICTURES[..., :1]}, r"images has the shape \(480, 64, 64, 1\)"),
        ({"images": PICTURES / 255}, "images is of type float64"),
        ({"images": np.array([b"picture"] * 480, dtype=h5py.string_dtype())}, "images holds Python objects"),
        ({"labels": labels_of(GRID)[:, :5]}, "labels has the shape"),
        ({"labels": np.roll(labels_of(GRID), 1, axis=0)}, "not in the published order"),
    ],
)
def test_a_file_with_other_content(changes: dict[str, Any], message: str, tmp_path: Path):
    file = write(tmp_path / "3dshapes.h5", **changes)
    refused(file, message)


def test_a_file_that_is_damaged_or_another(tmp_path: Path):
    file = tmp_path / "3dshapes.h5"
    with h5py.File(file, "w") as other:
        other.create_dataset("images", data=PICTURES, compression="gzip", chunks=(10, 64, 64, 3))
        other.create_dataset("labels", data=labels_of(GRID))
        place = other["images"].id.get_chunk_info(30).byte_offset
    whole = bytearray(file.read_bytes())
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(file, "damaged, incomplete or not an HDF5 file")
    whole[place : place + 2000] = bytes(2000)
    file.write_bytes(whole)
    refused(file, "damaged, incomplete or not an HDF5 file")
    with h5py.File(file, "w") as other:
        other.create_dataset("imgs", data=[1])
    refused(file, "there is no array 'labels' in it")


def test_without_h5py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = write(tmp_path / "3dshapes.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(UsageError, match=r"pip install 'unweave\[hdf5\]'"):
        Shapes3D(path=str(file))


def refused(file: Path, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Shapes3D(path=str(file))
    assert "\n" not in str(caught.value)
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.slow
def test_a_full_file(tmp_path: Path):
    file = tmp_path / "3dshapes.h5"
    with h5py.File(file, "w") as full:
        full.create_dataset("labels", data=labels_of(FULL))
        images = full.create_dataset(
            "images", (480_000, 64, 64, 3), np.uint8, chunks=(1000, 64, 64, 3), compression="gzip", compression_opts=1
        )
        for start in range(0, 480_000, 1000):
            part = np.zeros((1000, 64, 64, 3), np.uint8)
            part[:, 5, 7] = FULL.from_index(np.arange(start, start + 1000))[:, :3]
            part[:, 9, 11] = FULL.from_index(np.arange(start, start + 1000))[:, 3:]
            images[start : start + 1000] = part
    data = Shapes3D(path=str(file))
    for part in np.array_split(np.arange(480_000), 200):
        images = data.images(part)
        np.testing.assert_array_equal(np.concatenate([images[:, 5, 7], images[:, 9, 11]], axis=1), data.values(part))
    for written in tmp_path.iterdir():  # gigabytes
        written.unlink()
