from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data.server import Reply, Server, serving
from unweave.cli.data_fetch import _announced
from unweave.data import download
from unweave.data.sources import SOURCES, Source
from unweave.progress import Bar

CONTENT = b"some bytes" * 1000
MD5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where shapes3d goes in these tests."""
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(download, "PAUSES", ())
    return tmp_path / "shapes3d"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving() as server:
        monkeypatch.setitem(SOURCES, "shapes3d", (Source("3dshapes.h5", (server.url("/a"),), MD5),))
        yield server


def test_fetch_says_where_the_files_are_and_what_comes_next(cli, server: Server, folder: Path):
    server.give("/a", Reply(CONTENT))
    text = f"in {folder}\n\nfile            size\n3dshapes.h5  10.0 kB\n\nnext: unweave data info shapes3d\n"
    size = "fetching 3dshapes.h5: 10.0 kB\n"
    assert cli("data", "fetch", "shapes3d") == (0, f"shapes3d is here now, {text}", size)
    assert (folder / "3dshapes.h5").read_bytes() == CONTENT
    assert cli("data", "fetch", "shapes3d") == (0, f"shapes3d is here already, {text}", "")


def test_fetch_for_machines(cli, server: Server, folder: Path):
    server.give("/elsewhere", Reply(CONTENT))
    code, out, err = cli("data", "fetch", "shapes3d", "--url", server.url("/elsewhere"), "--json")
    assert (code, err) == (0, "fetching 3dshapes.h5: 10.0 kB\n")
    assert json.loads(out) == {
        "name": "shapes3d",
        "status": f"here, in {folder}",
        "files": [{"file": "3dshapes.h5", "path": str(folder / "3dshapes.h5"), "bytes": len(CONTENT)}],
        "missing": [],
    }


def test_files_that_are_on_this_machine(cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    contents = {"a.gz": b"a", "b.gz": b"bb", "c.gz": b"ccc"}
    digests = {file: hashlib.md5(content).hexdigest() for file, content in contents.items()}
    monkeypatch.setitem(SOURCES, "smallnorb", tuple(Source(file, (), f"md5:{digests[file]}") for file in contents))
    given = [tmp_path / file for file in contents]
    for path in given:
        path.write_bytes(contents[path.name])
    code, out, err = cli("data", "fetch", "smallnorb", "--from-file", *given[:2])
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"smallnorb is not complete, in {tmp_path / 'smallnorb'}",
        "",
        "file     size",
        "a.gz  1 bytes",
        "b.gz  2 bytes",
        "c.gz  missing",
        "",
        "next: unweave data fetch smallnorb",
    ]
    out = cli("data", "fetch", "smallnorb", "--from-file", given[2]).out
    assert out.startswith("smallnorb is here now, in ")


@pytest.mark.parametrize("name", ["shapes2d", "shapes2d:size=32"])
def test_a_drawn_set_needs_nothing(cli, tmp_path: Path, name: str):
    text = f"{name} is drawn when needed; there is nothing to fetch\n\nnext: unweave data info {name}\n"
    assert cli("data", "fetch", name) == (0, text, "")
    seen = json.loads(cli("data", "fetch", name, "--json").out)
    assert seen == {"name": name, "status": "drawn on demand", "files": [], "missing": []}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("dsprite",), "no data set is called 'dsprite'; did you mean 'dsprites'?"),
        (("mpi3d-rael",), "no data set is called 'mpi3d-rael'; did you mean 'mpi3d-real'?"),
        ((), "missing: NAME; for example: unweave data fetch"),
        (("shapes3d", "--form-file", "a"), "unknown option --form-file for 'data fetch'; did you mean --from-file?"),
        (("shapes3d", "--from-file", "none.h5"), "cannot use 'none.h5': No such file or directory"),
        (("shapes3d", "--url", "ftp://a/b"), "'ftp://a/b' is not an http:// or https:// URL"),
        (("shapes3d",), "cannot fetch 3dshapes.h5 (127.0.0.1:"),
    ],
)
def test_mistakes_are_one_line(cli, server: Server, words: tuple[str, ...], message: str):
    code, out, err = cli("data", "fetch", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: {message}")
    assert err.count("\n") == 1


def test_a_folder_for_the_data_that_is_a_file(cli, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path / "file"))
    code, out, err = cli("data", "fetch", "shapes3d")
    assert (code, out) == (2, "")
    assert err == f"unweave: cannot use '{tmp_path / 'file' / 'shapes3d'}': Not a directory\n"


def test_a_full_disk_is_one_line(cli, server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    server.give("/a", Reply(CONTENT))
    monkeypatch.setattr(download.os, "fsync", full)
    code, out, err = cli("data", "fetch", "shapes3d")
    assert (code, out) == (2, "")
    assert err.startswith(f"unweave: cannot write '{folder / '3dshapes.h5'}': No space left on device")
    assert err.count("\n") == 1
    assert not (folder / "3dshapes.h5").exists()


def test_an_interrupt_says_what_is_kept(cli, server: Server, monkeypatch: pytest.MonkeyPatch):
    def interrupt(self: Bar, what: str, done: float, total: float | None) -> None:
        if done:
            raise KeyboardInterrupt

    server.give("/a", Reply(CONTENT))
    monkeypatch.setattr(Bar, "__call__", interrupt)
    code, out, err = cli("data", "fetch", "shapes3d")
    assert (code, out) == (130, "")
    assert err.startswith("fetching 3dshapes.h5: 10.0 kB\nunweave: interrupted; ")
    assert err.endswith(" kB are kept, and the same command resumes from there\n")


def test_the_size_of_a_download_is_said_before_it_comes(cli, capsys):
    with Bar("shapes3d") as bar:
        on_progress = _announced("shapes3d", bar)
        on_progress(".3dshapes.h5.part", 0, 267_573_662)
        on_progress(".3dshapes.h5.part", 1000, 267_573_662)
        on_progress(".another.h5.part", 2000, None)
        on_progress("copied.h5", 0, 10)
    said = "fetching 3dshapes.h5: 267.6 MB\nfetching another.h5: of unknown size, 2.0 kB of which are already here\n"
    assert capsys.readouterr().err == said
    assert "not here, 267.6 MB" in cli("data", "list").out
    assert "not here, 267.6 MB" in cli("data", "info", "shapes3d").out
    assert json.loads(cli("data", "info", "shapes3d", "--json").out)["download"] == 267_573_662
