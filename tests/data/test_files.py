from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from threading import Event
from urllib.error import URLError

import numpy as np
import pytest

from tests.data.server import Reply, Server, serving
from unweave.data import download, files
from unweave.data.sources import SOURCES, Source, checksum
from unweave.errors import UsageError

CONTENT = np.random.default_rng(0).bytes(300_000)
OTHER = np.random.default_rng(1).bytes(300_000)
FILE = "3dshapes.h5"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def publish(server: Server, monkeypatch: pytest.MonkeyPatch):
    """Let shapes3d be published as CONTENT at these URLs, by default at one that answers with the given replies."""

    def publish(*replies: Reply, urls: tuple[str, ...] = ()) -> str:
        url = server.give("/a", *replies)
        monkeypatch.setitem(SOURCES, "shapes3d", (Source(FILE, urls or (url,), md5(CONTENT)),))
        return url

    return publish


def md5(content: bytes) -> str:
    return f"md5:{hashlib.md5(content).hexdigest()}"


def folder() -> Path:
    return files.data_folder() / "shapes3d"


def part() -> Path:
    return folder() / f".{FILE}.part"


def half(url: str, size: int = 100_000, version: str = '"1"', total: int | None = len(CONTENT)) -> None:
    """Leave the first bytes of the file, as an interrupted fetch does."""
    folder().mkdir()
    part().write_bytes(CONTENT[:size])
    note = {"url": url, "version": version, "total": total}
    part().with_name(f"{part().name}.json").write_text(json.dumps(note))


def assert_whole(paths: list[Path]) -> None:
    assert paths == [folder() / FILE]
    assert paths[0].read_bytes() == CONTENT
    assert sorted(os.listdir(folder())) == [f".{FILE}.checked", ".lock", FILE]


def assert_nothing_whole(left: list[str]) -> None:
    assert sorted(os.listdir(folder())) == sorted([".lock", *left])
    assert files.status("shapes3d") == "not here"


KEPT = [f".{FILE}.part", f".{FILE}.part.json"]


# What is published


def test_the_table_has_a_place_and_a_checksum_for_every_file():
    for sources in SOURCES.values():
        assert len({source.file for source in sources}) == len(sources)
        assert not sources[0].alternative
        for source in sources:
            none_published = source.file == "real3d_complicated_shapes_ordered.npz"
            assert re.fullmatch("" if none_published else "md5:[0-9a-f]{32}|git:[0-9a-f]{40}", source.checksum)
            assert all(re.fullmatch(r"https?://[!-~]+[^/]", url) for url in source.urls)
    every = [source for sources in SOURCES.values() for source in sources]
    assert len({source.checksum for source in every}) == len(every) == 14


