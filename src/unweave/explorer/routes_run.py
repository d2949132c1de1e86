"""The routes of runs: each reads a request's parameters, and calls the function that answers it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unweave.explorer import answers_compare, answers_matrix, answers_run, pictures
from unweave.explorer.opened import Array, Opened
from unweave.explorer.queries import Query
from unweave.explorer.sending import send_bytes, send_json
from unweave.explorer.state import Explorer

PNG, GIF = "image/png", "image/gif"
STEPS, MOST_STEPS = 9, 64
MOST_IMAGES = 64
ROWS = ("all", "used")


def _explorer(request: Request) -> Explorer:
    return request.app.state.explorer


def _opened(request: Request, name: str = "run") -> tuple[Opened, Query, str]:
    query = Query(request)
    identity = query.text(name)
    step = query.whole("step") if query.text("step", "") else None
    query.scale()  # refused if it is wrong, whatever the answer is
    return _explorer(request).open(identity, step), query, identity


def about(request: Request) -> Response:
    """Everything about a run."""
    opened, _, identity = _opened(request)
    return send_json({"id": identity, **answers_run.about(opened)})


def curves(request: Request) -> Response:
    """The loss over the steps of training."""
    return send_json(answers_run.curves(_opened(request)[0]))


def code(request: Request) -> Response:
    """The code of an image."""
    opened, query, _ = _opened(request)
    return send_json(answers_run.code_of(opened, query.whole("image")))


async def decode(request: Request) -> Response:
    """The image, or the vector, of a code.

    If the run is open, the code is decoded in this thread: for a millisecond of work, switching threads takes longer.
    """
    query = Query(request)
    opened = None if query.text("step", "") else _explorer(request).if_open(query.text("run"))
    if opened is None or opened.run is None or not opened.lock.acquire(blocking=False):
        return await run_in_threadpool(_decode, request)
    try:
        return _decoded(opened, query)
    finally:
        opened.lock.release()


def _decode(request: Request) -> Response:
    opened, query, _ = _opened(request)
    return _decoded(opened, query)


def _decoded(opened: Opened, query: Query) -> Response:
    scale = query.scale()
    found = answers_run.decoded(opened, _code(opened, query))
    if opened.kind == "vectors":
        return send_json({"values": found})
    return send_bytes(pictures.png(found[None], scale=scale), PNG)


def image(request: Request) -> Response:
    """An image or vector of the data set."""
    opened, query, _ = _opened(request)
    found = opened.inputs(np.array([query.whole("image", most=max(opened.total - 1, 0))]))
    if len(opened.shape) == 1:
        return send_json({"values": found[0]})
    return send_bytes(pictures.png(found, scale=query.scale()), PNG)


def traversal(request: Request) -> Response:
    """A traversal of one latent: images side by side, or vectors."""
    opened, query, _ = _opened(request)
    latent, steps = query.whole("latent"), query.whole("steps", STEPS, least=1, most=MOST_STEPS)
    values = answers_run.traversal_values(opened, latent, steps, query.real("low"), query.real("high"))
    found = answers_run.traversal(opened, _code(opened, query), latent, values)
    if opened.kind == "vectors":
        return send_json({"at": values, "values": found})
    return _picture(query, found, len(found), f"{opened.name}-z{latent}")


def traversals(request: Request) -> Response:
    """A row of images for each latent."""
    opened, query, _ = _opened(request)
    rows, names = _rows(opened, query)
    return _picture(query, np.concatenate(rows), len(rows[0]), f"{opened.name}-traversals", names)


def animation(request: Request) -> Response:
    """The same as an animation."""
    opened, query, _ = _opened(request)
    rows, names = _rows(opened, query)
    content = answers_run.animation(rows, query.scale(), names)
    return send_bytes(content, GIF, name=f"{opened.name}-traversals.gif" if query.flag("download") else "")


def reconstructions(request: Request) -> Response:
    """Images above their reconstructions."""
    opened, query, _ = _opened(request)
    count = query.whole("n", 10, least=1, most=MOST_IMAGES)
    found = answers_run.reconstructions(opened, count, query.whole("seed", 0, most=2**32 - 1))
    return _picture(query, found, count, f"{opened.name}-reconstructions")


def matrix(request: Request) -> Response:
    """Latents against factors."""
    opened, query, _ = _opened(request)
    return send_json(answers_matrix.matrix(opened, query.choice("kind", answers_matrix.KINDS)))


def scatter(request: Request) -> Response:
    """A latent against a factor."""
    opened, query, _ = _opened(request)
    return send_json(answers_matrix.scatter(opened, query.whole("latent"), query.whole("factor")))


def compare(request: Request) -> Response:
    """Two runs, their latents matched."""
    left, right = (_explorer(request).open(Query(request).text(side)) for side in ("left", "right"))
    return send_json(answers_compare.comparison(left, right))


def _code(opened: Opened, query: Query) -> Array:
    found = query.code("z", opened.latents)
    return opened.start().astype(np.float32) if found is None else found


def _rows(opened: Opened, query: Query) -> tuple[list[Array], list[str]]:
    """Return the images of each latent's traversal, and its name if labels are requested."""
    steps = query.whole("steps", STEPS, least=2, most=MOST_STEPS)
    order = answers_run.shown_latents(opened, only_used=query.choice("rows", ROWS) == "used")
    rows = answers_run.all_traversals(opened, _code(opened, query), steps, order)
    return rows, answers_run.names_of(opened, order) if query.flag("labels") else []


def _picture(query: Query, images: Array, columns: int, name: str, names: Sequence[str] = ()) -> Response:
    content = pictures.png(images, columns=columns, scale=query.scale(), names=names)
    return send_bytes(content, PNG, name=f"{name}.png" if query.flag("download") else "")


routes = [
    Route("/api/run", about),
    Route("/api/run/curves", curves),
    Route("/api/run/code", code),
    Route("/api/run/decode", decode),
    Route("/api/run/image", image),
    Route("/api/run/traversal", traversal),
    Route("/api/run/traversals", traversals),
    Route("/api/run/animation", animation),
    Route("/api/run/reconstructions", reconstructions),
    Route("/api/matrix", matrix),
    Route("/api/scatter", scatter),
    Route("/api/compare", compare),
]
