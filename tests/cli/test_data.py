from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unweave import report
from unweave.data import DATASETS, load


def test_list_names_every_data_set_with_its_size(cli):
    code, out, err = cli("data", "list")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["name", "images", "factors", "files", "about"]
    for line, (name, kind) in zip(lines[1:], DATASETS.items(), strict=False):
        assert line.split()[:3] == [name, f"{kind.count or len(kind.factors):,}", str(len(kind.factors.names))]
    assert lines[-1] == "next: unweave data info shapes2d"


def test_list_for_machines(cli):
    listed = json.loads(cli("data", "list", "--json").out)["data"]
    assert [entry["name"] for entry in listed] == list(DATASETS)
    squares = listed[0]
    assert squares["images"] == 8**6
    assert squares["factors"] == {"x_R": 8, "y_R": 8, "x_G": 8, "y_G": 8, "x_B": 8, "y_B": 8}


def test_info_shows_factors_size_and_statistics(cli):
    code, out, err = cli("data", "info", "xysquares:size=64,spacing=8")
    assert (code, err) == (0, "")
    facts = dict(line.split("  ", 1) for line in out.splitlines() if "  " in line)
    assert facts["x_R"].split() == ["8", "1.000", "1.000"]
    assert facts["distinct"].strip() == "262,144 (100.0 %)"
    assert facts["images"].strip() == "262,144"
    assert facts["shape"].strip() == "64 × 64 × 3, black and white"
    assert facts["mean"].split() == ["0.015625"] * 3  # the thesis' table A.2
    assert facts["deviation"].split()[:3] == ["0.124035"] * 3
    assert out.endswith("next: unweave data show xysquares:size=64,spacing=8\n")


def test_info_shows_what_no_code_can_exceed(cli, tmp_path):
    np.savez(
        tmp_path / "a.npz",
        images=np.arange(4, dtype=np.uint8).repeat(4).reshape(8, 1, 2, 1),
        factors=[[a, b, c] for a in range(2) for b in range(2) for c in range(2)],
    )
    code, out, err = cli("data", "info", tmp_path / "a.npz")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[2:6] == [
        ["factor", "values", "accuracy", "information"],
        ["factor0", "2", "1.000", "1.000"],
        ["factor1", "2", "1.000", "1.000"],
        ["factor2", "2", "0.500", "0.000"],
    ]
    assert "Images that look the same cannot be distinguished" in out
    assert ["distinct", "4", "(50.0", "%)"] in lines
    seen = json.loads(cli("data", "info", tmp_path / "a.npz", "--json").out)["ceilings"]
    assert (seen["images"], seen["distinct"]) == (8, 4)
    assert seen["factors"][2]["accuracy"] == 0.5


def test_info_for_machines(cli):
    seen = json.loads(cli("data", "info", "xysquares:size=32", "--json").out)
    data = load("xysquares", size=32)
    assert seen["name"] == "xysquares"
    assert seen["options"] == data.options
    assert seen["shape"] == [32, 32, 3]
    assert seen["bytes"] == data.nbytes
    assert seen["statistics"]["mean"] == list(data.statistics().mean)


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("xysquares",), "xysquares.png"),
        (("xysquares:spacing=1,size=32",), "xysquares-spacing=1-size=32.png"),
        (("xysquares", "--out", "new/folder/grid.png"), "new/folder/grid.png"),
    ],
)
def test_show_writes_a_picture_and_says_where(cli, tmp_path, monkeypatch, words, file):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("data", "show", *words)
    assert (code, err) == (0, "")
    assert out == f"wrote {file}\n\nnext: unweave train beta-vae --data {words[0]}\n"
    assert [path for path in Path().rglob("*") if path.is_file()] == [Path(file)]
    np.testing.assert_array_equal(np.asarray(Image.open(file)), np.asarray(report.show(load(words[0]), seed=0)))


def test_show_with_another_seed_is_another_picture(cli, tmp_path):
    pictures = [tmp_path / f"{seed}.png" for seed in (0, 0, 1)]
    for picture, seed in zip(pictures, "001", strict=True):
        cli("data", "show", "xysquares:size=32", "--seed", seed, "--out", picture)
    assert pictures[0].read_bytes() != pictures[2].read_bytes()


def test_info_of_a_published_set_before_it_is_fetched(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    code, out, err = cli("data", "info", "dsprites")
    assert (code, err) == (0, "")
    assert "not here" in out
    assert "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz" in out
    assert out.endswith("next: unweave data fetch dsprites\n")
    known = json.loads(cli("data", "info", "dsprites", "--json").out)
    assert known["factors"] == {"shape": 3, "scale": 6, "orientation": 40, "x": 32, "y": 32}


def test_the_default_picture_of_a_variant_stays_in_this_folder(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture = tmp_path / "deep" / "cat.png"
    picture.parent.mkdir()
    Image.new("RGB", (80, 80), "orange").save(picture)
    code, out, _ = cli("data", "show", f"shapes2d-scream:image={picture}")
    assert code == 0
    assert len([path for path in tmp_path.iterdir() if path.suffix == ".png"]) == 1
    assert "wrote shapes2d-scream-image" in out
