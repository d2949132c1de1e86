"""Data sets out of a user's own files, whole and broken ones."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from PIL import Image

from unweave.data import FactorSpace, load
from unweave.data.folder import Attributes, ImageFolder
from unweave.data.own import data_of_path
from unweave.data.parquet import Parquet
from unweave.data.table_files import DataNote, Npz
from unweave.errors import UsageError

GRID = FactorSpace(("shape", "x"), (2, 3))
FACTORS = GRID.from_index(np.arange(6))[::-1]
IMAGES = np.random.default_rng(0).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)


def write_npz(path: Path, **given: Any) -> Path:
    content = {"images": IMAGES, "factors": FACTORS, **given}
    arrays = {name: np.asarray(array) for name, array in content.items() if array is not None}
    np.savez_compressed(path, **arrays)  # pyright: ignore[reportArgumentType]
    return path


def write_folder(folder: Path, text: str | None = None, images: np.ndarray = IMAGES) -> Path:
    """Write images 0.png, 1.png, … and a CSV of their factors."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(images):
        Image.fromarray(image[..., 0] if image.shape[2] == 1 else image).save(folder / f"{number}.png")
    rows = [f"{number}.png,{shape},{x}" for number, (shape, x) in enumerate(FACTORS[: len(images)])]
    (folder / "factors.csv").write_text("file,shape,x\n" + "\n".join(rows) + "\n" if text is None else text)
    return folder


def png(image: np.ndarray) -> bytes:
    buffer = BytesIO()
    Image.fromarray(image).save(buffer, "PNG")
    return buffer.getvalue()


def write_parquet(path: Path, **columns: object) -> Path:
    pictures = [{"bytes": png(image), "path": f"{number}.png"} for number, image in enumerate(IMAGES)]
    content = {"image": pictures, "shape": FACTORS[:, 0], "x": FACTORS[:, 1].astype(np.int8), **columns}
    path.parent.mkdir(parents=True, exist_ok=True)
    polars.DataFrame({name: column for name, column in content.items() if column is not None}).write_parquet(path)
    return path


def one_line(error: pytest.ExceptionInfo[UsageError]) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("npz", lambda folder: write_npz(folder / "my.npz", names=["shape", "x"])),
        ("folder", lambda folder: write_folder(folder / "pictures")),
        ("folder", lambda folder: write_folder(folder / "pictures") / "factors.csv"),
        ("parquet", lambda folder: write_parquet(folder / "some" / "train.parquet").parent),
        ("parquet", lambda folder: write_parquet(folder / "train.parquet")),
    ],
    ids=["npz", "folder", "list", "parquet-folder", "parquet-file"],
)
def test_images_and_factors_come_back(tmp_path: Path, name: str, write: Callable[[Path], Path]):
    path = write(tmp_path)
    assert data_of_path(str(path)) == name
    data = load(f"{name}:path={path}")
    assert (data.name, data.factors, data.shape, len(data)) == (name, GRID, (8, 8, 3), 6)
    assert data.is_grid
    np.testing.assert_array_equal(data.images(np.arange(6)), IMAGES[::-1])
    np.testing.assert_array_equal(data.values([4]), [[1, 1]])

    again = load(**json.loads(json.dumps(data.description)))
    assert again.description == data.description
    assert data.options["path"] == str(path)

    assert load(str(path)).description == data.description  # a path says enough
    kept = load(f"{path}-restricted:keep=x=2")
    assert kept.description == {**data.description, "name": f"{name}-restricted", "keep": "x=2", "part": "train"}

    small = load(f"{path}:size=4")
    assert small.shape == (4, 4, 3)
    expected = [np.asarray(Image.fromarray(image).resize((4, 4), Image.Resampling.BILINEAR)) for image in IMAGES[::-1]]
    np.testing.assert_array_equal(small.images(np.arange(6)), expected)
    assert small.options["size"] == 4


def test_a_changed_file_is_not_taken_for_the_old_one(tmp_path: Path):
    data = load("npz", path=str(write_npz(tmp_path / "my.npz")))
    write_npz(tmp_path / "my.npz", images=IMAGES[::-1])
    with pytest.raises(UsageError, match=f"other images or factors: its digest is .*, not {data.options['digest']}"):
        load(**json.loads(json.dumps(data.description)))


