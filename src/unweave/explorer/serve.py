"""The server: uvicorn on a socket, in this thread or in another one."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from starlette.types import ASGIApp

from unweave.errors import UsageError


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; port 0 means any free port."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # otherwise asyncio delays packets
    except OSError as error:
        raise UsageError(f"'{host}' is not an address of this machine: {error.strerror or error}") from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(128)
    except (OSError, OverflowError) as error:
        found.close()
        raise UsageError(f"cannot listen on {host}, port {port}: {error}; choose another with --port") from error
    return found


def address_of(listener: socket.socket, host: str) -> str:
    """Return the address that a browser on this machine opens."""
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{listener.getsockname()[1]}/"


def serve(app: ASGIApp, listener: socket.socket, on_start: Callable[[], object] = lambda: None) -> None:
    """Answer requests in the main thread until Ctrl-C; a second Ctrl-C ends the process, whatever threads compute."""
    server = _server(app, on_start)
    signal.signal(signal.SIGINT, _interrupted)  # uvicorn passes the signal on after it has stopped
    server.run(sockets=[listener])


def _interrupted(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(0))  # safe: nothing is ever written
    raise KeyboardInterrupt


class Background:
    """A server in a separate thread, until it is closed or the process ends."""

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        self._listener = listener
        self._server = _server(app)
        self._server.install_signal_handlers = lambda: None  # some versions would install them, which fails in a thread
        self._thread = threading.Thread(target=self._run, name="unweave-explorer", daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)

    def _run(self) -> None:
        self._server.run(sockets=[self._listener])

    def close(self) -> None:
        """Stop, and free the port."""
        self._server.should_exit = True
        self._thread.join(timeout=5)
        self._listener.close()


def _server(app: ASGIApp, on_start: Callable[[], object] = lambda: None) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if self.should_exit:
                os._exit(0)
            super().handle_exit(sig, frame)

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_start()

    config = uvicorn.Config(
        app,
        log_level="critical",  # the guard explains all errors; requests interrupted by Ctrl-C are not errors
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        limit_concurrency=200,
    )
    return Server(config)
