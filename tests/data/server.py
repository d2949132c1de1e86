"""A web server on this machine that misbehaves as it is told."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import cast


@dataclass(frozen=True)
class Reply:
    """How one request is answered."""

    content: bytes = b""
    status: int = 200
    version: str = '"1"'
    """The ETag; none when empty."""
    modified: str = ""
    """The date of the last change; none when empty."""
    ranges: bool = True
    """False for a server that always sends the whole file."""
    careless: bool = False
    """True for a server that sends a range of whatever it has, and does not look at If-Range."""
    start: int | None = None
    """Where the range begins that it sends, whatever was asked for."""
    cut: int | None = None
    """Bytes after which the connection breaks."""
    length: bool = True
    """False for a server that does not tell how long its answer is."""
    location: str = ""
    """Where it sends the reader instead."""
    pause: float = 0.0
    """Seconds between two pieces of 1000 bytes."""
    hold: Event | None = None
    """What it waits for in the middle of the content."""


class Server(ThreadingHTTPServer):
    """A server of replies by path; each request takes the next one, and the last one stays."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: dict[str, list[Reply]] = {}
        self.asked: defaultdict[str, list[tuple[str | None, str | None]]] = defaultdict(list)
        """Range and If-Range of each request, by path."""

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def give(self, path: str, *replies: Reply) -> str:
        """Answer the requests for a path with these replies, and return its URL."""
        self.replies[path] = list(replies)
        return self.url(path)

    def next_reply(self, path: str) -> Reply:
        replies = self.replies.get(path, [Reply(status=404)])
        return replies.pop(0) if len(replies) > 1 else replies[0]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = cast(Server, self.server)
        wanted = self.headers["Range"]
        server.asked[self.path].append((wanted, self.headers["If-Range"]))
        reply = server.next_reply(self.path)
        self.close_connection = True
        status, start, size = reply.status, 0, len(reply.content)
        if wanted and reply.ranges and status == 200 and self.is_unchanged(reply):
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            start = start if reply.start is None else reply.start
            status = 206 if start < size else 416
        self.send_response(status)
        if reply.location:
            self.send_header("Location", reply.location)
        if reply.version:
            self.send_header("ETag", reply.version)
        if reply.modified:
            self.send_header("Last-Modified", reply.modified)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        body = reply.content[start:]
        if reply.length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.send_body(body[: reply.cut], reply)

    def is_unchanged(self, reply: Reply) -> bool:
        return reply.careless or self.headers["If-Range"] in (reply.version, reply.modified)

    def send_body(self, body: bytes, reply: Reply) -> None:
        step = 1000 if reply.pause else -(-len(body) // 2) or 1
        try:
            for start in range(0, len(body), step):
                if start and reply.hold:
                    reply.hold.wait(60)
                self.wfile.write(body[start : start + step])
                time.sleep(reply.pause)
        except ConnectionError:  # the reader has gone
            pass

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server for a while."""
    with Server() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