def test_paths_are_the_same_from_every_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_npz(tmp_path / "my.npz")
    monkeypatch.chdir(tmp_path)
    assert Npz(path="my.npz").options["path"] == str(tmp_path / "my.npz")


@pytest.mark.parametrize("kind", [Npz, ImageFolder, Attributes, Parquet])
def test_a_missing_path(kind: type[Npz], tmp_path: Path):
    with pytest.raises(UsageError, match=f"{kind.name} needs a path: {kind.name}:path={kind.example}"):
        kind()
    with pytest.raises(UsageError, match=r"there is no file or folder '.*nothing'"):
        kind(path=str(tmp_path / "nothing"))


@pytest.mark.parametrize("size", [-1, 4097, 1.5, True, "64"])
def test_a_bad_size(size, tmp_path: Path):
    with pytest.raises(UsageError, match="size must be 0, to leave"):
        Npz(path=str(write_npz(tmp_path / "my.npz")), size=size)


def test_what_a_path_is(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "celeba").mkdir()
    (tmp_path / "celeba" / "list_attr_celeba.txt").write_text("")
    (tmp_path / "notes.md").write_text("")
    assert data_of_path(str(tmp_path / "celeba")) == "attributes"
    assert data_of_path(str(tmp_path / "celeba" / "list_attr_celeba.txt")) == "attributes"
    assert data_of_path("shapes2d") is None
    assert data_of_path(str(tmp_path / "nothing.npz-restricted")) is None
    for name in ("nothing.npz", "nothing/"):
        with pytest.raises(UsageError, match=f"there is no file or folder '.*{name}'"):
            data_of_path(f"{tmp_path}/{name}")
    with pytest.raises(UsageError, match="is not a data set: it must be a file of images"):
        data_of_path(str(tmp_path / "notes.md"))
    with pytest.raises(UsageError, match=r"the folder '.*empty' holds no images \(\.png, "):
        data_of_path(str(tmp_path / "empty"))


# npz ---------------------------------------------------------------------------------------------------------


