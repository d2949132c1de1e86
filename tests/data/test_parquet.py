"""Exported sets come back as they were, and an export that fails leaves nothing behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

from unweave.data import Dataset, load
from unweave.data.parquet import Parquet, export_parquet
from unweave.data.restricted import Restricted
from unweave.data.table import Table
from unweave.errors import UsageError


def grid(channels: int = 3) -> Table:
    factors = np.array([[a, b, c] for a in range(4) for b in range(3) for c in range(5)])
    images = np.random.default_rng(0).integers(0, 256, (60, 7, 9, channels), dtype=np.uint8)
    return Table(images, factors, names=["shape", "the size", "größe"])


def assert_same(a: Dataset, b: Dataset) -> None:
    every = np.arange(len(a))
    assert (a.factors, a.shape, len(a), a.is_grid, a.binary) == (b.factors, b.shape, len(b), b.is_grid, b.binary)
    np.testing.assert_array_equal(a.images(every), b.images(every))
    np.testing.assert_array_equal(a.values(every), b.values(every))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("shard", [7, 30, 60, 1000])
def test_what_is_exported_comes_back(tmp_path: Path, channels: int, shard: int):
    data = grid(channels)
    seen: list[float] = []
    files = export_parquet(data, tmp_path / "out", shard=shard, on_progress=lambda _, done, __: seen.append(done))
    count = -(-60 // shard)
    assert [file.name for file in files] == [f"data-{i:05}-of-{count:05}.parquet" for i in range(count)]
    assert seen == [min(60, shard * (i + 1)) for i in range(count)]
    assert sorted(tmp_path.rglob("*.*")) == sorted([*files, tmp_path / "out/README.md", tmp_path / "out/dataset.json"])
    again = Parquet(path=str(tmp_path / "out"))
    assert again.is_grid
    assert_same(again, data)


def test_rows_without_a_grid_come_back_in_their_order(tmp_path: Path):
    whole = grid()
    data = Table(whole.images(np.arange(1, 60)[::-1]), whole.values(np.arange(1, 60)[::-1]))
    export_parquet(data, tmp_path, shard=25)
    assert_same(Parquet(path=str(tmp_path)), data)


def test_an_embedded_set_comes_back(tmp_path: Path):
    data = Restricted(load("shapes2d", size=32), keep="shape=2&scale=5&orientation<3")
    export_parquet(data, tmp_path)
    again = Parquet(path=str(tmp_path))
    assert len(again) == len(data.allowed) == 3 * 32 * 32
    assert again.factors.sizes == (3, 6, 3, 32, 32)
    np.testing.assert_array_equal(again.values(np.arange(3072)), data.values(data.allowed))
    np.testing.assert_array_equal(again.images(np.arange(3072)), data.images(data.allowed))


def test_random_rows_are_distinct_and_follow_the_seed(tmp_path: Path):
    data = grid()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        export_parquet(data, tmp_path / name, rows=20, seed=seed)
    a, b, c = (Parquet(path=str(tmp_path / name)) for name in "abc")
    assert a.digest == b.digest != c.digest
    assert len(np.unique(data.factors.to_index(a.values(np.arange(20))))) == 20
    np.testing.assert_array_equal(data.images(data.factors.to_index(a.values(np.arange(20)))), a.images(np.arange(20)))


def test_columns_and_notes_are_what_others_expect(tmp_path: Path):
    file = export_parquet(grid(), tmp_path)[0]
    schema = polars.read_parquet_schema(file)
    assert schema["image"] == polars.Struct({"bytes": polars.Binary, "path": polars.String})
    assert [schema[name] for name in ("shape", "the size", "größe")] == [polars.Int64] * 3
    first = polars.read_parquet(file)["image"][0]
    assert first["bytes"].startswith(b"\x89PNG")
    assert first["path"] == "0000000.png"
    notes = json.loads((tmp_path / "dataset.json").read_text())
    assert notes["data"] == grid().description
    assert notes["factors"] == {"shape": 4, "the size": 3, "größe": 5}
    assert (notes["images"], notes["shape"]) == (60, [7, 9, 3])
    page = (tmp_path / "README.md").read_text()
    assert page.startswith('---\nconfigs:\n- config_name: default\n  data_files: "data-*.parquet"\n')
    assert "- `the size`: 3 values" in page


def test_a_shard_that_is_missing_is_missed(tmp_path: Path):
    files = export_parquet(grid(), tmp_path, shard=20)
    for file in files:
        content = file.read_bytes()
        file.unlink()
        with pytest.raises(UsageError, match=f"{file.name}' is missing: the folder is incomplete"):
            Parquet(path=str(tmp_path))
        file.write_bytes(content)
    assert len(Parquet(path=str(tmp_path))) == 60


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_export_that_fails_leaves_the_folder_empty(tmp_path: Path, error: type[BaseException]):
    def fail(what: str, done: float, total: float | None) -> None:
        if done > 20:
            raise error

    with pytest.raises(error):
        export_parquet(grid(), tmp_path, shard=20, on_progress=fail)
    assert list(tmp_path.iterdir()) == []
    export_parquet(grid(), tmp_path, shard=20)


def test_a_folder_that_an_export_made_goes_with_it_when_it_fails(tmp_path: Path):
    def fail(what: str, done: float, total: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_parquet(grid(), tmp_path / "a" / "b", shard=20, on_progress=fail)
    assert list(tmp_path.iterdir()) == []


EXPORT = """
import os, signal, sys
from pathlib import Path
from unweave.cli import main
from unweave.data import parquet
plain, calls = parquet.write_atomically, iter(range(10))

