"""One file over HTTP, continued where it was cut.

What has come is kept in a part beside which a note says of which version of which file it is. A part is
continued only when the server still has that version; otherwise the download starts again.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from http.client import HTTPException, HTTPResponse, InvalidURL
from importlib.metadata import version
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from unweave.files import write_json
from unweave.progress import OnProgress, silent

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further try, as long as nothing new comes."""
TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut."""
CHUNK = 1 << 20
PASSING = (408, 429, 500, 502, 503, 504)
"""Answers of a server that may be different next time."""


class NoFile(Exception):
    """A server does not give the file; the message is the reason, in a few words."""


class Cut(NoFile):
    """The connection broke, or the server was busy: it may help to try again."""


class NoAnswer(Cut):
    """There was no connection at all."""


def download(url: str, part: Path, on_progress: OnProgress | None = None) -> None:
    """Bring the file at `url` into `part`, going on with what is there, or raise `NoFile`.

    A cut connection is tried again until nothing new has come a few times in a row. The part is whole as far as
    the server tells; its checksum is left to the caller.
    """
    start = best = size_of(part)
    failures = 0
    while True:
        try:
            return _receive(url, part, on_progress or silent)
        except Cut as cut:
            if isinstance(cut, NoAnswer) and best == start:  # no network: waiting would only delay the message
                raise
            reached = size_of(part)
            failures = 1 if reached > best else failures + 1
            best = max(best, reached)
            if failures > len(PAUSES):
                raise
        time.sleep(PAUSES[failures - 1])


def size_of(part: Path) -> int:
    """Return the bytes in a part; 0 when there is none."""
    return part.stat().st_size if part.is_file() else 0


def discard(part: Path) -> None:
    """Remove a part, its note first: a part without a note is never continued."""
    _note_of(part).unlink(missing_ok=True)
    part.unlink(missing_ok=True)


def begun_at(part: Path) -> str | None:
    """Return the URL that a part came from, when it can be continued."""
    note = _read_note(part)
    return note.url if note and size_of(part) else None


@dataclass(frozen=True)
class _Note:
    """Which version of which file a part is of."""

    url: str
    version: str
    """What the server calls the version: a strong ETag, or else the date of the last change."""
    total: int | None


def _receive(url: str, part: Path, on_progress: OnProgress) -> None:
    """Get the file, or the rest of it, over one connection."""
    note = _read_note(part)
    if note is None or note.url != url:
        note, done = None, 0
    elif (done := size_of(part)) and done == note.total:
        return
    with _ask(url, part, note if done else None, done) as response:
        if response.status == 206 and note:
            if not _continues(response, note, done):
                discard(part)
                raise Cut("the server gave another part than was asked for")
            total = note.total
        else:
            total, done = response.length, 0
            _begin(part, _Note(url, _version(response), total))
        on_progress(part.name, done, total)
        with part.open("ab") as file:
            for chunk in _chunks(response):
                file.write(chunk)
                done += len(chunk)
                on_progress(part.name, done, total)
            file.flush()
            os.fsync(file.fileno())
    if total is not None and done != total:
        raise Cut(f"the connection was cut after {done:,} of {total:,} bytes")


def _ask(url: str, part: Path, note: _Note | None, done: int) -> HTTPResponse:
    """Return the server's answer to a request for the file, or for the rest of that same version."""
    headers = {"User-Agent": f"unweave/{version('unweave')}"}
    if note:
        headers |= {"Range": f"bytes={done}-", "If-Range": note.version}
    try:
        return urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == 416:  # the part is longer than the file
            discard(part)
        kind = Cut if error.code in (*PASSING, 416) else NoFile
        raise kind(f"{error.code} {' '.join(str(error.reason).split())}") from error
    except URLError as error:
        raise NoAnswer(_reason(error.reason)) from error
    except (InvalidURL, ValueError) as error:  # the latter from a host that cannot be one
        raise NoFile(f"not a URL: {_reason(error)}") from error
    except (OSError, HTTPException) as error:
        raise Cut(_reason(error)) from error


def _chunks(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the bytes as they come; a broken connection is a `Cut`, whatever the platform calls it."""
    while True:
        try:
            chunk = response.read1(CHUNK)
        except (OSError, HTTPException) as error:
            raise Cut(_reason(error)) from error
        if not chunk:
            return
        yield chunk


def _continues(response: HTTPResponse, note: _Note, done: int) -> bool:
    """Tell whether an answer holds what follows the first `done` bytes of the noted version."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    return (
        found is not None
        and int(found[1]) == done
        and found[2] in ("*", str(note.total))
        and _version(response) in ("", note.version)  # some servers send a part of the new version all the same
    )


def _version(response: HTTPResponse) -> str:
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):  # a weak one does not vouch for every byte
        return etag
    return response.headers.get("Last-Modified", "")


def _begin(part: Path, note: _Note) -> None:
    """Empty the part, then note what will be in it: no other version's bytes ever stand beside this note."""
    discard(part)
    part.touch()
    if note.version:
        write_json(_note_of(part), asdict(note))


def _note_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _read_note(part: Path) -> _Note | None:
    with suppress(OSError, ValueError, TypeError):
        return _Note(**json.loads(_note_of(part).read_text(encoding="utf-8")))
    return None


def _reason(error: object) -> str:
    """Return what the system says about an error, without its number."""
    text = error.strerror if isinstance(error, OSError) else None
    return " ".join(str(text or error).split()) or type(error).__name__
