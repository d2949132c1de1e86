"""Pictures of a run's latents: traversals and reconstructions."""

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
    """Return a picture with one row for each latent: decoded values from -span to span, around the code of one image.

    The most informative latents come first (all, or the first `rows`), each with its mean KL over up to 512 random
    images; the rest of the code stays at the image's posterior mean. A latent without a posterior variance has no prior
    that sets a range, and no KL: it runs through its own range, which is noted beside it with its variance. A
    categorical latent runs through its categories, and is noted with their entropy. Vectors are drawn as lines, one for
    each value of the latent.

    Parameters
    ----------
    run
        The run.
    columns
        Values of each latent.
    span
        The largest distance of the values from 0.
    rows
        How many latents to draw; by default all.
    seed
        Seed of the image whose code is changed, and of the images that determine the order of latents.

    Returns
    -------
    PIL.Image.Image
        The picture.

    Examples
    --------
    >>> traversals(unweave.Run.open("runs/first"), rows=3, span=3.0).save("traversals.png")
    """
    if not run.data.has_images:
        from unweave.report.lines import picture, traversal_figure

        seen = survey(run, seed=seed)
        return picture(traversal_figure(run, seen, columns=columns, span=span, rows=rows, seed=seed))
    return draw(traversal_rows(run, survey(run, seed=seed), columns=columns, span=span, rows=rows, seed=seed))


def traversal_rows(
    run: RunLike, seen: Survey, *, columns: int = 9, span: float = 2.0, rows: int | None = None, seed: int = 0
) -> Grid:
    """Return the rows of `traversals` for a run that was already surveyed."""
    code = code_of_one(run, seed)
    steps = np.linspace(-span, span, columns)
    drawn = []
    for latent in seen.order[:rows]:
        values = traversed(seen, latent, columns, span)
        codes = np.tile(code, (len(values), 1))
        codes[:, latent] = values
        drawn.append(Row(run.decode(codes), f"z{latent}", latent_note(seen, latent, values), latent not in seen.used))
    return Grid(drawn, header=[number(value, 3) for value in steps] if not (seen.points or seen.categorical) else ())


def traversed(seen: Survey, latent: int, columns: int, span: float) -> Floats:
    """Return the values that a traversal gives a latent."""
    own = seen.points or latent in seen.categorical
    return seen.values(latent, columns) if own else np.linspace(-span, span, columns)


def latent_note(seen: Survey, latent: int, values: Floats) -> str:
    """Return the note beside a latent: what it carries and, if it differs between latents, its range."""
    if latent not in seen.used:
        return "unused"
    carried = seen.carried[latent]
    if latent in seen.categorical:
        return f"{carried:.2f} nats\n{len(values)} categories"
    if not seen.points:
        extent = f"\n{number(values[0], 2)} to {number(values[-1], 2)}" if seen.categorical else ""
        return f"{carried:.2f} nats{extent}"
    return f"variance {number(carried, 2)}\n{number(values[0], 2)} to {number(values[-1], 2)}"


def reconstructions(run: RunLike, n: int = 10, seed: int = 0) -> Image.Image:
    """Return a picture of n random images above their reconstructions; vectors are drawn as lines.

    Parameters
    ----------
    run
        The run.
    n
        How many images.
    seed
        Seed of their choice.

    Returns
    -------
    PIL.Image.Image
        The picture.

    Examples
    --------
    >>> reconstructions(unweave.Run.open("runs/first"), n=5).save("reconstructions.png")
    """
    if not run.data.has_images:
        from unweave.report.lines import picture, reconstruction_figure

        return picture(reconstruction_figure(run, n, seed))
    return draw(reconstruction_rows(run, n, seed))


def reconstruction_rows(run: RunLike, n: int = 10, seed: int = 0) -> Grid:
    """Return the two rows of `reconstructions`."""
    images = run.data.images(np.random.default_rng(seed).integers(len(run.data), size=n))
    return Grid([Row(images, "image"), Row(run.reconstruct(images), "reconstruction")])


def code_of_one(run: RunLike, seed: int) -> Floats:
    """Return the code of a random image or vector."""
    index = np.random.default_rng(seed).integers(len(run.data), size=1)
    mean, _ = run.posterior(run.data.inputs(index))
    return mean[0]