def write(path, content):
    if next(calls) == 2:
        if sys.argv[2] == "KILL":
            path.with_name(f".{path.name}.0123456789ab.tmp").touch()
        os.kill(os.getpid(), getattr(signal, "SIG" + sys.argv[2]))
    plain(path, content)

parquet.write_atomically = write
main(["data", "export", "xysquares", "--rows", "40", "--shard", "10", "--out", sys.argv[1]])
"""


def start_export(out: Path, name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", EXPORT, str(out), name], capture_output=True, text=True)


def test_an_export_that_was_killed_can_be_run_again(tmp_path: Path):
    out = tmp_path / "out"
    assert start_export(out, "KILL").returncode == -signal.SIGKILL
    assert len(list(out.iterdir())) == 4  # two shards, the lock and what was being written
    (out / "mine.tmp").write_text("keep")
    export_parquet(grid(), out, shard=30)
    names = ["README.md", "data-00000-of-00002.parquet", "data-00001-of-00002.parquet", "dataset.json", "mine.tmp"]
    assert sorted(file.name for file in out.iterdir()) == names
    assert_same(Parquet(path=str(out)), grid())


@pytest.mark.parametrize("name", ["TERM", "HUP"])
def test_an_export_that_is_asked_to_stop_leaves_nothing(tmp_path: Path, name: str):
    done = start_export(tmp_path / "new" / "out", name)
    assert (done.returncode, done.stderr) == (130, f"unweave: stopped by SIG{name}\n")
    assert list(tmp_path.iterdir()) == []


def test_two_exports_into_one_folder_are_kept_apart(tmp_path: Path):
    def second(what: str, done: float, total: float | None) -> None:
        with pytest.raises(UsageError, match="another process is writing into"):
            export_parquet(grid(), tmp_path)

    export_parquet(grid(), tmp_path, on_progress=second)
    assert_same(Parquet(path=str(tmp_path)), grid())


def test_a_factor_that_is_called_image_is_refused(tmp_path: Path):
    data = Table(grid().images(np.arange(4)), [[0], [1], [2], [3]], names=["image"])
    with pytest.raises(UsageError, match="a factor of table is called 'image'"):
        export_parquet(data, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_mistakes_get_one_clear_line(tmp_path: Path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep")
    for out, options, message in [
        ("full", {}, "full' exists and is not an empty folder"),
        ("full/mine.txt", {}, "exists and is not an empty folder"),
        ("new", {"rows": 61}, "table has only 60 images, so 61 cannot be written"),
        ("new", {"rows": 0}, "at least 1"),
        ("new", {"shard": 0}, "at least 1"),
    ]:
        with pytest.raises(UsageError, match=message):
            export_parquet(grid(), tmp_path / out, **options)
    assert [file.name for file in tmp_path.rglob("*.*")] == ["mine.txt"]
