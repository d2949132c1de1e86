"""smallNORB from six files of its published form."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unweave.data import FactorSpace
from unweave.data.smallnorb import PARTS, SmallNORB
from unweave.errors import UsageError

FULL = SmallNORB.factors
GRID = FactorSpace(FULL.names, (5, 10, 1, 2, 1))
INSTANCES = {PARTS[0]: [4, 6, 7, 8, 9], PARTS[1]: [0, 1, 2, 3, 5]}
BYTES, INTEGERS = 0x1E3D4C55, 0x1E3D4C54


def header(magic: int, shape: tuple[int, ...]) -> bytes:
    padded = shape + (1,) * (3 - len(shape))
    return struct.pack(f"<{2 + len(padded)}i", magic, len(shape), *padded)


def matrix(values: np.ndarray) -> bytes:
    values = values if values.dtype == np.uint8 else values.astype("<i4")
    return header(BYTES if values.dtype == np.uint8 else INTEGERS, values.shape) + values.tobytes()


def factors_of(part: str, grid: FactorSpace) -> np.ndarray:
    """The factors of a part's rows, which come in no order."""
    factors = grid.from_index(np.arange(len(grid)))
    return np.random.default_rng(0).permutation(factors[np.isin(factors[:, 1], INSTANCES[part])])


def labels_of(factors: np.ndarray) -> dict[str, bytes]:
    return {"cat": matrix(factors[:, 0]), "info": matrix(factors[:, 1:] * [1, 1, 2, 1])}


def views_of(part: str) -> np.ndarray:
    seed = PARTS.index(part)
    return np.random.default_rng(seed).integers(0, 256, size=(len(GRID) // 2, 2, 96, 96), dtype=np.uint8)


def write(folder: Path, changes: dict[tuple[str, str], bytes] | None = None, zipped: bool = False) -> Path:
    for part in PARTS:
        contents = {"dat": matrix(views_of(part)), **labels_of(factors_of(part, GRID))}
        for kind, content in contents.items():
            content = (changes or {}).get((part, kind), content)
            if zipped:
                (folder / f"{part}-{kind}.mat.gz").write_bytes(gzip.compress(content, 1))
            else:
                (folder / f"{part}-{kind}.mat").write_bytes(content)
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SmallNORB, "factors", GRID)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("zipped", [False, True])
def test_the_left_views_are_put_where_their_factors_say(zipped: bool, tmp_path: Path):
    data = SmallNORB(path=str(write(tmp_path, zipped=zipped)))
    for part in PARTS:
        images = data.images(data.factors.to_index(factors_of(part, GRID)))
        for image, view in zip(images, views_of(part)[:, 0], strict=True):
            expected = Image.fromarray(view).resize((64, 64), Image.Resampling.LANCZOS)
            np.testing.assert_array_equal(image[..., 0], np.asarray(expected))
    assert data.shape == (64, 64, 1)
    assert not data.binary


@pytest.mark.usefixtures("small")
def test_the_files_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    first = SmallNORB(path=str(write(tmp_path))).images(range(100))
    with monkeypatch.context() as patch:
        patch.setattr(SmallNORB, "_images", None)
        again = SmallNORB(path=str(tmp_path / f"{PARTS[1]}-info.mat"))  # any of the six
    np.testing.assert_array_equal(again.images(range(100)), first)


def test_the_grid():
    assert FULL.names == ("category", "instance", "elevation", "azimuth", "lighting")
    assert FULL.sizes == (5, 10, 9, 18, 6)
    assert len(FULL) == 48_600


@pytest.mark.slow
def test_all_files_in_full(tmp_path: Path):
    for part in PARTS:
        factors = factors_of(part, FULL)
        for kind, content in labels_of(factors).items():
            (tmp_path / f"{part}-{kind}.mat").write_bytes(content)
        with (tmp_path / f"{part}-dat.mat").open("wb") as file:  # black but for one grey bar: the rest takes no room
            start = file.write(header(BYTES, (24_300, 2, 96, 96)))
            for row, (category, instance, elevation, azimuth, lighting) in enumerate(factors):
                file.seek(start + row * 2 * 96 * 96)
                bar = np.repeat([50 * category, 25 * instance, 25 * elevation, 10 * azimuth, 40 * lighting, 0], 16)
                file.write(np.tile(bar.astype(np.uint8), 12).tobytes())
            file.truncate(start + 24_300 * 2 * 96 * 96)
    data = SmallNORB(path=str(tmp_path))
    assert len(data) == 48_600
    for part in np.array_split(np.arange(len(data)), 20):
        bars = data.images(part)[:, 1, 5:50:10, 0]
        np.testing.assert_array_equal(bars, data.values(part) * [50, 25, 25, 10, 40])
    (tmp_path / "smallnorb.images.npy").unlink()


MISTAKES = {
    "rows": ("dat", lambda: matrix(views_of(PARTS[0])[1:]), "it has 49 rows instead of 50"),
    "shape": ("dat", lambda: matrix(views_of(PARTS[0])[..., :48]), r"it has the shape \(50, 2, 96, 48\)"),
    "type": ("cat", lambda: matrix(np.zeros(50, np.uint8)), "it is of type uint8 instead of int32"),
    "short": ("dat", lambda: matrix(views_of(PARTS[0]))[:-1], "it ends too early"),
    "long": ("info", lambda: labels_of(factors_of(PARTS[0], GRID))["info"] + b"!", "longer than its header says"),
    "none": ("cat", lambda: b"<html>not found</html>", "not a matrix in NORB's format"),
    "empty": ("cat", lambda: b"", "it ends too early"),
    "header": ("cat", lambda: matrix(np.zeros(50))[:12], "it ends too early"),
    "dimensions": ("cat", lambda: struct.pack("<4i", INTEGERS, 2**30, 5, 5), "not a matrix in NORB's format"),
    "factor": ("cat", lambda: matrix(np.full(50, 5)), "'category' must lie between 0 and 4"),
    "azimuth": ("info", lambda: matrix(np.tile([0, 0, 1, 0], (50, 1))), "an azimuth is odd"),
    "twice": ("info", lambda: labels_of(factors_of(PARTS[1], GRID))["info"], "of factors exactly once"),
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", MISTAKES)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_with_other_content(kind: str, zipped: bool, tmp_path: Path):
    file, content, message = MISTAKES[kind]
    write(tmp_path, {(PARTS[0], file): content()}, zipped)
    refused(tmp_path, message, "" if kind in ("twice", "factor") else f"{PARTS[0]}-{file}.mat")


@pytest.mark.usefixtures("small")
def test_a_damaged_archive(tmp_path: Path):
    file = write(tmp_path, zipped=True) / f"{PARTS[1]}-dat.mat.gz"
    whole = bytearray(file.read_bytes())
    for length in (2, 30, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        refused(tmp_path, "damaged or incomplete|too early", file.name)
    whole[-6] ^= 0xFF  # the check sum
    file.write_bytes(whole)
    refused(tmp_path, "damaged or incomplete", file.name)


@pytest.mark.usefixtures("small")
def test_a_missing_file(tmp_path: Path):
    (write(tmp_path) / f"{PARTS[1]}-cat.mat").unlink()
    refused(tmp_path, f"there is no {PARTS[1]}-cat.mat.gz in", "")


def refused(folder: Path, message: str, file: str) -> None:
    before = set(os.listdir(folder))
    with pytest.raises(UsageError, match=message) as caught:
        SmallNORB(path=str(folder))
    assert "\n" not in str(caught.value)
    assert file in str(caught.value)
    assert set(os.listdir(folder)) == before
