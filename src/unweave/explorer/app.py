"""The routes: every address that is answered, and the function that does."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from unweave.explorer.guard import Guard, Rules
from unweave.explorer.refusals import Missing, Unable
from unweave.explorer.sending import send_bytes
from unweave.explorer.state import Explorer

PAGE = Path(__file__).parent / "page"
INLINE = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
ROUTED = ("routes", "answers_data", "answers_geometry")
"""The modules that have routes, each in a list of this name."""
KINDS = {
    ".js": "text/javascript",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The files of the page, by ending."""


def create_app(explorer: Explorer, *, host: str = "127.0.0.1", framed_by: str = "'none'") -> ASGIApp:
    """Return the application that answers all requests about what is explored.

    Parameters
    ----------
    explorer
        What is explored.
    host
        The address the server listens at; requests to other names are refused.
    framed_by
        Sources whose pages may show ours within them, as a content security policy has them.

    Returns
    -------
    ASGIApp
        An application for any ASGI server.
    """
    holder = Starlette()
    holder.state.explorer = explorer
    pages = [Route("/", _front), Route("/page/{name:path}", _page), Route("/plotly.js", _plotly)]
    return Guard(Pages(holder, pages), Rules(host.lower(), _hashes(), framed_by))


class Pages:
    """Answers requests by their routes. Those of answers are imported when the first is needed: they load a lot.

    Errors are raised, for the guard to explain.
    """

    def __init__(self, holder: Starlette, pages: list[Route]) -> None:
        self._holder = holder
        self._pages = Router(pages, redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["app"] = self._holder
        is_answer = scope["type"] == "http" and scope["path"].startswith("/api/")
        router = await run_in_threadpool(answers) if is_answer else self._pages
        await router(scope, receive, send)


@cache
def answers() -> Router:
    """Return the routes of all modules that have any."""
    found: list[BaseRoute] = []
    for name in ROUTED:
        if find_spec(f"unweave.explorer.{name}") is not None:
            found += import_module(f"unweave.explorer.{name}").routes
    return Router(found, redirect_slashes=False)


def _front(request: Request) -> Response:
    return _file("index.html")


def _page(request: Request) -> Response:
    return _file(request.path_params["name"])


def _file(name: str) -> Response:
    """Return a file of the page, which is looked up by its name, and never by a path that is asked for."""
    path = page_files().get(name)
    if path is None:
        raise Missing("there is no such file")
    return send_bytes(path.read_bytes(), KINDS[path.suffix])


def page_files() -> dict[str, Path]:
    """Return the files that the page is made of, by the names that it asks for them with."""
    return {path.relative_to(PAGE).as_posix(): path for path in sorted(PAGE.rglob("*")) if path.suffix in KINDS}


def _plotly(request: Request) -> Response:
    path = plotly_path()
    return FileResponse(path, media_type="text/javascript", headers={"Cache-Control": "max-age=604800"})


def plotly_path() -> Path:
    """Return where the Python package plotly has plotly.js; the package itself, which is large, is not imported."""
    found = find_spec("plotly")
    for place in (found.submodule_search_locations or []) if found else []:
        if (path := Path(place) / "package_data" / "plotly.min.js").is_file():
            return path
    raise Unable("plotly is not installed; install the extra: pip install 'unweave[web]'")


def _hashes() -> str:
    """Return the hashes of the scripts within the page, which its content security policy names."""
    path = page_files().get("index.html")
    scripts = INLINE.findall(path.read_bytes()) if path else []
    digests = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