class Bomb:
    """Unpickling this leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return (Path.touch, (self.trace,))


def test_object_arrays_are_refused_and_never_unpickled(tmp_path: Path):
    trace = tmp_path / "trace"
    bombs = np.array([Bomb(trace)], dtype=object)
    for name in ("images", "factors", "names"):
        path = write_npz(tmp_path / f"{name}.npz", **{name: bombs})
        with pytest.raises(UsageError, match="cannot be read: it holds Python objects, which are refused"):
            Npz(path=str(path))
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps(bombs))
    with pytest.raises(UsageError, match="is not a complete npz file"):
        Npz(path=str(tmp_path / "pickle.npz"))
    assert not trace.exists()


def test_a_truncated_or_garbled_npz_is_refused_wherever_it_is_cut(tmp_path: Path):
    whole = write_npz(tmp_path / "whole.npz").read_bytes()
    broken = tmp_path / "broken.npz"
    for length in range(0, len(whole), len(whole) // 40):
        broken.write_bytes(whole[:length])
        with pytest.raises(UsageError, match=r"broken\.npz' is not a complete npz file"):
            Npz(path=str(broken))
    for place in range(60, 900, 40):  # in the compressed bytes of the images
        broken.write_bytes(whole[:place] + bytes(b ^ 255 for b in whole[place : place + 20]) + whole[place + 20 :])
        with pytest.raises(UsageError, match=r"broken\.npz'") as caught:
            Npz(path=str(broken))
        one_line(caught)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"images": None}, "has no array 'images'; it has: factors"),
        ({"images": IMAGES / 255}, "my.npz': images must be uint8, not float64; convert"),
        ({"factors": FACTORS[:4]}, "each of the 6 images, not 4 rows"),
        ({"factors": np.where(FACTORS == 2, np.nan, FACTORS)}, "factors must be finite numbers, but column 1"),
        ({"names": [1, 2]}, "'names' in '.*' must be a list of texts"),
        ({"names": ["x"]}, "names must be a list of 2"),
    ],
)
def test_wrong_arrays(tmp_path: Path, arrays: dict, message: str):
    path = write_npz(tmp_path / "my.npz", **arrays)
    for size in (0, 4):
        with pytest.raises(UsageError, match=message) as caught:
            Npz(path=str(path), size=size)
        one_line(caught)


def test_names_as_bytes(tmp_path: Path):
    path = write_npz(tmp_path / "my.npz", names=np.array([b"shape", b"x"]))
    assert Npz(path=str(path)).factors.names == ("shape", "x")


def test_more_than_fits_into_memory_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("unweave.data.encoded.LIMIT", 1000)
    monkeypatch.setattr("unweave.data.table_files.LIMIT", 0)
    large = np.zeros((10, 32, 32), np.uint8)
    path = write_npz(tmp_path / "my.npz", images=large, factors=np.zeros((10, 1), int))
    with pytest.raises(UsageError, match=r"'images' in '.*' takes 10\.4 kB, more than"):
        Npz(path=str(path))
    with pytest.raises(UsageError, match=r"6 images of 8×8×3 need 1\.2 kB of memory, .*smaller with size=64"):
        ImageFolder(path=str(write_folder(tmp_path / "pictures")))


# folders -----------------------------------------------------------------------------------------------------


def test_words_are_numbered_in_their_order_and_decimals_are_kept(tmp_path: Path):
    rows = ["0.png,heart,10.0,7", "1.png,square,2.5,3", "2.png,heart,-1.0,0"]
    text = "\ufefffile,kind,scale,x\n" + "\n\n".join(rows) + "\n"
    data = ImageFolder(path=str(write_folder(tmp_path, text, IMAGES[:3])))
    assert data.values(np.arange(3)).tolist() == [[0, 10.0, 7], [1, 2.5, 3], [0, -1.0, 0]]
    assert data.continuous == ("scale",)
    assert data.factors == FactorSpace(("kind", "scale", "x"), (2, 3, 8))
    assert data.levels == {"kind": ("heart", "square")}
    assert not data.is_grid


def test_grey_images_have_one_channel_and_mixed_ones_three(tmp_path: Path):
    grey = ImageFolder(path=str(write_folder(tmp_path / "grey", images=IMAGES[..., :1])))
    assert grey.shape == (8, 8, 1)
    np.testing.assert_array_equal(grey.images([5, 0]), IMAGES[[0, 5], ..., :1])
    folder = write_folder(tmp_path / "mixed")
    Image.fromarray(IMAGES[2, ..., 0]).save(folder / "2.png")
    palette = Image.new("P", (8, 8), 3)
    palette.putpalette([*[0] * 9, 200, 100, 50])
    palette.save(folder / "3.png", transparency=bytes([255, 0, 10, 90]))
    mixed = ImageFolder(path=str(folder)).images(np.arange(6))[::-1]
    np.testing.assert_array_equal(mixed[2], IMAGES[2, ..., :1].repeat(3, axis=2))
    np.testing.assert_array_equal(mixed[3], np.full((8, 8, 3), (200, 100, 50)))
    np.testing.assert_array_equal(mixed[4], IMAGES[4])


def test_the_middle_square_is_taken(tmp_path: Path):
    wide = np.zeros((6, 8, 24, 3), np.uint8)
    wide[:, :, 8:16] = 255
    data = ImageFolder(path=str(write_folder(tmp_path, images=wide)), size=4)
    assert (data.images(np.arange(6)) == 255).all()
    assert data.shape == (4, 4, 3)


def test_files_may_lie_in_a_folder_below_the_list(tmp_path: Path):
    folder = write_folder(tmp_path / "set" / "pictures")
    (folder / "factors.csv").rename(tmp_path / "set" / "factors.csv")
    data = ImageFolder(path=str(tmp_path / "set"))
    np.testing.assert_array_equal(data.images(np.arange(6)), IMAGES[::-1])


TWO = IMAGES[:2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"factors\.csv' is empty"),
        ("\n\n", r"factors\.csv' is empty"),
        ("file,x\n", "a header, but no rows"),
        ("picture,x\n0.png,0\n1.png,1\n", "has no column 'file'; its columns are: picture, x; factors=none loads"),
        (
            "file;x\n0.png;0\n1.png;1\n",
            "its columns are: file;x; factors=none loads the folder's images without it, vectors:path=",
        ),
        ("file,x,x\n0.png,0,0\n1.png,1,1\n", "need names that differ: file, x, x"),
        ("file,x,\n0.png,0,0\n1.png,1,1\n", "need names that differ"),
        ("file,x\n0.png,0\n1.png\n", r"line 3 of '.*factors\.csv' has 1 cells, but there are 2 columns"),
        ("file,x\n0.png,0\n1.png,1,2\n", "line 3 of .* has 3 cells, but there are 2 columns"),
        ("file,x\n0.png,0\n1.png,\n", "line 3 of .* has no 'x'"),
        ("file,x\n0.png,0\n,1\n", "line 3 of .* names no file"),
        ("file,x\n0.png,0\n\n1.png,big\n", "line 4 of .*: 'x' is 'big', which is not a number, unlike the cells above"),
        ("file,x\n0.png,0.5\n1.png,NaN\n", "line 3 of .*: 'x' is 'NaN', which is not a number, .*; .* factors=A,B"),
        ("file,x\n0.png,0.5\n1.png,1e999\n", "line 3 of .*: 'x' is '1e999', which is too large for a number"),
        ("file,x\n0.png,big\n1.png,nan\n", "line 3 of .*: 'x' is 'nan', which is not a value"),
        ("file,x\n8.png,0\n9.png,1\n", r"none of the images in '.*factors\.csv' is in '.*'; the first is '8\.png'"),
        ("file,x\n0.png,big\n1.png,1\n", "line 3 of .*: 'x' is '1', which is a number, unlike the cells above"),
        ("file,x\n0.png,0\n0.png,1\n", "has '0.png' twice, in lines 2 and 3"),
        (
            "file,x\n0.png,0\n../,1\n",
            r"'\.\./' \(line 3 of '.*\.csv'\) is outside '.*'; list only files in it",
        ),
        ("file,x\n0.png,0\n/dev/zero,1\n", "'/dev/zero' .* is outside "),
        ("file,x\n0.png,0\n../../0.png,1\n", "'../../0.png' .* is outside "),
        ('file,"x\ny"\n0.png,0\n1.png,1\n', r"the name of a factor is one line of plain text, not 'x\\ny'"),
        ('file,x\n0.png,"0\n1.png,1\n', "is not a valid CSV file"),
        ("file,x\n0.png,\x00\n1.png,1\n", r"factors\.csv'"),
    ],
)
def test_a_faulty_list_gets_one_clear_line(tmp_path: Path, text: str, message: str):
    with pytest.raises(UsageError, match=message) as caught:
        ImageFolder(path=str(write_folder(tmp_path, text, TWO)))
    assert "\n" not in str(caught.value)


def test_a_list_that_is_no_text(tmp_path: Path):
    folder = write_folder(tmp_path)
    (folder / "factors.csv").write_bytes(b"file,x\n\xff\xfe\n")
    with pytest.raises(UsageError, match=r"factors\.csv' is not UTF-8 text"):
        ImageFolder(path=str(folder))


def test_a_folder_needs_one_list(tmp_path: Path):
    folder = write_folder(tmp_path / "pictures")
    (folder / "b.csv").write_text("file,x\n")
    with pytest.raises(UsageError, match=r"several lists \(b\.csv, factors\.csv\); choose one: path=.*b\.csv"):
        ImageFolder(path=str(folder))
    for file in folder.glob("*.csv"):
        file.unlink()
    with pytest.raises(UsageError, match=r"there is no CSV in .* to take factors=x from"):
        ImageFolder(path=str(folder), factors="x")
    with pytest.raises(UsageError, match=r"holds no list of its images \(list_attr\*\.txt or"):
        Attributes(path=str(folder))


def test_faulty_images_are_named_with_their_line(tmp_path: Path):
    noise = png(np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8))
    wide = png(np.random.default_rng(0).integers(0, 256, (8, 9, 3), dtype=np.uint8))
    deep = BytesIO()
    Image.fromarray(np.full((8, 8), 40_000, dtype=np.uint16)).save(deep, "PNG")
    broken = r"'3\.png' \(line 5 of '.*factors\.csv'\) cannot be read as an image, or is damaged"
    for content, size, message in [
        (b"this is no image", 0, broken),
        (b"", 0, broken),
        (noise[:3000], 8, broken),
        (noise[:60] + b"\xff" * 40 + noise[100:], 8, broken),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n", 0, broken),
        (deep.getvalue(), 0, r"'3\.png' \(line 5 .*\) has pixels of kind 'I(;16)?'; save it with 8 bits"),
        (wide, 0, r"differ in size \(2 sizes; '0\.png' .* has 8×8 pixels, '3\.png' .* has 9×8 pixels\); give size=64"),
    ]:
        folder = write_folder(tmp_path)
        (folder / "3.png").write_bytes(content)
        with pytest.raises(UsageError, match=message) as caught:
            ImageFolder(path=str(folder), size=size)
        one_line(caught)


def test_an_image_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = write_folder(tmp_path)
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 50)
    with pytest.raises(UsageError, match="cannot be read as an image"):
        ImageFolder(path=str(folder))


# attributes --------------------------------------------------------------------------------------------------

CELEBA = "3\nBald Young  \n0.jpg -1  1 \n1.jpg  1 -1\n2.jpg -1 -1\n"


def write_attributes(folder: Path, text: str, name: str = "list_attr_celeba.txt") -> Path:
    (folder / "img_align_celeba").mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(IMAGES[:3]):
        Image.fromarray(image).save(folder / "img_align_celeba" / f"{number}.jpg", quality=100)
    (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CELEBA, "list_attr_celeba.txt"),
        (CELEBA.partition("\n")[2], "list.txt"),
        ("image_id,Bald,Young\n0.jpg,-1,1\n1.jpg,1,-1\n2.jpg,-1,-1\n", "list_attr_celeba.csv"),
        ("file,Bald,Young\n0.jpg,0,1\n1.jpg,1,0\n2.jpg,0,0\n", "labels.csv"),
    ],
)
def test_attributes(tmp_path: Path, text: str, name: str):
    data = Attributes(path=str(write_attributes(tmp_path, text, name)))
    assert data.factors == FactorSpace(("Bald", "Young"), (2, 2))
    assert data.values(np.arange(3)).tolist() == [[0, 1], [1, 0], [0, 0]]
    assert (data.shape, data.is_grid) == ((8, 8, 3), False)


def test_an_attribute_nobody_has_still_has_two_values(tmp_path: Path):
    data = Attributes(path=str(write_attributes(tmp_path, "file,Bald\n0.jpg,0\n1.jpg,0\n2.jpg,0\n", "a.csv")))
    assert data.factors.sizes == (2,)
    assert not data.is_function


def test_other_lists_beside_the_attributes_are_left_alone(tmp_path: Path):
    write_attributes(tmp_path, CELEBA)
    (tmp_path / "list_bbox_celeba.txt").write_text("else")
    (tmp_path / "list_eval_partition.csv").write_text("else")
    assert len(Attributes(path=str(tmp_path))) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (CELEBA.replace("3", "4", 1), "should have 4 rows by its first line, but has 3; fetch it again"),
        (CELEBA.replace("1.jpg  1 -1", "1.jpg  1"), "line 4 of .* has 2 cells, but there are 3 columns"),
        (CELEBA.replace("1.jpg  1", "1.jpg  2"), "line 4 of .*: 'Bald' is '2'; attributes must be 0 and 1, or"),
        (CELEBA.replace("1.jpg  1 -1", "1.jpg  1 0"), "has both 0 and -1 up to line 4"),
        ("file\n0.jpg\n1.jpg\n2.jpg\n", "has no attributes"),
    ],
)
def test_faulty_attributes_get_one_clear_line(tmp_path: Path, text: str, message: str):
    with pytest.raises(UsageError, match=message) as caught:
        Attributes(path=str(write_attributes(tmp_path, text)))
    one_line(caught)


# Parquet -----------------------------------------------------------------------------------------------------


def test_booleans_and_numbers_are_factors_and_texts_are_not(tmp_path: Path):
    path = write_parquet(tmp_path / "a.parquet", shape=[True, False] * 3, caption=["a", "b"] * 3, score=[0.5] * 6)
    data = Parquet(path=str(path))
    assert data.factors == FactorSpace(("shape", "x", "score"), (2, 3, 1))
    assert data.continuous == ("score",)
    assert Parquet(path=str(path), factors="x").factors == FactorSpace(("x",), (3,))


def test_images_may_be_plain_bytes(tmp_path: Path):
    path = write_parquet(tmp_path / "a.parquet", image=[png(image) for image in IMAGES])
    np.testing.assert_array_equal(Parquet(path=str(path)).images(np.arange(6)), IMAGES[::-1])


def test_faulty_parquet_gets_one_clear_line(tmp_path: Path):
    def message(path: Path) -> str:
        with pytest.raises(UsageError) as caught:
            Parquet(path=str(path))
        return one_line(caught).replace(str(tmp_path), "")

    path = tmp_path / "a.parquet"
    whole = write_parquet(path).read_bytes()
    for content in (b"", b"PAR1", whole[:-7], whole[: len(whole) // 2], b"no Parquet at all" * 9):
        path.write_bytes(content)
        assert message(path) == "'/a.parquet' is not a Parquet file, or is damaged"
    write_parquet(path, image=None)
    needs, hint = "needs a column 'image' of encoded images", "vectors:path=/a.parquet loads its rows as vectors"
    assert message(path) == f"'/a.parquet' {needs}; it has: shape (Int64), x (Int8); {hint}"
    write_parquet(path, image=["0.png"] * 6)
    assert "needs a column 'image' of encoded images" in message(path)
    write_parquet(path, x=[0, 1, None, 2, 3, None])
    assert message(path) == "'x' in row 2 of '/a.parquet' is missing or too large"
    write_parquet(path, x=[0, 1, -4, 2, 3, 0])
    assert "'x' of image 2 is -4" in message(path)
    pictures: list[object] = [{"bytes": png(image), "path": ""} for image in IMAGES]
    write_parquet(path, image=[*pictures[:3], {"bytes": b"no image", "path": ""}, *pictures[4:]])
    broken = "the image in row 3 of '/a.parquet' cannot be read as an image, or is damaged; corrupt=skip leaves"
    assert message(path).startswith(broken)
    write_parquet(path, image=[*pictures[:3], {"bytes": None, "path": "3.png"}, *pictures[4:]])
    assert message(path).startswith(broken)
    with pytest.warns(DataNote, match="left out images that cannot be read: 1: the image in row 3"):
        data = Parquet(path=str(path), corrupt="skip")
    np.testing.assert_array_equal(data.images(np.arange(5)), np.delete(IMAGES, 3, axis=0))
    write_parquet(tmp_path / "b.parquet", x=None)
    write_parquet(path)
    assert message(tmp_path) == "'/b.parquet' has the columns image, shape, but '/a.parquet' has image, shape, x"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert message(empty) == "'/empty' holds no .parquet files"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
@pytest.mark.parametrize("name", ["factors.csv", "my.npz", "exported.parquet", "list_attr_celeba.txt"])
@pytest.mark.parametrize("whole_folder", [True, False])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str, whole_folder: bool):
    os.mkfifo(tmp_path / name)
    if whole_folder and name.endswith(".npz"):
        return  # a folder of npz files is not a data set
    with pytest.raises(UsageError, match=f"{name}' is not a regular file; choose another name"):
        load(str(tmp_path if whole_folder else tmp_path / name))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device that never ends")
@pytest.mark.parametrize("name", ["factors.csv", "list_attr_celeba.txt", "my.npz"])
def test_a_device_is_refused_and_not_read_to_its_end(tmp_path: Path, name: str):
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="is not a regular file"):
        load(str(tmp_path / name))
