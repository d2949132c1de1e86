"""What the latents of a run do: how much each carries, and what changing it draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unweave.report.grids import Grid, Row, draw
from unweave.report.protocols import Floats, RunLike
from unweave.report.style import number

UNUSED = 0.01
"""Mean KL in nats below which a latent carries nothing worth looking at."""
CHUNK = 256
"""Images held at once while surveying a run."""


@dataclass(frozen=True)
class Survey:
    """Codes and factors of random images, and the mean KL of every latent over them."""

    codes: Floats  # (n, latents)
    factors: NDArray[np.int64]  # (n, factors)
    kl: Floats  # (latents,), in nats

    @property
    def order(self) -> NDArray[np.int64]:
        """The latents, most informative first; equal ones by their number."""
        return np.argsort(-self.kl, kind="stable")

    @property
    def used(self) -> NDArray[np.int64]:
        """The latents that carry anything, most informative first."""
        return self.order[self.kl[self.order] >= UNUSED]


def survey(run: RunLike, *, samples: int = 512, seed: int = 0) -> Survey:
    """Encode distinct random images and measure what each latent carries.

    The KL divergence of a latent's posterior N(m, v) from the prior N(0, 1), averaged over the images:
    (m² + v - log v - 1) / 2 nats.
    """
    rng = np.random.default_rng(seed)
    indices = rng.choice(len(run.data), size=min(samples, len(run.data)), replace=False)
    parts = [indices[start : start + CHUNK] for start in range(0, len(indices), CHUNK)]
    posteriors = [run.posterior(run.data.images(part)) for part in parts]
    means = np.concatenate([mean for mean, _ in posteriors]).astype(np.float64)
    logs = np.concatenate([log_variance for _, log_variance in posteriors]).astype(np.float64)
    kl = 0.5 * (means**2 + np.exp(logs) - logs - 1)
    return Survey(means, run.data.values(indices), kl.mean(axis=0))


def traversals(
    run: RunLike, *, columns: int = 9, span: float = 2.0, rows: int | None = None, seed: int = 0
) -> Image.Image:
    """Return a picture with one row a latent: its values from -span to span, around the code of one image.

    The most informative latents come first (all, or the first `rows`), each with its mean KL over up to
    512 random images; the rest of the code stays at the image's posterior mean.
    """
    return draw(traversal_rows(run, survey(run, seed=seed), columns=columns, span=span, rows=rows, seed=seed))


def traversal_rows(
    run: RunLike, seen: Survey, *, columns: int = 9, span: float = 2.0, rows: int | None = None, seed: int = 0
) -> Grid:
    """Return the rows of `traversals` for a run that was surveyed already."""
    values = np.linspace(-span, span, columns)
    code = _code_of_one_image(run, seed)
    drawn = []
    for latent in seen.order[:rows]:
        codes = np.tile(code, (columns, 1))
        codes[:, latent] = values
        unused = latent not in seen.used
        note = "unused" if unused else f"{seen.kl[latent]:.2f} nats"
        drawn.append(Row(run.decode(codes), f"z{latent}", note, muted=unused))
    return Grid(drawn, header=[number(value, 3) for value in values])


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
