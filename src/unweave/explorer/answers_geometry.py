"""Points of a manifold in three dimensions, with the factors that `unweave geomancer` found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from unweave.explorer.opened import Array
from unweave.explorer.queries import Query
from unweave.explorer.refusals import Missing, Unable
from unweave.explorer.sending import send_json

SAMPLES = 3_000
"""Largest number of points shown."""
LARGEST = 2**30
"""Largest size of axes that are read, in bytes."""
PRINCIPAL = "principal components"


@dataclass(frozen=True)
class Shown:
    """A random subset of the points, and the results at these points."""

    points: Array
    """(n, D)"""
    axes: Array
    """(n, D, k)"""
    labels: Array
    """(n, k)"""
    dims: tuple[int, ...]
    tilts: Array
    confidence: Array


def about(path: Path, name: str) -> dict[str, Any]:
    """Return points in three dimensions, in a view for each factor and by principal components, and their colours."""
    arrays = _read(path, name)
    total = len(arrays["axes"])
    rows = np.sort(np.random.default_rng(0).choice(total, size=min(SAMPLES, total), replace=False))
    shown = Shown(
        arrays["points"][rows].astype(np.float64),
        arrays["axes"][rows],
        arrays["labels"][rows],
        tuple(int(size) for size in arrays["dims"]),
        arrays["tilts"][rows],
        arrays["confidence"][rows],
    )
    views = _views(shown)
    first = next(iter(views.values()))
    return {
        "points": first["points"],
        "explained": first["explained"],
        "views": views,
        "colours": _colours(shown, views),
        "sampled": len(rows),
        "of": total,
        "dim": int(arrays["axes"].shape[1]),
        "facts": _facts(arrays),
        "spectrum": arrays["spectrum"].tolist(),
        "count": int(arrays["count"]),
    }


def _read(path: Path, name: str) -> dict[str, Array]:
    """Return the arrays of the file after checking them; nothing is ever unpickled."""
    wanted = ("axes", "labels", "spectrum", "count", "dims", "tilts", "confidence", "odd")
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = {each: file[each] for each in wanted}
            points = file["points"] if "points" in file.files else None
    except Exception as error:  # a damaged archive fails in many ways
        raise Unable(f"'{name}' cannot be read as factors of unweave geomancer") from error
    n = len(found["axes"])
    if found["axes"].ndim != 3 or not n or found["axes"].nbytes > LARGEST:
        raise Unable(f"'{name}' has no axes, or too many to show")
    if points is None:
        raise Unable(f"'{name}' holds factors without their points: run unweave geomancer again")
    shapes = {"labels": (n, found["axes"].shape[2]), "tilts": (n,), "confidence": (n,), "odd": (n,)}
    whole = all(found[each].shape == shape for each, shape in shapes.items()) and found["dims"].ndim == 1
    if not whole or points.shape != found["axes"].shape[:2] or not np.isfinite(points).all():
        raise Unable(f"'{name}' is damaged: its arrays do not fit together")
    return {**found, "points": points}


def _views(shown: Shown) -> dict[str, dict[str, Any]]:
    """Return the points by view: along the directions in which only one factor moves, and by principal components.

    The mean over points of the projection onto a factor's tangent space shows in which directions the factor moves. Its
    view is spanned by the three largest eigenvectors of that mean minus the means of the other factors.
    """
    centred = shown.points - shown.points.mean(axis=0)
    _, _, principal = np.linalg.svd(centred, full_matrices=False)
    bases = {f"factor {j + 1}": basis for j, basis in enumerate(_factor_bases(shown))} if len(shown.dims) > 1 else {}
    return {name: _projected(centred, basis) for name, basis in {**bases, PRINCIPAL: principal[:3].T}.items()}


def _factor_bases(shown: Shown) -> list[Array]:
    """Return for each factor three directions (D, 3) of the space."""
    own = np.stack(
        [
            np.einsum("nik,nk,njk->ij", shown.axes, shown.labels == factor, shown.axes, optimize=True)
            for factor in range(len(shown.dims))
        ]
    ) / len(shown.axes)
    every = own.sum(axis=0)
    return [np.linalg.eigh(2 * mean - every)[1][:, ::-1][:, :3] for mean in own]


def _projected(centred: Array, basis: Array) -> dict[str, Any]:
    places = centred @ basis
    whole = float((centred**2).sum())
    explained = float((places**2).sum()) / whole if whole > 0 else 1.0
    flat = np.zeros((len(places), 3))
    flat[:, : places.shape[1]] = places
    return {"points": np.round(flat, 4), "explained": explained}


def _colours(shown: Shown, views: dict[str, dict[str, Any]]) -> dict[str, Array]:
    """Return the possible colours of points: their position along a factor, and how certain the factors are."""
    along = {name: view["points"][:, 0] for name, view in views.items() if name != PRINCIPAL}
    first = along or {"first component": views[PRINCIPAL]["points"][:, 0]}
    return {**first, "confidence": np.round(shown.confidence, 4), "tilt (radians)": np.round(shown.tilts, 4)}


def _facts(arrays: dict[str, Array]) -> dict[str, str]:
    """Return the results, in the words of the command."""
    dims = [int(size) for size in arrays["dims"]]
    return {
        "factors": str(int(arrays["count"])),
        "dimensions": " + ".join(map(str, dims)) or "different from point to point",
        "confidence": f"{float(arrays['confidence'].mean()):.2f}",
        "tilt": f"{float(arrays['tilts'].mean()):.3f} radians, about the error of the factors",
        "odd points": f"{int(arrays['odd'].sum()):,} of {len(arrays['odd']):,}",
    }


def _about(request: Request) -> Response:
    identity, index = Query(request).text("points"), request.app.state.explorer.index
    if index is None:
        raise Missing("there are no points to show")
    return send_json(about(index.file(identity, "points").path, identity))


routes: list[BaseRoute] = [Route("/api/geometry", _about)]
