"""Download one file over HTTP, and resume where a download was interrupted.

The bytes received so far are kept in a part file. A note beside it records the URL and the version of the file. A part
is resumed only if the server still has that version; otherwise the download starts again.
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
"""Seconds to wait before each retry, while no new bytes arrive."""
TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as lost."""
CHUNK = 1 << 20
PASSING = (408, 429, 500, 502, 503, 504)
"""Status codes of temporary failures."""


class NoFile(Exception):
    """The file cannot be downloaded; the message is the reason, in a few words."""


class Cut(NoFile):
    """The connection was lost, or the server was busy: a retry may help."""


class NoAnswer(Cut):
    """There was no connection at all."""


def download(url: str, part: Path, on_progress: OnProgress | None = None) -> None:
    """Download the file at `url` into `part`, resuming if possible, or raise `NoFile`.

    A lost connection is retried until several retries in a row bring no new bytes. The part has the length that the
    server states; the caller checks its checksum.
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
    """Return the size of a part in bytes; 0 if it does not exist."""
    return part.stat().st_size if part.is_file() else 0


def discard(part: Path) -> None:
    """Remove a part, its note first: a part without a note is never resumed."""
    _note_of(part).unlink(missing_ok=True)
    part.unlink(missing_ok=True)


def begun_at(part: Path) -> str | None:
    """Return the URL that a part came from, if it can be resumed."""
    note = _read_note(part)
    return note.url if note and size_of(part) else None


@dataclass(frozen=True)
class _Note:
    """The URL and the version of the file that a part belongs to."""

    url: str
    version: str
    """The server's name of the version: a strong ETag, or else the date of the last change."""
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
                raise Cut("the server sent a different part than requested")
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
    """Request the file, or the rest of the noted version, and return the server's response."""
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
    except (InvalidURL, ValueError) as error:  # the latter if the host is malformed
        raise NoFile(f"not a URL: {_reason(error)}") from error
    except (OSError, HTTPException) as error:
        raise Cut(_reason(error)) from error


def _chunks(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the bytes as they arrive; a lost connection raises `Cut` on every platform."""
    while True:
        try:
            chunk = response.read1(CHUNK)
        except (OSError, HTTPException) as error:
            raise Cut(_reason(error)) from error
        if not chunk:
            return
        yield chunk


def _continues(response: HTTPResponse, note: _Note, done: int) -> bool:
    """Return whether a response holds what follows the first `done` bytes of the noted version."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    return (
        found is not None
        and int(found[1]) == done
        and found[2] in ("*", str(note.total))
        and _version(response) in ("", note.version)  # some servers send a part of a newer version
    )


def _version(response: HTTPResponse) -> str:
    etag = response.headers.get("ETag", "")
    if etag and not etag.startswith("W/"):  # a weak ETag does not guarantee equal bytes
        return etag
    return response.headers.get("Last-Modified", "")


def _begin(part: Path, note: _Note) -> None:
    """Empty the part, then write its note, so that the note never describes another version's bytes."""
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
    """Return the system's message of an error, without its number."""
    text = error.strerror if isinstance(error, OSError) else None
    return " ".join(str(text or error).split()) or type(error).__name__
