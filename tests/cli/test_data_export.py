from __future__ import annotations

import json

import numpy as np

from unweave.data import load
from unweave.data.parquet import Parquet


def test_export_writes_what_comes_back(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("data", "export", "shapes2d:size=32", "--out", "new/set", "--rows", "30", "--shard", "20")
    assert (code, err) == (0, "")
    files = sorted(path.name for path in (tmp_path / "new/set").iterdir())
    assert files == ["README.md", "data-00000-of-00002.parquet", "data-00001-of-00002.parquet", "dataset.json"]
    assert out.startswith("wrote 2 files, ")
    assert out.endswith(" kB, into new/set\n\nnext: unweave data info parquet:path=new/set\n")
    again, data = Parquet(path="new/set"), load("shapes2d", size=32)
    every = np.arange(30)
    np.testing.assert_array_equal(again.images(every), data.images(data.factors.to_index(again.values(every))))


def test_export_for_machines(cli, tmp_path):
    seen = json.loads(cli("data", "export", "xysquares", "--out", tmp_path / "a", "--rows", "3", "--json").out)
    assert seen["files"] == 1
    assert seen["bytes"] == (tmp_path / "a/data-00000-of-00001.parquet").stat().st_size


def test_export_refuses_a_folder_that_holds_anything(cli, tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    code, out, err = cli("data", "export", "xysquares", "--out", tmp_path)
    assert (code, out) == (2, "")
    assert err == f"unweave: '{tmp_path}' exists and is not an empty folder; choose another one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
