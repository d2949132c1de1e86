"""Rows are converted once, whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from unweave.data import conversion
from unweave.data.conversion import Unreadable, convert
from unweave.errors import UsageError

ROWS = np.random.default_rng(0).integers(0, 256, size=(100, 3, 4), dtype=np.uint8)


class Source:
    """A file, its rows, and how often they were read."""

    def __init__(self, folder: Path) -> None:
        self.path, self.target = folder / "source", folder / "target.npy"
        self.path.write_text("as published")
        self.rows = ROWS
        self.readings = 0

    def chunks(self) -> Iterator[np.ndarray]:
        self.readings += 1
        yield from np.array_split(self.rows, 7)

    def convert(self) -> np.ndarray:
        return convert([self.path], self.target, ROWS.shape, self.chunks)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def test_rows_are_read_once_and_mapped(source: Source):
    for _ in range(3):
        rows = source.convert()
        assert isinstance(rows, np.memmap)
        np.testing.assert_array_equal(rows, ROWS)
    assert source.readings == 1
    np.testing.assert_array_equal(np.load(source.target), ROWS)
    assert sorted(os.listdir(source.path.parent)) == ["source", "target.npy"]


@pytest.mark.parametrize("seconds", [-100, 100])
def test_another_source_is_converted_again(source: Source, seconds: int):
    source.convert()
    source.rows = 255 - ROWS
    time = source.path.stat().st_mtime + seconds
    os.utime(source.path, (time, time))
    np.testing.assert_array_equal(source.convert(), 255 - ROWS)


def test_a_target_that_is_not_the_rows_is_made_again(source: Source):
    source.convert()
    stamp = source.path.stat().st_mtime_ns
    whole = source.target.read_bytes()
    for spoilt in (ROWS[:-1], ROWS.astype(np.int16), np.asfortranarray(ROWS), ROWS.reshape(100, 12)):
        np.save(source.target, spoilt)
        os.utime(source.target, ns=(stamp, stamp))
        np.testing.assert_array_equal(source.convert(), ROWS)
    for spoilt in (b"", whole[:50], whole[:-1], b"PK\x03\x04" + whole):
        source.target.write_bytes(spoilt)
        os.utime(source.target, ns=(stamp, stamp))
        np.testing.assert_array_equal(source.convert(), ROWS)
    assert source.readings == 9


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_where_nothing_can_be_written(source: Source, code: int, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(conversion.os, "fsync", refuse)
    rows = source.convert()
    np.testing.assert_array_equal(rows, ROWS)
    assert not isinstance(rows, np.memmap)
    assert os.listdir(source.path.parent) == ["source"]

    monkeypatch.setattr(conversion, "SMALL", ROWS.nbytes - 1)
    with pytest.raises(UsageError, match=f"target.npy', .* 1.2 kB: .*{os.strerror(code)}; put source into"):
        source.convert()
    assert os.listdir(source.path.parent) == ["source"]


def test_a_full_disk_is_noticed_before_writing(source: Source, monkeypatch: pytest.MonkeyPatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**6, 10**6 - 1199, 1199))
    monkeypatch.setattr(conversion, "SMALL", 0)
    with pytest.raises(UsageError, match="No space left"):
        source.convert()
    assert source.readings == 0


@pytest.mark.parametrize("error", [Unreadable("broken"), KeyboardInterrupt()])
def test_what_breaks_off_leaves_nothing(source: Source, error: BaseException):
    def chunks() -> Iterator[np.ndarray]:
        yield ROWS[:10]
        raise error

    with pytest.raises(type(error)):
        convert([source.path], source.target, ROWS.shape, chunks)
    assert os.listdir(source.path.parent) == ["source"]
