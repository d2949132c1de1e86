"""The page of a run's data set: its factors, their traversals, and distances under the run's loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from unweave.explorer import pictures
from unweave.explorer.opened import Array, Opened
from unweave.explorer.perceiving import Perceiving
from unweave.explorer.queries import Query
from unweave.explorer.refusals import Refused, Unable
from unweave.explorer.sending import send_bytes, send_json

if TYPE_CHECKING:
    from unweave.data import Dataset

COLUMNS = 16
"""Largest number of images in a traversal."""
MOST_VALUES = 128
"""Factors with more values get no distance matrix."""
MOST_SAMPLES = 100
TRAVERSALS = 30
"""Number of traversals that a distance matrix is averaged over."""


def about(opened: Opened) -> dict[str, Any]:
    """Return the description of a data set: its name and options, images and factors."""
    data = dataset(opened)
    sizes = zip(data.factors.names, data.factors.sizes, strict=True)
    return {
        "name": data.name,
        "options": data.options,
        "images": len(data),
        "shape": list(data.shape),
        "factors": [{"name": name, "size": int(size)} for name, size in sizes],
        "kind": "images" if data.has_images else "vectors",
        "grid": data.is_grid,
        "labelled": data.is_labelled,
        "licence": data.licence,
        **seen_by(opened),
    }


def dataset(opened: Opened) -> Dataset:
    """Return the data set of a run, or raise `Unable`."""
    if opened.data is None:
        raise Unable(opened.reason(f"'{opened.name}' has no data set"))
    return opened.data


def seen_by(opened: Opened) -> dict[str, Any]:
    """Return the run's loss, and whether its inputs are standardised; mse if there is no run."""
    if opened.run is None:
        return {"loss": "mse", "standardise": False}
    settings = opened.run.settings
    return {"loss": settings.method.loss, "standardise": bool(settings.training.standardise)}


def traversal(opened: Opened, factor: str, seed: int) -> Array:
    """Return a traversal from a random image: one factor takes its values, or some of them, evenly spaced."""
    from unweave.report.datasets import spread

    data = dataset(opened)
    _only_images(opened, data)
    if not data.is_grid:
        raise Unable(f"{data.name} is not a full grid of factors: no factor can be changed alone")
    axis = place_of(data, factor)
    base = data.factors.from_index(int(np.random.default_rng(seed).integers(len(data))))
    chosen = data.factors.traversal(factor, base)[spread(data.factors.sizes[axis], COLUMNS)]
    return opened.inputs(data.factors.to_index(chosen))


def _only_images(opened: Opened, data: Dataset) -> None:
    """Raise `Unable` if the data set has no images; the run need not have a decoder."""
    if not data.has_images:
        raise Unable(opened.reason(f"'{opened.name}' has no images to draw: its data are vectors"))


def samples(opened: Opened, count: int, seed: int) -> Array:
    """Return random images."""
    data = dataset(opened)
    _only_images(opened, data)
    return opened.inputs(data.sample(count, np.random.default_rng([seed, 1])))


def place_of(data: Dataset, factor: str) -> int:
    """Return the position of a factor by its name."""
    if factor not in data.factors.names:
        known = ", ".join(data.factors.names) or "none"
        raise Refused(f"there is no factor '{factor[:80]}' (there are: {known})")
    return data.factors.names.index(factor)


def distances(opened: Opened, factor: str) -> dict[str, Any]:
    """Return the mean distances between a factor's values: of data under the loss, of codes and of reconstructions."""
    data = dataset(opened)
    size = data.factors.sizes[place_of(data, factor)]
    if not data.is_grid:
        raise Unable(f"{data.name} is not a full grid of factors: no factor can be changed alone")
    if not 1 < size <= MOST_VALUES:
        raise Unable(f"'{factor}' has {size:,} values; distance matrices are shown for 2 to {MOST_VALUES}")
    levels = opened.cached(("distances", factor), lambda: _distances(opened, factor))
    return {"factor": factor, "values": levels["data"], "levels": levels, "traversals": TRAVERSALS, **seen_by(opened)}


def _distances(opened: Opened, factor: str) -> dict[str, Array]:
    from unweave.perception import distance_matrices

    seen = seen_by(opened)
    found = distance_matrices(
        dataset(opened),
        seen["loss"],
        run=opened.run,
        traversals=TRAVERSALS,
        standardise=seen["standardise"],
        factors=[factor],
        progress=False,
    )[factor]
    return {level: np.round(matrix, 6) for level, matrix in found.items()}


PERCEIVING = Perceiving()
"""One per process: an answer takes seconds to compute, and is the same for every page."""


def perceived(opened: Opened) -> dict[str, Any]:
    """Return what the run's loss sees of its data set or, while that is computed, the progress."""
    return PERCEIVING.ask(dataset(opened), **seen_by(opened))


def _opened(request: Request) -> tuple[Opened, Query]:
    query = Query(request)
    return request.app.state.explorer.open(query.text("run")), query


def _about(request: Request) -> Response:
    return send_json(about(_opened(request)[0]))


def _traversal(request: Request) -> Response:
    opened, query = _opened(request)
    scale = query.scale()
    images = traversal(opened, query.text("factor"), query.whole("seed", 0))
    return send_bytes(pictures.png(images, scale=scale), "image/png")


def _samples(request: Request) -> Response:
    opened, query = _opened(request)
    scale = query.scale()
    images = samples(opened, query.whole("n", 40, least=1, most=MOST_SAMPLES), query.whole("seed", 0))
    return send_bytes(pictures.png(images, columns=min(len(images), 10), scale=scale), "image/png")


def _distance_matrix(request: Request) -> Response:
    opened, query = _opened(request)
    return send_json(distances(opened, query.text("factor")))


def _perceived(request: Request) -> Response:
    return send_json(perceived(_opened(request)[0]))


routes: list[BaseRoute] = [
    Route("/api/data", _about),
    Route("/api/data/traversal", _traversal),
    Route("/api/data/samples", _samples),
    Route("/api/data/distances", _distance_matrix),
    Route("/api/data/perceive", _perceived),
]
