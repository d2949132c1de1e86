"""Pictures of what a run's latents do: what changing one draws, and what is left of an image."""

from __future__ import annotations

import numpy as np
from PIL import Image

from unweave.report.grids import Grid, Row, draw
from unweave.report.protocols import Floats, RunLike
from unweave.report.style import number
from unweave.report.surveys import Survey, survey


def traversals(
    run: RunLike, *, columns: int = 9, span: float = 2.0, rows: int | None = None, seed: int = 0
) -> Image.Image:
    """Return a picture with one row a latent: its values from -span to span, around the code of one image.

    The most informative latents come first (all, or the first `rows`), each with its mean KL over up to
    512 random images; the rest of the code stays at the image's posterior mean. A code that is a point has no prior
    that would say how far to go, and no KL: each latent goes through its own range, which is noted beside it with
    its variance.
    """
    return draw(traversal_rows(run, survey(run, seed=seed), columns=columns, span=span, rows=rows, seed=seed))


def traversal_rows(
    run: RunLike, seen: Survey, *, columns: int = 9, span: float = 2.0, rows: int | None = None, seed: int = 0
) -> Grid:
    """Return the rows of `traversals` for a run that was surveyed already."""
    code = _code_of_one_image(run, seed)
    steps = np.linspace(-span, span, columns)
    drawn = []
    for latent in seen.order[:rows]:
        values = steps if not seen.points else seen.values(latent, columns)
        codes = np.tile(code, (len(values), 1))
        codes[:, latent] = values
        drawn.append(Row(run.decode(codes), f"z{latent}", _note(seen, latent, values), latent not in seen.used))
    return Grid(drawn, header=[number(value, 3) for value in steps] if not seen.points else ())


def _note(seen: Survey, latent: int, values: Floats) -> str:
    """Return what is said beside a latent: what it carries and, where that differs, from where to where it goes."""
    if latent not in seen.used:
        return "unused"
    carried = seen.carried[latent]
    if not seen.points:
        return f"{carried:.2f} nats"
    return f"variance {number(carried, 2)}\n{number(values[0], 2)} to {number(values[-1], 2)}"


def reconstructions(run: RunLike, n: int = 10, seed: int = 0) -> Image.Image:
    """Return a picture of n random images above what the run makes of them."""
    return draw(reconstruction_rows(run, n, seed))


def reconstruction_rows(run: RunLike, n: int = 10, seed: int = 0) -> Grid:
    """Return the two rows of `reconstructions`."""
    images = run.data.images(np.random.default_rng(seed).integers(len(run.data), size=n))
    return Grid([Row(images, "image"), Row(run.reconstruct(images), "reconstruction")])


def _code_of_one_image(run: RunLike, seed: int) -> Floats:
    index = np.random.default_rng(seed).integers(len(run.data), size=1)
    mean, _ = run.posterior(run.data.images(index))
    return mean[0]
