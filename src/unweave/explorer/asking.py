"""Requests to the application within this process: no socket, no server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message

OKAY = 200


class Asker:
    """Sends requests to an application, like a browser on this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def ask(self, path: str, params: Mapping[str, Any]) -> bytes | None:
        """Return the answer below /api/, or None if it is refused."""
        with ThreadPoolExecutor(1) as pool:  # in a notebook, this thread already runs an event loop
            status, content = pool.submit(asyncio.run, self._get(f"/api/{path}", params)).result()
        return content if status == OKAY else None

    def json(self, path: str, params: Mapping[str, Any]) -> Any:
        """Return the answer below /api/ as JSON, or None if it is refused."""
        found = self.ask(path, params)
        return None if found is None else json.loads(found)

    async def _get(self, path: str, params: Mapping[str, Any]) -> tuple[int, bytes]:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": urlencode(params).encode(),
            "headers": [(b"host", b"localhost")],
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 0),
        }
        status, parts = 0, []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                parts.append(message.get("body", b""))

        await self._app(scope, receive, send)
        return status, b"".join(parts)
