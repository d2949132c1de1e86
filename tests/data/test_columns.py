"""Which columns of a list are factors, and what becomes of their cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from unweave.data import FactorSpace, load
from unweave.data.columns import IGNORED, read_column
from unweave.data.table_files import DataNote
from unweave.errors import UsageError

IMAGES = np.random.default_rng(0).integers(0, 256, (4, 8, 8), dtype=np.uint8)


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, image in enumerate(IMAGES):
        Image.fromarray(image).save(folder / f"{number}.png")
    (folder / "labels.csv").write_text(text)
    return folder


def column(*texts: str):
    return read_column("my.csv", "age", list(enumerate(texts, start=2)))


@pytest.mark.parametrize(
    ("texts", "values", "levels"),
    [
        (("0", "2", "1"), [0, 2, 1], ()),
        (("0", "9", "29"), [0, 9, 29], ()),  # less than ten times three
        (("1.0", "2.0", "0.0"), [1, 2, 0], ()),
        (("0.5", "2", "1e3"), [0.5, 2, 1000], ()),
        (("10", "4711", "20"), [0, 2, 1], ("10", "20", "4711")),
        (("-1", "0", "1"), [0, 1, 2], ("-1", "0", "1")),
        (("99999999999999999999", "7", "8"), [2, 0, 1], ("7", "8", "99999999999999999999")),
        (("red", "blue", "red"), [1, 0, 1], ("blue", "red")),
    ],
)
def test_cells(texts: tuple[str, ...], values: list[float], levels: tuple[str, ...]):
    found = column(*texts)
    assert found.values.tolist() == values
    assert found.levels == levels
    assert bool(found.note) == bool(levels and levels[0] != "blue")
    assert np.issubdtype(found.values.dtype, np.integer) == all(value == int(value) for value in values)


def test_columns_are_chosen_and_others_ignored_by_name(tmp_path: Path):
    rows = [f"{n},{n}.png,{['sad', 'glad'][n % 2]},{20 + n / 2},train,{n}" for n in range(4)]
    folder = write(tmp_path, ",file,mood,age,split,ID\n" + "\n".join(rows) + "\n")
    message = r"labels\.csv': columns ignored because of their names: unnamed,split,ID \(factors=unnamed,split,ID uses"
    with pytest.warns(DataNote, match=message):
        data = load(folder)
    assert (data.factors.names, data.continuous) == (("mood", "age"), ("age",))
    chosen = load(f"{folder}:factors=age,split,size=16")
    assert (chosen.factors, chosen.shape) == (FactorSpace(("age", "split"), (4, 1)), (16, 16, 1))
    assert chosen.description == load(folder, factors=["age", "split"], size=16).description
    assert load(**dict[str, Any](chosen.description)).description == chosen.description
    assert not load(folder, factors="none").is_labelled
    with pytest.raises(UsageError, match=r"no column is called 'mod'; did you mean 'mood'\?"):
        load(folder, factors="mod")
    for factors, wrong in [(["a,b"], "names of columns without commas"), ("age,age", "factors must differ: age, age")]:
        with pytest.raises(UsageError, match=wrong):
            load(folder, factors=factors)


def test_a_list_of_files_alone_has_no_factors(tmp_path: Path):
    with pytest.warns(DataNote) as notes:
        data = load(write(tmp_path, "filename,id\n1.png,0\n3.png,1\n"))
    assert not data.is_labelled
    np.testing.assert_array_equal(data.images([0, 1])[..., 0], IMAGES[[1, 3]])
    assert [str(note.message).partition(": ")[0].partition(" without")[0] for note in notes] == [
        f"'{tmp_path / 'labels.csv'}'",
        "left out images",
    ]


def test_rows_and_images_without_each_other_are_counted(tmp_path: Path):
    folder = write(tmp_path, "file,x\n8.png,0\n0.png,2\n9.png,0\n2.png,0\n")
    with pytest.warns(DataNote) as notes:
        data = load(folder)
    assert data.values([0, 1]).tolist() == [[2], [0]]
    np.testing.assert_array_equal(data.images([0, 1])[..., 0], IMAGES[[0, 2]])
    texts = [str(note.message).replace(str(tmp_path), "") for note in notes]
    assert texts == [
        "left out rows without an image in '': 2 "
        "('8.png' (line 2 of '/labels.csv'), '9.png' (line 4 of '/labels.csv'))",
        "left out images without a row in '/labels.csv': 2 ('1.png', '3.png')",
    ]


def test_a_broken_image_takes_its_row_along(tmp_path: Path):
    folder = write(tmp_path, "file,x\n0.png,0\n1.png,1\n2.png,2\n3.png,3\n")
    (folder / "1.png").write_bytes(b"no image")
    with pytest.warns(DataNote, match=r"cannot be read: 1 in '.*': '1\.png' \(line 3 of"):
        data = load(folder, corrupt="skip")
    assert data.values(np.arange(3)).tolist() == [[0], [2], [3]]


def test_names_that_are_ignored_are_in_the_docs():
    page = (Path(__file__).parents[2] / "docs" / "data" / "own.md").read_text()
    assert [name for name in IGNORED if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", ["npz", "attributes"])
def test_other_files_have_columns_to_choose_too(tmp_path: Path, name: str):
    if name == "npz":
        path = tmp_path / "my.npz"
        np.savez(path, images=IMAGES, factors=[[n % 2, n, 0] for n in range(4)], names=["a", "b", "c"])
    else:
        path = write(tmp_path, "file,a,b,c\n0.png,0,1,1\n1.png,1,0,0\n2.png,0,0,1\n3.png,1,1,1\n")
    data = load(name, path=str(path), factors="c,a")
    assert data.factors.names == ("c", "a")
    assert data.values([1]).tolist() == [[0, 1]]
