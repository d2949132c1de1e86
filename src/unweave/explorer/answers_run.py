"""The page of one run: its settings, latents, scores and curves, and the images of its decoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from unweave.collapse import used
from unweave.errors import UsageError
from unweave.explorer import pictures
from unweave.explorer.answers_matrix import followed
from unweave.explorer.opened import Array, Opened
from unweave.explorer.refusals import Refused, Unable
from unweave.text import data_name

QUANTILES = np.linspace(0, 1, 21)
BINS = 30
ENDS = (0.01, 0.99)
"""The quantiles at the ends of a traversal."""


def about(opened: Opened) -> dict[str, Any]:
    """Return everything that the page of a run shows at first."""
    seen, run = opened.survey, opened.run
    config = run.config if run is not None else {}
    order = list(range(opened.latents)) if seen is None else seen.order.tolist()
    return {
        "name": opened.name,
        "method": (config.get("method") or {}).get("name"),
        "data": data_name(config["data"]) if "data" in config else None,
        "config": config,
        **_status(opened),
        "kind": opened.kind,
        "shape": list(opened.shape),
        "latents": latents(opened),
        "order": order,
        "points": seen is not None and seen.points,
        "start": opened.start(),
        "start_image": int(opened.indices[0]) if len(opened.indices) else None,
        "scores": scores(opened),
        "warning": _warning(opened),
        "sampled": len(opened.indices),
        "of": opened.total,
        "labelled": bool(opened.factors),
        "factors": [{"name": name, "size": size} for name, size in zip(opened.factors, opened.sizes, strict=True)],
    }


def _warning(opened: Opened) -> str | None:
    """Return the run's warnings in one line: those found when it was opened, and damaged scores."""
    lines = [opened.warning]
    if opened.run is not None:
        try:
            opened.run.scores()
        except (UsageError, OSError):
            lines.append("its scores.parquet cannot be read: scores are not shown; remove it if it is damaged")
    return "; ".join(line for line in lines if line) or None


def _status(opened: Opened) -> dict[str, Any]:
    if opened.run is None:
        return {"state": None, "step": None, "snapshots": []}
    try:
        run = opened.run
        return {"state": run.state, "step": run.step, "snapshots": run.snapshots}
    except (UsageError, OSError):
        return {"state": "damaged", "step": None, "snapshots": []}


def latents(opened: Opened) -> list[dict[str, Any]]:
    """Return the information in each latent, and the distribution of its codes or, without codes, of the prior."""
    seen = opened.survey
    if seen is None:
        levels = ndtri(np.clip(QUANTILES, *ENDS))
        prior = {"kl": None, "active": None, "mean": 0.0, "sd": 1.0, "quantiles": levels, "histogram": None}
        counts = categories(opened)
        return [{"index": j, **prior, "factor": None, "categories": counts[j]} for j in range(opened.latents)]
    factors = opened.cached("followed", lambda: followed(opened))
    active = used(seen.carried, seen.points, seen.categories)
    counts = categories(opened)
    return [
        {
            "index": latent,
            "kl": float(seen.carried[latent]),
            "active": bool(active[latent]),
            "mean": float(codes.mean()),
            "sd": float(codes.std()),
            "quantiles": np.quantile(codes, QUANTILES),
            "histogram": _histogram(codes),
            "factor": factors[latent],
            "categories": counts[latent],
        }
        for latent, codes in enumerate(seen.codes.T)
    ]


def categories(opened: Opened) -> list[int]:
    """Return the number of categories of each latent; 0 for a numeric one."""
    source = opened.survey if opened.survey is not None else opened.run
    return list(source.categories if source is not None else ()) or [0] * opened.latents


def _histogram(codes: Array) -> dict[str, Any]:
    counts, edges = np.histogram(codes, bins=BINS)
    return {"edges": edges, "counts": counts}


def scores(opened: Opened) -> list[dict[str, Any]]:
    """Return the saved scores of a run, with their steps."""
    try:
        found = None if opened.run is None else opened.run.scores()
    except (UsageError, OSError):
        return []
    columns = ("metric", "value", "low", "high", "floor", "ceiling", "options", "step", "current")
    return [] if found is None else [{name: row[name] for name in columns} for row in found.iter_rows(named=True)]


