"""Images without factors: arrays, npz files and folders, whole and broken ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from unweave.data import FactorSpace, Table, as_dataset, load
from unweave.data.ceilings import ceilings
from unweave.data.parquet import export_parquet
from unweave.data.sampling import draw_triplets
from unweave.data.table import require_classes, require_factors, require_grid
from unweave.data.table_files import DataNote
from unweave.errors import UsageError

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)


def write(folder: Path, images: np.ndarray = IMAGES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{number}.png")
    return folder


def test_an_array_is_a_data_set():
    data = as_dataset(IMAGES)
    assert data.factors == FactorSpace((), ())
    assert (data.is_labelled, data.is_grid, data.is_function) == (False, False, False)
    assert data.values([0, 5]).shape == (2, 0)
    assert (len(data), data.shape) == (6, (8, 8, 3))
    np.testing.assert_array_equal(data.images([5, 0]), IMAGES[[5, 0]])
    assert Table(IMAGES).digest == data.options["digest"] != Table(IMAGES[::-1]).digest
    found = ceilings(Table(np.concatenate([IMAGES, IMAGES[:2]])))
    assert found is not None
    assert (found.images, found.distinct, found.factors) == (8, 6, ())


def test_what_needs_factors_says_so():
    for require in (require_factors, require_classes, require_grid):
        with pytest.raises(UsageError, match=r"^this needs factors, but table has none$"):
            require(Table(IMAGES), "this")
    with pytest.raises(UsageError, match="a triplet ordered by factors needs factors"):
        draw_triplets(Table(IMAGES), 2, RNG)
    real = Table(IMAGES, np.linspace(0, 1, 12).reshape(6, 2), names=["a", "b"])
    with pytest.raises(UsageError, match="this needs factors that are classes; those of table hold real numbers: a, b"):
        require_grid(real, "this")


def test_real_factors_stay_numbers():
    factors = [[0, 0.5], [1, 2.25], [2, 0.5], [3, -1], [0, 0], [1, 1]]
    data = Table(IMAGES, factors, names=["kind", "age"])
    assert data.continuous == ("age",)
    assert data.values(np.arange(6)).tolist() == factors
    assert data.factors == FactorSpace(("kind", "age"), (4, 5))
    assert not data.is_grid
    assert data.digest != Table(IMAGES, np.floor(factors).astype(int) + 1, names=["kind", "age"]).digest
    found = ceilings(data)
    assert found is not None
    assert [limit.accuracy for limit in found.factors] == [1.0, 1.0]
    whole = Table(IMAGES, np.array(factors)[:, :1])
    assert (whole.continuous, whole.values([3]).dtype) == ((), np.int64)


def test_an_npz_and_a_folder_hold_the_same_set_as_an_array(tmp_path: Path):
    np.savez(tmp_path / "my.npz", images=IMAGES)
    paths = [tmp_path / "my.npz", write(tmp_path / "pictures")]
    for path in paths:
        data = load(path)
        assert not data.is_labelled
        assert data.options["digest"] == Table(IMAGES).digest
        assert load(**dict[str, Any](data.description)).description == data.description
    assert load(paths[1], size=4).shape == (4, 4, 3)


@pytest.mark.parametrize("factors", [None, [[n / 4, n] for n in range(6)]])
def test_what_is_exported_comes_back(tmp_path: Path, factors):
    data = Table(IMAGES, factors)
    export_parquet(data, tmp_path / "out")
    again = load(tmp_path / "out")
    assert (again.options["digest"], again.continuous) == (data.digest, data.continuous)
    page = (tmp_path / "out" / "README.md").read_text()
    assert ("They have no labels" in page) == (factors is None)
    assert ("`factor0`: real numbers" in page) == (factors is not None)


def test_a_folder_is_searched_below_but_not_in_circles(tmp_path: Path):
    write(tmp_path / "b" / "inner", IMAGES[3:])
    write(tmp_path / "a", IMAGES[:3])
    write(tmp_path / ".hidden")
    (tmp_path / "a" / "._0.png").write_bytes(b"what a Mac leaves behind")
    (tmp_path / "a" / "notes.txt").write_text("no image")
    os.symlink(tmp_path, tmp_path / "a" / "again")
    np.testing.assert_array_equal(load(tmp_path).images(np.arange(6)), IMAGES)
    os.symlink("loop.png", tmp_path / "loop.png")
    with pytest.raises(UsageError, match=r"^cannot read '.*loop\.png': .*; corrupt=skip leaves such files out$"):
        load(tmp_path)
    with pytest.warns(DataNote, match=r"left out images that cannot be read: 1 in '.*': cannot read '.*loop\.png'"):
        assert len(load(tmp_path, corrupt="skip")) == 6


def test_mixed_sizes_need_a_size(tmp_path: Path):
    for number in range(6):
        sides = 20 + number, 40 - number
        Image.fromarray(RNG.integers(0, 256, (*sides, 3), dtype=np.uint8)).save(tmp_path / f"{number}.png")
    message = r"differ in size \(6 sizes; '.*/0\.png' has 40×20 pixels, '.*/5\.png' has 35×25 pixels\); give size=64"
    with pytest.raises(UsageError, match=message):
        load(tmp_path)
    assert load(tmp_path, size=16).shape == (16, 16, 3)


def test_sizes_with_as_many_pixels_are_told_apart(tmp_path: Path):
    for number, sides in enumerate([(10, 20), (20, 10)]):
        Image.fromarray(np.zeros(sides, np.uint8)).save(tmp_path / f"{number}.png")
    with pytest.raises(UsageError, match=r"2 sizes; '.*0\.png' has 20×10 pixels, '.*1\.png' has 10×20 pixels"):
        load(tmp_path)


def test_broken_images_are_refused_by_name_or_skipped_with_a_count(tmp_path: Path):
    folder = write(tmp_path / "pictures")
    whole = (folder / "2.png").read_bytes()
    (folder / "2.png").write_bytes(whole[: len(whole) // 2])  # its header is whole
    truncated = r"^'.*2\.png' cannot be read as an image, or is damaged; corrupt=skip leaves such files out$"
    with pytest.raises(UsageError, match=truncated):
        load(folder)
    for number in (0, 3, 4, 5):
        (folder / f"{number}.png").write_bytes(b"no image")
    with pytest.raises(UsageError, match=r"^4 of 6 images cannot be used: '.*0\.png' .*; '.*4\.png' .*; and 1 more"):
        load(folder)
    with pytest.warns(DataNote, match=r"cannot be read: 5 in '.*pictures': '.*0\.png' .*; and 2 more"):
        data = load(folder, corrupt="skip")
    np.testing.assert_array_equal(data.images([0]), IMAGES[1:2])
    assert data.options["corrupt"] == "skip"
    load(**dict[str, Any](data.description))  # whoever has the digest knows the notes
    (folder / "1.png").write_bytes(b"")
    with pytest.raises(UsageError, match=r"^6 of 6 images cannot be used: .* and 3 more$"):
        load(folder, corrupt="skip")
    with pytest.raises(UsageError, match="corrupt must be one of refuse, skip, not 'ignore'"):
        load(folder, corrupt="ignore")


def test_channels_by_what_the_images_are(tmp_path: Path):
    grey = IMAGES[..., 0]
    assert load(write(tmp_path / "grey", grey)).shape == (8, 8, 1)
    mixed = write(tmp_path / "mixed", grey)
    Image.fromarray(np.concatenate([IMAGES[0], grey[0, ..., None]], axis=2)).save(mixed / "0.png")  # RGBA
    Image.fromarray(IMAGES[1]).quantize(4).save(mixed / "1.png")  # a palette
    data = load(mixed)
    assert data.shape == (8, 8, 3)
    np.testing.assert_array_equal(data.images([0]), IMAGES[:1])  # transparency is left out
    np.testing.assert_array_equal(data.images([2]), grey[2:3, ..., None].repeat(3, axis=3))
    Image.fromarray(np.full((8, 8), 40_000, dtype=np.uint16)).save(mixed / "2.png")
    with pytest.raises(UsageError, match=r"2\.png' has pixels of kind 'I;16'; save it with 8 bits per channel"):
        load(mixed)


def test_one_image_and_equal_images(tmp_path: Path):
    one = load(write(tmp_path / "one", IMAGES[:1]))
    assert (len(one), one.sample(3, RNG).tolist()) == (1, [0, 0, 0])
    equal = Table(np.repeat(IMAGES[:1], 5, axis=0))
    found = ceilings(equal)
    assert found is not None
    assert found.distinct == 1


@pytest.mark.parametrize("content", [{}, {"a.txt": "text"}, {"a.md": "text", "b": ""}])
def test_a_folder_without_images(tmp_path: Path, content: dict[str, str]):
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    for name in (str(tmp_path), f"folder:path={tmp_path}"):
        with pytest.raises(UsageError, match=r"the folder '.*' (holds|has) no images \(.*\.png, "):
            load(name)


def test_reading_reports_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("unweave.data.encoded.REPORTED", 2)
    seen = []
    load(write(tmp_path), on_progress=lambda *told: seen.append(told))
    assert seen == [("reading images", done, 6) for done in (0, 2, 4)]


def test_reading_holds_little_more_than_the_images(tmp_path: Path):
    import tracemalloc

    write(tmp_path, RNG.integers(0, 256, (40, 64, 64, 3), dtype=np.uint8))
    load(tmp_path, size=256)  # what is imported on first use
    tracemalloc.start()
    data = load(tmp_path, size=256)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert data.nbytes < peak < data.nbytes + 4 * 2**22 + 2**20
