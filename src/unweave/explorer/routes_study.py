"""The routes of studies: the folder, its tables, and their changes."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unweave.explorer.queries import Query
from unweave.explorer.sending import send_bytes, send_json
from unweave.explorer.state import Explorer

JSON = "application/json"


def _explorer(request: Request) -> Explorer:
    return request.app.state.explorer


def index(request: Request) -> Response:
    """What there is to explore."""
    return send_json(_explorer(request).about())


def table(request: Request) -> Response:
    """The table of a study."""
    return send_bytes(_explorer(request).table(Query(request).text("study", "."))[1], JSON)


def groups(request: Request) -> Response:
    """Groups of runs that differ only in the seed."""
    return send_bytes(_explorer(request).groups(Query(request).text("study", ".")), JSON)


def changes(request: Request) -> Response:
    """Whether a study has changed since a given state."""
    query = Query(request)
    return send_json(_explorer(request).changes(query.text("study", "."), query.text("stamp", "-")))


async def progress(request: Request) -> Response:
    """The progress of reading the folder; answered at once."""
    return send_json(_explorer(request).progress())


routes = [
    Route("/api/index", index),
    Route("/api/progress", progress),
    Route("/api/table", table),
    Route("/api/groups", groups),
    Route("/api/changes", changes),
]