def curves(opened: Opened) -> dict[str, Any]:
    """Return the loss and its terms over the steps of training."""
    if opened.run is None:
        return {"steps": [], "terms": {}}
    log = opened.run.log()
    terms = {name: log[name].cast(float).to_list() for name in log.columns if name != "step"}
    return {"steps": log["step"].to_list() if len(log) else [], "terms": terms}


def code_of(opened: Opened, image: int) -> dict[str, Any]:
    """Return the code and the factors of one image of the data set."""
    code, factors = opened.encode(image)
    return {"image": image, "code": code, "factors": factors}


def decoded(opened: Opened, code: Array) -> Array:
    """Return the image or the vector of one code."""
    return opened.decode(code[None])[0]


def only_images(opened: Opened) -> None:
    """Raise `Unable` if the model draws no images."""
    if opened.kind == "codes-only" and opened.run is not None:
        raise Unable(f"'{opened.name}' has no decoder: its method learns only codes")
    if opened.kind != "images":
        raise Unable(opened.reason(f"'{opened.name}' has no images to draw: its data are {opened.kind}"))


def traversal_values(
    opened: Opened, latent: int, steps: int, low: float | None = None, high: float | None = None
) -> Array:
    """Return the values of a latent in a traversal: between two ends, by default the 1 % and 99 % quantiles of codes.

    A quantised latent takes its few values, and a categorical one its categories.
    """
    if not 0 <= latent < opened.latents:
        raise Refused(f"'latent' must be from 0 to {opened.latents - 1}, not {latent}")
    seen, count = opened.survey, categories(opened)[latent]
    if low is None and high is None and count:
        return np.arange(float(count))
    if low is None and high is None and seen is not None and seen.points:
        return seen.values(latent, steps)
    ends = ndtri(ENDS) if seen is None else np.quantile(seen.codes[:, latent], ENDS)
    return np.linspace(ends[0] if low is None else low, ends[1] if high is None else high, steps)


def traversal(opened: Opened, code: Array, latent: int, values: Array) -> Array:
    """Return the images or vectors of a code as one latent takes these values."""
    codes = np.tile(np.asarray(code, dtype=np.float32), (len(values), 1))
    codes[:, latent] = values
    return opened.decode(codes)


def shown_latents(opened: Opened, *, only_used: bool = False) -> list[int]:
    """Return the latents, the most informative first; with `only_used`, only the used ones, if there are any."""
    seen = opened.survey
    if seen is None:
        return list(range(opened.latents))
    active = used(seen.carried, seen.points)
    return [int(j) for j in seen.order if not only_used or active[j] or not active.any()]


def names_of(opened: Opened, order: Sequence[int]) -> list[str]:
    """Return the names of latents: their number, and the factor that they follow."""
    factors = opened.cached("followed", lambda: followed(opened))
    return [f"z{j} {factors[j]}" if factors[j] else f"z{j}" for j in order]


def all_traversals(opened: Opened, code: Array, steps: int, order: Sequence[int]) -> list[Array]:
    """Return the images of each latent's traversal, the same number for each."""
    only_images(opened)
    rows = [traversal(opened, code, j, traversal_values(opened, j, steps)) for j in order]
    most = max(len(row) for row in rows)
    return [row[np.linspace(0, len(row) - 1, most).round().astype(int)] for row in rows]


def animation(rows: list[Array], scale: int, names: Sequence[str] = ()) -> bytes:
    """Return traversals as a GIF: all latents side by side, moving together."""
    frames = [np.stack(images) for images in zip(*rows, strict=True)]
    return pictures.gif(frames, columns=min(len(rows), 10), scale=scale, names=names)


def reconstructions(opened: Opened, count: int, seed: int) -> Array:
    """Return random images, followed by their reconstructions, (2 n, H, W, C)."""
    only_images(opened)
    if opened.run is None:
        raise Unable(f"'{opened.name}' has no encoder: images cannot be reconstructed")
    images = opened.inputs(np.random.default_rng(seed).integers(max(opened.total, 1), size=count))
    with opened.lock:
        return np.concatenate([images, opened.run.reconstruct(images)])
