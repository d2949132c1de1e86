"""The application: it finds the function that answers a request."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
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
LIGHT = ("routes_study",)
HEAVY = ("routes_run", "answers_data", "answers_geometry")
"""The modules that have routes, each in a list of this name; the heavy ones load models, metrics and plots."""
FIRST = ("lib/", "views/study")
"""How the names of the modules begin that the first page needs."""
MODULE = b'<script type="module"'
KINDS = {
    ".js": "text/javascript",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The files of the page, by ending."""


def create_app(explorer: Explorer, *, host: str = "127.0.0.1", framed_by: str = "'none'") -> ASGIApp:
    """Return the application that answers all requests of the explorer.

    Parameters
    ----------
    explorer
        What is explored.
    host
        The address that the server listens on; requests to other names are refused.
    framed_by
        Sources whose pages may embed ours, in the syntax of a content security policy.

    Returns
    -------
    ASGIApp
        An application for any ASGI server.
    """
    holder = Starlette()
    holder.state.explorer = explorer
    return Guard(Pages(holder), Rules(host.lower(), _hashes(), framed_by))


class Pages:
    """Answers requests by their routes; slow modules are imported on first use.

    Errors are raised and explained by the guard.
    """

    def __init__(self, holder: Starlette) -> None:
        pages = [Route("/", _front), Route("/page/{name:path}", _page), Route("/plotly.js", _plotly)]
        self._holder = holder
        self._light = Router([*pages, *_routes(LIGHT)], redirect_slashes=False)
        self._known = {route.path for route in self._light.routes if isinstance(route, Route)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["app"] = self._holder
        is_heavy = scope["path"].startswith("/api/") and scope["path"] not in self._known
        router = await run_in_threadpool(heavy) if is_heavy else self._light
        await router(scope, receive, send)


@cache
def heavy() -> Router:
    """Return the routes that need models and metrics."""
    return Router(_routes(HEAVY), redirect_slashes=False)


def _routes(modules: Iterable[str]) -> list[BaseRoute]:
    found: list[BaseRoute] = []
    for name in modules:
        found += import_module(f"unweave.explorer.{name}").routes
    return found


async def _front(request: Request) -> Response:
    return send_bytes(_front_page(), KINDS[".html"])


@cache
def _front_page() -> bytes:
    """Return the first page with links to its modules, so that a browser requests them all at once.

    The links come after the import map: a browser ignores a map that comes after the first module.
    """
    names = [name for name in page_files() if name.startswith(FIRST) and name.endswith(".js")]
    links = "".join(f'<link rel="modulepreload" href="page/{name}">\n' for name in names).encode()
    return page_files()["index.html"].read_bytes().replace(MODULE, links + MODULE)


async def _page(request: Request) -> Response:
    return _file(request.path_params["name"])


def _file(name: str) -> Response:
    """Return a file of the page by its name; the requested path never reaches the file system."""
    path = page_files().get(name)
    if path is None:
        raise Missing("there is no such file")
    return send_bytes(path.read_bytes(), KINDS[path.suffix])


@cache
def page_files() -> dict[str, Path]:
    """Return the files of the page, by the names under which it requests them."""
    return {path.relative_to(PAGE).as_posix(): path for path in sorted(PAGE.rglob("*")) if path.suffix in KINDS}


def _plotly(request: Request) -> Response:
    path = plotly_path()
    return FileResponse(path, media_type="text/javascript", headers={"Cache-Control": "max-age=604800"})


def plotly_path() -> Path:
    """Return the path of plotly.js in the package plotly, without importing the package, which is large."""
    found = find_spec("plotly")
    for place in (found.submodule_search_locations or []) if found else []:
        if (path := Path(place) / "package_data" / "plotly.min.js").is_file():
            return path
    raise Unable("plotly is not installed; install the extra: pip install 'unweave[web]'")


def _hashes() -> str:
    """Return the hashes of the page's inline scripts, for its content security policy."""
    path = page_files().get("index.html")
    scripts = INLINE.findall(path.read_bytes()) if path else []
    digests = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