@pytest.mark.parametrize(
    ("content", "kind", "digest"),
    [  # as md5sum and git hash-object print them
        (b"", "md5", "d41d8cd98f00b204e9800998ecf8427e"),
        (b"", "git", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        (b"hello\n", "md5", "b1946ac92492d2347c6235b4d2611184"),
        (b"hello\n", "git", "ce013625030ba8dba906f756967f9e9ca394464a"),
    ],
)
def test_checksums_of_known_files(tmp_path: Path, content: bytes, kind: str, digest: str):
    (tmp_path / "a").write_bytes(content)
    assert checksum(tmp_path / "a", kind) == f"{kind}:{digest}"


def test_a_checksum_covers_every_byte_of_a_long_file(tmp_path: Path):
    content = CONTENT * 12
    (tmp_path / "a").write_bytes(content)
    assert checksum(tmp_path / "a", "md5") == md5(content)


# Where the files are


@pytest.mark.parametrize(
    ("data", "cache", "expected"),
    [
        ("/d", "/c", "/d"),
        ("", "/c", "/c/unweave/data"),
        ("", "", "/home/me/.cache/unweave/data"),
        ("", "relative", "/home/me/.cache/unweave/data"),
        ("~/d", "/c", "/home/me/d"),
    ],
)
def test_the_folder_of_the_data(monkeypatch: pytest.MonkeyPatch, data: str, cache: str, expected: str):
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("UNWEAVE_DATA", data)
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    assert files.data_folder() == Path(expected)


def test_find_gives_a_file_that_is_here_and_else_says_what_to_do(tmp_path: Path):
    with pytest.raises(UsageError) as error:
        files.find("shapes3d", FILE)
    assert str(error.value) == (
        "the files of shapes3d are not here; run: unweave data fetch shapes3d "
        f"(or put {FILE} into '{tmp_path / 'shapes3d'}')"
    )
    folder().mkdir()
    part().touch()
    with pytest.raises(UsageError, match="not here"):
        files.find("shapes3d", FILE)
    (folder() / FILE).touch()
    assert files.find("shapes3d", FILE) == folder() / FILE


def test_status_and_source():
    assert files.status("shapes2d:size=32") == files.status("shapes2d-noisy") == "drawn on demand"
    assert files.source("shapes2d") == ""
    assert files.source("shapes3d") == "https://storage.googleapis.com/3d-shapes/3dshapes.h5"
    assert files.source("smallnorb") == "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/"
    assert files.status("shapes3d-noisy:size=32") == "not here"
    folder().mkdir()
    (folder() / FILE).touch()
    assert files.status("shapes3d-noisy:size=32") == f"here, in {folder()}"
    with pytest.raises(UsageError, match="did you mean 'shapes3d'"):
        files.status("shape3d")


def test_dsprites_is_here_with_either_file_and_smallnorb_with_all_six():
    sprites, norb = files.folder_of("dsprites"), files.folder_of("smallnorb")
    sprites.mkdir()
    norb.mkdir()
    npz, hdf5 = (source.file for source in SOURCES["dsprites"])
    assert files.missing("dsprites") == [npz]
    for file in (npz, hdf5):
        (sprites / file).touch()
        assert files.missing("dsprites") == []
        (sprites / file).unlink()
    wanted = [source.file for source in SOURCES["smallnorb"]]
    for here, file in enumerate(wanted):
        assert files.missing("smallnorb") == wanted[here:]
        assert files.status("smallnorb") == "not here"
        (norb / file).touch()
    assert files.status("smallnorb") == f"here, in {norb}"


# A fetch that goes well


def test_a_file_comes_whole_and_the_watcher_sees_it_coming(server: Server, publish):
    publish(Reply(CONTENT, pause=0.001))
    seen: list[tuple[int, int | None]] = []
    assert_whole(files.fetch("shapes3d", on_progress=lambda _, *count: seen.append(count)))
    assert server.asked["/a"] == [(None, None)]
    assert seen[0] == (0, 300_000)
    assert seen[-1] == (300_000, 300_000)
    assert len(seen) > 3
    assert all(before[0] < after[0] for before, after in pairwise(seen))


def test_what_is_here_is_neither_asked_for_nor_read_again(server: Server, publish, monkeypatch: pytest.MonkeyPatch):
    publish(Reply(CONTENT))
    assert_whole(files.fetch("shapes3d"))
    monkeypatch.setattr(files, "checksum", None)
    assert_whole(files.fetch("shapes3d"))
    assert len(server.asked["/a"]) == 1


def test_a_folder_that_cannot_be_written_is_no_trouble_when_the_files_are_here(
    publish, monkeypatch: pytest.MonkeyPatch
):
    def read_only(*_: object, **__: object):
        raise PermissionError(13, "Permission denied")

    publish()
    folder().mkdir()
    (folder() / FILE).write_bytes(CONTENT)
    for function in ("open", "mkdir", "replace"):
        monkeypatch.setattr(os, function, read_only)
    assert files.fetch("shapes3d") == [folder() / FILE]


def test_a_file_put_there_by_hand_is_checked_once_and_again_when_it_changes(publish, monkeypatch: pytest.MonkeyPatch):
    publish()
    folder().mkdir()
    (folder() / FILE).write_bytes(CONTENT[:-1])
    message = re.escape(
        f"wrong checksum, expected {md5(CONTENT)}, got {md5(CONTENT[:-1])}; remove it and fetch it again"
    )
    for _ in range(2):
        with pytest.raises(UsageError, match=message):
            files.fetch("shapes3d")
    (folder() / FILE).write_bytes(CONTENT)
    assert files.fetch("shapes3d") == [folder() / FILE]
    with monkeypatch.context() as patch:
        patch.setattr(files, "checksum", None)
        assert files.fetch("shapes3d") == [folder() / FILE]
    (folder() / FILE).write_bytes(OTHER)
    os.utime(folder() / FILE, ns=(0, 0))
    with pytest.raises(UsageError, match="wrong checksum"):
        files.fetch("shapes3d")


def test_a_set_of_several_files(server: Server, monkeypatch: pytest.MonkeyPatch):
    contents = {f"{letter}.gz": letter.encode() * 1000 for letter in "abc"}
    sources = tuple(
        Source(file, (server.give(f"/{file}", Reply(content)),), md5(content)) for file, content in contents.items()
    )
    monkeypatch.setitem(SOURCES, "smallnorb", sources)
    (files.data_folder() / "smallnorb").mkdir()
    (files.data_folder() / "smallnorb" / "b.gz").write_bytes(contents["b.gz"])
    paths = files.fetch("smallnorb")
    assert {path.name: path.read_bytes() for path in paths} == contents
    assert set(server.asked) == {"/a.gz", "/c.gz"}


def test_dsprites_is_fetched_as_npz_only(server: Server, monkeypatch: pytest.MonkeyPatch):
    npz, hdf5 = SOURCES["dsprites"]
    digest = hashlib.sha1(b"blob 300000\0" + CONTENT).hexdigest()
    fetched = Source(npz.file, (server.give("/npz", Reply(CONTENT)),), f"git:{digest}")
    monkeypatch.setitem(SOURCES, "dsprites", (fetched, hdf5))
    assert [path.name for path in files.fetch("dsprites")] == [npz.file]


def test_a_drawn_set_has_nothing_to_fetch(tmp_path: Path):
    assert files.fetch("shapes2d:size=32") == []
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_name_gets_the_nearest():
    with pytest.raises(UsageError, match="no data set is called 'shapes3'; did you mean 'shapes3d'"):
        files.fetch("shapes3")


# Cut in the middle


@pytest.mark.parametrize("cut", [1, 1000, 150_000, 299_999])
def test_a_cut_connection_is_gone_on_with_and_only_the_rest_is_asked_for(server: Server, publish, cut: int):
    publish(Reply(CONTENT, cut=cut), Reply(CONTENT))
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"] == [(None, None), (f"bytes={cut}-", '"1"')]


def test_many_cuts_are_no_reason_to_give_up_while_something_new_comes(server: Server, publish):
    publish(Reply(CONTENT, cut=20_000))
    assert_whole(files.fetch("shapes3d"))
    assert [asked for asked, _ in server.asked["/a"]] == [
        None,
        *(f"bytes={n}-" for n in range(20_000, 300_000, 20_000)),
    ]


def test_a_connection_that_stays_cut_is_given_up_and_the_next_fetch_goes_on(server: Server, publish):
    publish(Reply(CONTENT, cut=100_000), Reply(CONTENT, cut=0))
    with pytest.raises(UsageError) as error:
        files.fetch("shapes3d")
    assert "the connection was cut after 100,000 of 300,000 bytes" in str(error.value)
    assert "; 100.0 kB are kept, and the same command resumes from there; " in str(error.value)
    assert_nothing_whole(KEPT)
    assert len(server.asked["/a"]) == 1 + len(download.PAUSES)

    server.asked.clear()
    server.give("/a", Reply(CONTENT))
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"] == [("bytes=100000-", '"1"')]


def test_a_stalled_connection_counts_as_cut(server: Server, publish, monkeypatch: pytest.MonkeyPatch):
    publish(Reply(CONTENT, pause=1.0), Reply(CONTENT))
    monkeypatch.setattr(download, "TIMEOUT", 0.1)
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"][1] == ("bytes=1000-", '"1"')


def test_a_network_that_goes_away_and_comes_back(server: Server, publish, monkeypatch: pytest.MonkeyPatch):
    publish(Reply(CONTENT, cut=1000), Reply(CONTENT))
    urlopen, calls = download.urlopen, iter([True, False, True])

    def shaky(*args, **options):
        if next(calls):
            return urlopen(*args, **options)
        raise URLError(OSError(101, "Network is unreachable"))

    monkeypatch.setattr(download, "urlopen", shaky)
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"] == [(None, None), ("bytes=1000-", '"1"')]


def test_a_server_without_ranges_sends_all_of_it_again(server: Server, publish):
    publish(Reply(CONTENT, cut=100_000, ranges=False), Reply(CONTENT, ranges=False))
    assert_whole(files.fetch("shapes3d"))
    assert len(server.asked["/a"]) == 2


def test_a_server_without_ranges_that_always_cuts_is_given_up(server: Server, publish):
    publish(Reply(CONTENT, cut=100_000, ranges=False))
    with pytest.raises(UsageError, match="was cut after 100,000 of 300,000 bytes"):
        files.fetch("shapes3d")
    assert_nothing_whole(KEPT)


@pytest.mark.parametrize("careless", [False, True])
def test_a_file_that_changed_is_not_glued_to_its_old_half(server: Server, publish, careless: bool):
    url = publish(Reply(CONTENT, version='"2"', careless=careless))
    half(url, version='"1"')
    part().write_bytes(OTHER[:100_000])
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"][0] == ("bytes=100000-", '"1"')
    assert server.asked["/a"][1:] == ([(None, None)] if careless else [])


@pytest.mark.parametrize("start", [0, 99_999, 100_001])
def test_another_range_than_the_one_asked_for_is_not_taken(server: Server, publish, start: int):
    half(publish(Reply(CONTENT, start=start), Reply(CONTENT)))
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"] == [("bytes=100000-", '"1"'), (None, None)]


@pytest.mark.parametrize("total", [100_000, None])
def test_a_file_that_became_shorter_than_its_old_half(publish, total: int | None):
    url = publish(Reply(CONTENT, careless=True))
    half(url, total=total)
    part().write_bytes(OTHER + b"longer")
    assert_whole(files.fetch("shapes3d"))


@pytest.mark.parametrize(
    ("version", "modified", "asked"),
    [
        ('W/"1"', "Mon, 01 Jan 2018 00:00:00 GMT", ("bytes=1000-", "Mon, 01 Jan 2018 00:00:00 GMT")),
        ("", "Mon, 01 Jan 2018 00:00:00 GMT", ("bytes=1000-", "Mon, 01 Jan 2018 00:00:00 GMT")),
        ('W/"1"', "", (None, None)),
        ("", "", (None, None)),
    ],
)
def test_only_a_sure_name_of_a_version_lets_a_half_be_continued(
    server: Server, publish, version: str, modified: str, asked: tuple[str | None, str | None]
):
    publish(*(Reply(CONTENT, version=version, modified=modified, cut=cut) for cut in (1000, None)))
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"] == [(None, None), asked]


def test_a_half_that_cannot_be_continued_is_not_kept(publish):
    publish(Reply(CONTENT, version="", cut=1000))
    with pytest.raises(UsageError) as error:
        files.fetch("shapes3d")
    assert "kept" not in str(error.value)
    assert_nothing_whole([])


@pytest.mark.parametrize("note", ["", "{", "[]", "{}", '{"url": 1}', "\udcff"])
def test_a_half_with_a_broken_note_is_not_continued(server: Server, publish, note: str):
    half(publish(Reply(CONTENT)))
    part().with_name(f"{part().name}.json").write_bytes(note.encode(errors="surrogateescape"))
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"] == [(None, None)]


def test_a_file_that_was_whole_but_not_yet_checked_is_not_asked_for(server: Server, publish):
    half(publish(), size=len(CONTENT))
    assert_whole(files.fetch("shapes3d"))
    assert not server.asked


def test_a_half_that_a_power_cut_spoilt_is_found_out_and_removed(publish):
    half(publish(Reply(CONTENT)))
    part().write_bytes(bytes(100_000))
    with pytest.raises(UsageError, match="wrong checksum"):
        files.fetch("shapes3d")
    assert_nothing_whole([])
    assert_whole(files.fetch("shapes3d"))


# Wrong answers


@pytest.mark.parametrize("length", [True, False])
@pytest.mark.parametrize("wrong", [OTHER, CONTENT[:-1], CONTENT + b"\0", b"<html>Please log in</html>", b""])
def test_wrong_content_is_removed_and_both_checksums_are_told(publish, wrong: bytes, length: bool):
    publish(Reply(wrong, length=length))
    with pytest.raises(UsageError) as error:
        files.fetch("shapes3d")
    assert f"wrong checksum, expected {md5(CONTENT)}, got {md5(wrong)}; removed" in str(error.value)
    assert_nothing_whole([])


def test_an_answer_of_unknown_length_that_is_cut_is_not_taken_for_whole(publish):
    publish(Reply(CONTENT, length=False, cut=100_000))
    with pytest.raises(UsageError, match="wrong checksum"):
        files.fetch("shapes3d")
    assert_nothing_whole([])


def test_an_answer_of_unknown_length_is_fine_when_its_checksum_is(publish):
    publish(Reply(CONTENT, length=False))
    assert_whole(files.fetch("shapes3d"))


@pytest.mark.parametrize(
    "first", [Reply(status=404), Reply(status=403), Reply(status=503), Reply(OTHER), Reply(CONTENT, cut=1000)]
)
def test_a_mirror_helps_out(server: Server, publish, first: Reply):
    mirror = server.give("/mirror", Reply(CONTENT))
    publish(urls=(server.give("/first", first, first, Reply(status=404)), mirror))
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/mirror"] == [(None, None)]


def test_what_was_begun_at_a_mirror_goes_on_there(server: Server, publish):
    mirror = server.give("/mirror", Reply(CONTENT))
    publish(urls=(server.give("/first", Reply(CONTENT)), mirror))
    half(mirror)
    assert_whole(files.fetch("shapes3d"))
    assert dict(server.asked) == {"/mirror": [("bytes=100000-", '"1"')]}


def test_a_server_that_is_busy_for_a_moment(server: Server, publish):
    publish(Reply(status=503), Reply(status=429), Reply(CONTENT))
    assert_whole(files.fetch("shapes3d"))
    assert len(server.asked["/a"]) == 3


def test_when_no_place_has_it_the_message_says_what_to_do(server: Server, publish):
    publish(urls=(server.url("/nowhere"), server.url("/neither")))
    with pytest.raises(UsageError) as error:
        files.fetch("shapes3d")
    host = f"127.0.0.1:{server.server_port}"
    assert str(error.value) == (
        f"cannot fetch {FILE} ({host}: 404 Not Found); "
        f"get it by hand from {server.url('/nowhere')} and save it as '{folder() / FILE}'"
    )
    assert len(server.asked["/nowhere"]) == 1
    assert_nothing_whole([])


def test_redirects_are_followed_by_the_rest_of_a_file_too(server: Server, publish):
    moved = [Reply(status=status, location="/b", version="") for status in (301, 302, 307)]
    server.give("/b", Reply(CONTENT, cut=1000), Reply(CONTENT))
    publish(*moved)
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/b"] == [(None, None), ("bytes=1000-", '"1"')]


@pytest.mark.parametrize("location", ["/a", "file:///etc/passwd"])
def test_redirects_that_lead_nowhere(publish, location: str):
    publish(Reply(status=302, location=location))
    with pytest.raises(UsageError, match=r"cannot fetch 3dshapes.h5 .*302") as error:
        files.fetch("shapes3d")
    assert "\n" not in str(error.value)
    assert_nothing_whole([])


# No network


def test_without_network_the_message_comes_at_once(publish, monkeypatch: pytest.MonkeyPatch):
    def no_names(*_: object, **__: object):
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", no_names)
    here = threading.current_thread()

    def no_waiting(seconds: float) -> None:
        if threading.current_thread() is here:  # the server of an earlier test may still be at work
            pytest.fail("waits for a network that is not there")

    monkeypatch.setattr(time, "sleep", no_waiting)
    publish(urls=("https://one.example/3dshapes.h5", "https://two.example/3dshapes.h5"))
    with pytest.raises(UsageError) as error:
        files.fetch("shapes3d")
    reason = "Temporary failure in name resolution"
    assert str(error.value) == (
        f"cannot fetch {FILE} (one.example: {reason}; two.example: {reason}); "
        f"get it by hand from https://one.example/3dshapes.h5 and save it as '{folder() / FILE}'"
    )


def test_a_refused_connection_keeps_the_half(publish):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/a"
        publish(urls=(url,))
        half(url)
        with pytest.raises(UsageError, match=r"Connection refused\); 100.0 kB are kept"):
            files.fetch("shapes3d")
    assert part().read_bytes() == CONTENT[:100_000]


# Stopped from outside


def test_an_interrupt_keeps_the_half_and_says_so(server: Server, publish):
    def interrupt(what: str, done: float, total: float | None) -> None:
        if done >= 100_000:
            raise KeyboardInterrupt

    publish(Reply(CONTENT, pause=0.001))
    with pytest.raises(KeyboardInterrupt, match=r"interrupted; 1.* kB are kept, and the same command resumes"):
        files.fetch("shapes3d", on_progress=interrupt)
    assert_nothing_whole(KEPT)
    kept = download.size_of(part())
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"][1:] == [(f"bytes={kept}-", '"1"')]


PROGRAM = f"""
import resource, sys
from unweave.data import files
from unweave.data.sources import SOURCES, Source
url, room = sys.argv[1], int(sys.argv[2])
SOURCES["shapes3d"] = (Source({FILE!r}, (url,), {md5(CONTENT)!r}),)
if room:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    print(*files.fetch("shapes3d", from_file=sys.argv[3:]))
except OSError as error:
    print(type(error).__name__, error.filename, error.strerror)
"""


def start(url: str, room: int = 0, *paths: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROGRAM, url, str(room), *map(str, paths)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_killed_fetch_continues(server: Server, publish):
    url = publish(Reply(CONTENT, hold=Event()), Reply(CONTENT))
    with start(url) as process:
        wait_for(lambda: download.size_of(part()) == 150_000)
        process.send_signal(signal.SIGKILL)
    assert_nothing_whole(KEPT)
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"] == [(None, None), ("bytes=150000-", '"1"')]


def test_of_two_processes_one_fetches_and_the_other_waits(server: Server, publish):
    hold = Event()
    url = publish(Reply(CONTENT, hold=hold))
    with start(url) as first:
        wait_for(lambda: download.size_of(part()) == 150_000)
        with start(url) as second:
            assert second.stderr is not None
            assert "another process is fetching shapes3d; waiting for it" in second.stderr.readline()
            hold.set()
            assert first.communicate() == (f"{folder() / FILE}\n", "")
            assert second.communicate()[0] == f"{folder() / FILE}\n"
    assert server.asked["/a"] == [(None, None)]
    assert_whole(files.fetch("shapes3d"))


def test_when_the_first_of_two_processes_is_killed_the_other_goes_on(server: Server, publish):
    url = publish(Reply(CONTENT, hold=Event()), Reply(CONTENT))
    with start(url) as first:
        wait_for(lambda: download.size_of(part()) == 150_000)
        with start(url) as second:
            assert second.stderr is not None
            assert "another process is fetching shapes3d" in second.stderr.readline()
            first.kill()
            assert second.communicate()[0] == f"{folder() / FILE}\n"
    assert server.asked["/a"] == [(None, None), ("bytes=150000-", '"1"')]
    assert_whole(files.fetch("shapes3d"))


# A full disk


def test_a_disk_that_fills_up_keeps_the_half(server: Server, publish):
    url = publish(Reply(CONTENT))
    out, err = start(url, 100_000).communicate()
    assert out == (
        f"OSError {folder() / FILE} File too large; 100.0 kB are kept, and the same command resumes from there\n"
    ), err
    assert_nothing_whole(KEPT)
    assert_whole(files.fetch("shapes3d"))
    assert server.asked["/a"][1] == ("bytes=100000-", '"1"')


def test_a_disk_that_is_full_from_the_start(publish):
    out, err = start(publish(Reply(CONTENT)), 1).communicate()
    assert out == f"OSError {folder() / FILE} File too large\n", err
    assert_nothing_whole([])


def test_a_disk_that_fills_up_while_a_file_is_copied(publish, tmp_path: Path):
    given = tmp_path / "given"
    given.write_bytes(CONTENT)
    out, err = start(publish(), 100_000, given).communicate()
    assert out == f"OSError {folder()} File too large\n", err
    assert_nothing_whole([])


# From a file, from another place


def test_a_given_file_is_recognised_by_its_checksum(server: Server, publish, tmp_path: Path):
    publish()
    given = tmp_path / "renamed.bin"
    given.write_bytes(CONTENT)
    seen: list[tuple[int, int | None]] = []
    assert_whole(files.fetch("shapes3d", from_file=str(given), on_progress=lambda _, *count: seen.append(count)))
    assert given.read_bytes() == CONTENT
    assert not server.asked
    assert seen == [(300_000, 300_000)]


def test_a_given_file_replaces_a_broken_one_and_ends_a_begun_download(publish, tmp_path: Path):
    given = tmp_path / FILE
    given.write_bytes(CONTENT)
    half(publish())
    (folder() / FILE).write_bytes(b"broken")
    (folder() / f".{FILE}.0123456789ab.tmp").write_bytes(b"of a process that was killed")
    assert_whole(files.fetch("shapes3d", from_file=[given]))
    assert_whole(files.fetch("shapes3d", from_file=[folder() / FILE]))


def test_a_wrong_file_is_refused_and_the_one_that_is_here_stays(publish, tmp_path: Path):
    publish()
    given = tmp_path / "given"
    given.write_bytes(CONTENT[:-1])
    folder().mkdir()
    (folder() / FILE).write_bytes(CONTENT)
    with pytest.raises(UsageError) as error:
        files.fetch("shapes3d", from_file=[given])
    assert str(error.value) == (
        f"'{given}' is not a published file of shapes3d: wrong checksum, "
        f"expected {md5(CONTENT)}, got {md5(CONTENT[:-1])}"
    )
    assert_whole(files.fetch("shapes3d"))


def test_a_wrong_file_with_a_known_name_is_compared_with_that_one(tmp_path: Path):
    wanted = SOURCES["smallnorb"][3]
    given = tmp_path / wanted.file
    given.write_bytes(CONTENT)
    with pytest.raises(UsageError, match=f"wrong checksum, expected {wanted.checksum}, got {md5(CONTENT)}$"):
        files.fetch("smallnorb", from_file=[given])


def test_some_of_several_files_and_an_alternative_may_be_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    sources = tuple(Source(f"{n}.gz", ("http://127.0.0.1:9/",), md5(bytes(n)), n) for n in range(3))
    alternative = Source("all.h5", ("http://127.0.0.1:9/",), md5(CONTENT), alternative=True)
    monkeypatch.setitem(SOURCES, "smallnorb", (*sources, alternative))
    given = [tmp_path / name for name in "012h"]
    for path, content in zip(given, [bytes(0), bytes(1), bytes(2), CONTENT], strict=True):
        path.write_bytes(content)
    assert [path.name for path in files.fetch("smallnorb", from_file=given[1:3])] == ["1.gz", "2.gz"]
    assert files.missing("smallnorb") == ["0.gz"]
    files.fetch("smallnorb", from_file=given[3])
    assert files.missing("smallnorb") == []


def test_a_given_file_that_is_not_there(publish, tmp_path: Path):
    publish()
    with pytest.raises(FileNotFoundError) as error:
        files.fetch("shapes3d", from_file=tmp_path / "none")
    assert error.value.filename == str(tmp_path / "none")


def test_another_place_is_asked_instead(server: Server, publish):
    publish(Reply(status=404))
    assert_whole(files.fetch("shapes3d", url=server.give("/elsewhere", Reply(CONTENT))))
    assert set(server.asked) == {"/elsewhere"}
    (folder() / FILE).unlink()
    server.give(f"/folder/{FILE}", Reply(CONTENT))
    assert_whole(files.fetch("shapes3d", url=server.url("/folder/")))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("shapes3d", {"url": "file:///etc/passwd"}, "'file:///etc/passwd' is not an http:// or https:// URL; for"),
        ("shapes3d", {"url": "3dshapes.h5"}, "'3dshapes.h5' is not an http:// or https:// URL"),
        ("shapes3d", {"url": "http://127.0.0.1/ä"}, "'http://127.0.0.1/ä' is not an http://"),
        ("shapes3d", {"url": "http://127.0.0.1:x/a"}, r"cannot fetch 3dshapes.h5 \(127.0.0.1:x: not a URL: "),
        ("shapes3d", {"url": f"http://{'a' * 70}.example/a"}, "cannot fetch 3dshapes.h5 .*: not a URL: "),
        ("smallnorb", {"url": "http://127.0.0.1/a"}, "smallnorb has several files: give the URL of their folder"),
        ("shapes3d", {"url": "http://127.0.0.1/a", "from_file": ["a"]}, "fetch either from a URL or from files"),
        ("shapes2d", {"from_file": ["a"]}, "shapes2d is drawn when needed; it has no files"),
    ],
)
def test_places_that_are_none(name: str, options: dict, message: str):
    with pytest.raises(UsageError, match=f"^{message}"):
        files.fetch(name, **options)
