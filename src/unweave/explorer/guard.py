"""Checks every request before it is answered: where it comes from, its method, and its length.

Any web page that is open in a browser can send requests to 127.0.0.1, directly or through a domain name that resolves
to it. The headers Host, Origin and Sec-Fetch-Site show where a request comes from, and only our own pages get answers.
Nothing can be written. Every error is one line of JSON.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unweave.errors import UsageError
from unweave.explorer.refusals import Refused
from unweave.explorer.sending import send_json

LOG = logging.getLogger("unweave.explorer")
LONGEST_PATH = 512
LONGEST_QUERY = 48_000
HERE = ("127.0.0.1", "localhost", "::1")
ASKING = ("GET", "HEAD")
ENDING = "the server is shutting down"


@dataclass(frozen=True)
class Rules:
    """Which requests are allowed."""

    host: str = "127.0.0.1"
    """The address that the server listens on."""
    scripts: str = ""
    """Hashes of the page's inline scripts, for its content security policy."""
    framed_by: str = "'none'"
    """Sources whose pages may embed ours, such as a notebook."""
    names: Collection[str] = field(default_factory=frozenset)
    """Other names of this machine."""

    def is_ours(self, host: str) -> bool:
        """Return whether a Host header names this machine: an attacker's domain name may resolve to it as well.

        Addresses other than the one listened on count only if the server accepts other machines.
        """
        name = _name_of(host)
        if name is None:
            return False
        if name in HERE or name == self.host or name in self.names:
            return True
        if self.host in HERE:
            return False
        return name == socket.gethostname().lower() or _is_address(name)

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers of every answer: what the page may load, and who may embed it."""
        policy = (
            "default-src 'self'; "
            f"script-src 'self' 'unsafe-eval' {self.scripts}; "  # plotly compiles code for parallel coordinates
            "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; "
            f"base-uri 'none'; form-action 'none'; frame-ancestors {self.framed_by}"
        )
        return [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
        ]


class Guard:
    """The ASGI application that the server runs: it checks requests, and answers errors."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules
        self._headers = rules.headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": [*message.get("headers", []), *self._headers]}
            await send(message)

        try:
            self._check(scope)
            await self._app(scope, receive, sending)
        except Exception as error:
            if begun:  # the answer was interrupted: nothing can be added to it
                LOG.debug("an answer was interrupted", exc_info=error)
                return
            status, line = explained(error)
            await send_json({"error": line}, status)(scope, receive, sending)
        except asyncio.CancelledError:  # the server shuts down before the answer is complete
            if not begun:
                await send_json({"error": ENDING}, 503)(scope, receive, sending)

    def _check(self, scope: Scope) -> None:
        if scope["method"] not in ASKING:
            raise Forbidden("nothing can be changed here: only GET requests are answered", 405)
        path, query = scope.get("raw_path") or scope["path"].encode(), scope.get("query_string", b"")
        if len(path) > LONGEST_PATH or len(query) > LONGEST_QUERY:
            raise Forbidden("the address is too long", 413)
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if headers.get("content-length", ["0"]) != ["0"] or "transfer-encoding" in headers:
            raise Forbidden("requests must not have a body", 413)
        hosts = headers.get("host", [])
        if len(hosts) != 1 or not self._rules.is_ours(hosts[0]):
            raise Forbidden("this server answers only requests to its own address", 403)
        for origin in headers.get("origin", []):
            if urlsplit(origin).netloc != hosts[0] or urlsplit(origin).scheme not in ("http", "https"):
                raise Forbidden("this server answers only its own pages", 403)
        site, mode = headers.get("sec-fetch-site", ["none"])[0], headers.get("sec-fetch-mode", [""])[0]
        if site in ("cross-site", "same-site") and not (mode == "navigate" and scope["path"] == "/"):
            raise Forbidden("this server answers only its own pages", 403)


class Forbidden(Refused):
    """A request that is refused before anything is read."""

    def __init__(self, line: str, status: int) -> None:
        super().__init__(line)
        self.status = status


def explained(error: Exception) -> tuple[int, str]:
    """Return the status and the message of an error; unexpected errors are logged, and shown without details."""
    if isinstance(error, Refused):
        return error.status, _line(error)
    if isinstance(error, UsageError):
        return 409, _line(error)
    if isinstance(error, HTTPException):
        return error.status_code, "there is nothing at this address"
    if isinstance(error, FileNotFoundError):
        return 404, "this no longer exists"
    LOG.warning("a request failed: %s: %s", type(error).__name__, _line(error))
    LOG.debug("a request failed", exc_info=error)
    if isinstance(error, MemoryError):
        return 413, "there is not enough memory for this"
    return 409, f"this cannot be shown: it is damaged or has an unexpected form ({type(error).__name__})"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:600] or type(error).__name__


def _name_of(host: str) -> str | None:
    """Return the name in a Host header without its port, in lower case; None if the header is invalid."""
    try:
        found = urlsplit(f"//{host}")
        _ = found.port  # raises if it is not a number
    except ValueError:
        return None
    plain = found.netloc == host and not (found.path or found.query or found.fragment) and "@" not in host
    return found.hostname if plain else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
