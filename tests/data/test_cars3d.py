"""Cars3D from an archive of its published form."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from unweave.data import FactorSpace
from unweave.data.cars3d import Cars3D
from unweave.errors import UsageError

FULL = Cars3D.factors
FILE = "nips2015-analogy-data.tar.gz"


def car(number: int) -> np.ndarray:
    """Views (128, 128, 3, 24, 4): above the number, azimuth and elevation as colours; below black and white."""
    views = np.zeros((128, 128, 3, 24, 4), np.uint8)
    views[:64, :, 0] = number
    views[:64, :, 1] = 10 * np.arange(24)[:, None]
    views[:64, :, 2] = 60 * np.arange(4)
    views[64:, 64:] = 255
    return views


def mat(**arrays: np.ndarray) -> bytes:
    content = io.BytesIO()
    savemat(content, arrays, do_compression=True)
    return content.getvalue()


def name_of(number: int) -> str:
    return f"data/cars/car_{number:03d}_mesh.mat"


def write(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture(scope="session")
def three() -> dict[str, bytes]:
    return {name_of(number): mat(im=car(number)) for number in (2, 0, 1)}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cars3D, "factors", FactorSpace(FULL.names, (4, 24, 3)))


def test_the_grid():
    assert FULL.names == ("elevation", "azimuth", "object")
    assert FULL.sizes == (4, 24, 183)
    assert len(FULL) == 17_568


@pytest.mark.usefixtures("small")
def test_cars_are_numbered_by_name_and_other_files_ignored(three: dict[str, bytes], tmp_path: Path):
    others = {"data/cars/list.txt": b"", "data/other/car.mat": b"", "data/cars/._x.mat": b""}
    write(tmp_path / FILE, others | three)
    check_all(Cars3D(path=str(tmp_path / FILE)))


@pytest.mark.slow
def test_a_full_archive(tmp_path: Path):
    numbers = np.random.default_rng(0).permutation(183)
    write(tmp_path / FILE, {name_of(number): mat(im=car(number)) for number in numbers})
    data = Cars3D(path=str(tmp_path))
    assert len(data) == 17_568
    check_all(data)


def check_all(data: Cars3D) -> None:
    """Every image shows its factors, upright and not mirrored."""
    for part in np.array_split(np.arange(len(data)), 8):
        elevation, azimuth, number = data.values(part).T
        images = data.images(part)
        expected = np.stack([number, 10 * azimuth, 60 * elevation], axis=1)
        np.testing.assert_array_equal(images[:, 10, 50], expected)
        np.testing.assert_array_equal(images[:, 28, 3], expected)
        assert not images[:, 36:, :28].any()
        assert (images[:, 36:, 36:] == 255).all()


@pytest.mark.usefixtures("small")
def test_views_are_resized_as_pillow_does(tmp_path: Path):
    noise = np.random.default_rng(0).integers(0, 256, size=(128, 128, 3, 24, 4), dtype=np.uint8)
    write(tmp_path / FILE, {name_of(number): mat(im=noise if number == 1 else car(number)) for number in range(3)})
    data = Cars3D(path=str(tmp_path))
    for elevation, azimuth in [(0, 0), (3, 23), (2, 7)]:
        view = Image.fromarray(noise[..., azimuth, elevation]).resize((64, 64), Image.Resampling.LANCZOS)
        image = data.images(data.factors.to_index([[elevation, azimuth, 1]]))[0]
        np.testing.assert_array_equal(image, np.asarray(view))


@pytest.mark.usefixtures("small")
def test_the_archive_is_read_once(three: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path / FILE, three)
    first = Cars3D(path=str(tmp_path)).images(range(100))
    monkeypatch.setattr(Cars3D, "_images", None)
    np.testing.assert_array_equal(Cars3D(path=str(tmp_path)).images(range(100)), first)


@pytest.mark.usefixtures("small")
def test_an_archive_with_other_content(three: dict[str, bytes], tmp_path: Path):
    content = three[name_of(1)]
    for changes, message in [
        ({name_of(7): content}, "it holds 4 cars instead of 3"),
        ({name_of(1): mat(im=car(1)[:64])}, r"'im' in car_001_mesh.mat has the shape \(64, 128, 3, 24, 4\)"),
        ({name_of(1): mat(im=car(1) / 1.0)}, "type float64"),
        ({name_of(1): mat(views=car(1))}, "car_001_mesh.mat is damaged, or not a MATLAB file with an array 'im'"),
        ({name_of(1): content[: len(content) // 2]}, "car_001_mesh.mat is damaged"),
        ({name_of(1): b"nothing"}, "car_001_mesh.mat is damaged"),
        ({name_of(1): bytes(50_000_001)}, "too large"),
    ]:
        write(tmp_path / FILE, three | changes)
        refused(tmp_path, message)


@pytest.mark.usefixtures("small")
def test_an_archive_that_is_damaged_or_none(three: dict[str, bytes], tmp_path: Path):
    whole = write(tmp_path / FILE, three).read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 20):
        (tmp_path / FILE).write_bytes(whole[:length])
        refused(tmp_path, "damaged, incomplete or not a tar.gz archive")
    (tmp_path / FILE).write_bytes(b"<html>not found</html>" * 100)
    refused(tmp_path, "not a tar.gz archive")


@pytest.mark.usefixtures("small")
def test_a_link_in_the_archive_is_not_followed(three: dict[str, bytes], tmp_path: Path):
    write(tmp_path / FILE, {name: three[name] for name in list(three)[:2]})
    with tarfile.open(tmp_path / FILE, "w:gz") as archive:
        link = tarfile.TarInfo(name_of(9))
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    refused(tmp_path, "it holds 0 cars instead of 3")


def refused(folder: Path, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Cars3D(path=str(folder))
    assert "\n" not in str(caught.value)
    assert os.listdir(folder) == [FILE]
