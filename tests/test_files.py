from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from unweave.errors import UsageError
from unweave.files import locked, write_atomically, write_json


def test_a_new_file_holds_the_content_and_nothing_else_is_left(tmp_path: Path):
    write_atomically(tmp_path / "a.bin", b"\x00new\xff")
    assert (tmp_path / "a.bin").read_bytes() == b"\x00new\xff"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_an_old_file_is_replaced(tmp_path: Path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"a longer old content")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed(tmp_path: Path, there: bool):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "a.bin", tmp_path / "link"
    if there:
        target.write_bytes(b"old")
    link.symlink_to(Path("far", "a.bin"))
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert os.listdir(tmp_path / "far") == ["a.bin"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
@pytest.mark.parametrize("behind_a_link", [True, False])
def test_what_is_no_file_is_left_alone(tmp_path: Path, behind_a_link: bool):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, what in {"folder": "a folder", "pipe": "not a regular file"}.items():
        path = tmp_path / name
        if behind_a_link:
            path = tmp_path / f"{name}-link"
            path.symlink_to(name)
        with pytest.raises(UsageError, match=f"'{path}' is {what}; choose another name"):
            write_atomically(path, b"new")
    assert (tmp_path / "folder").is_dir()
    assert (tmp_path / "pipe").is_fifo()


def test_others_may_read_the_file_as_the_umask_says(tmp_path: Path):
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "atomic", b"")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize(("failure", "error"), [(full_disk, OSError), (interrupt, KeyboardInterrupt)])
def test_a_failed_write_keeps_the_old_file_and_no_temporary_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    failure: object,
    error: type[BaseException],
):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, function, failure)
    with pytest.raises(error):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_fills_up_during_the_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    plain_open = Path.open

    def open_full(self: Path, mode: str):
        plain_open(self, mode).close()
        return plain_open(Path("/dev/full"), "wb")

    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new" * 100_000)
    assert os.listdir(tmp_path) == ["a.bin"]
    monkeypatch.undo()
    assert path.read_bytes() == b"old"


def test_the_bytes_are_on_the_disk_before_the_name_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    calls: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: (calls.append("fsync"), fsync(descriptor)))
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append("replace"), replace(*names)))
    write_atomically(tmp_path / "a.bin", b"new")
    assert calls[:2] == ["fsync", "replace"]


def test_the_new_name_is_on_the_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """After the rename the folder itself is flushed: without that a power cut can bring the old file back."""
    calls: list[tuple[str, int]] = []
    fsync, replace = os.fsync, os.replace

    def note(descriptor: int) -> None:
        calls.append(("fsync", os.fstat(descriptor).st_ino))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(os, "replace", lambda *names: (calls.append(("replace", 0)), replace(*names)))
    write_atomically(tmp_path / "a.bin", b"new")
    file, folder = (tmp_path / "a.bin").stat().st_ino, tmp_path.stat().st_ino
    assert calls == [("fsync", file), ("replace", 0), ("fsync", folder)]


def test_only_temporary_files_of_ours_are_removed(tmp_path: Path):
    ours, theirs = ".log.parquet.0123456789ab.tmp", [".notes.tmp", ".a.0123.tmp", "b.0123456789ab.tmp", ".c.tmp"]
    for name in (ours, *theirs):
        (tmp_path / name).touch()
    (tmp_path / ".d.0123456789ab.tmp").mkdir()
    with locked(tmp_path, lambda: None):
        pass
    assert sorted(os.listdir(tmp_path)) == sorted([*theirs, ".d.0123456789ab.tmp", ".lock"])


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "a.bin", b"")


def test_json_keeps_order_and_letters_and_ends_with_a_newline(tmp_path: Path):
    value = {"z": [1, 2.5], "a": {"β": "vae", "none": None}}
    write_json(tmp_path / "a.json", value)
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert json.loads(text) == value
    assert list(json.loads(text)) == ["z", "a"]
    assert text.endswith("}\n")
    assert '\n  "z"' in text
    assert "β" in text


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_json_refuses_what_json_has_no_word_for(tmp_path: Path, number: float):
    (tmp_path / "a.json").write_text("old")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"loss": number})
    assert (tmp_path / "a.json").read_text() == "old"
