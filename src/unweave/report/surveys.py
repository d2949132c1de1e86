"""What the latents of a run carry, measured on random images, and whether that is anything at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.collapse import carried, used
from unweave.collapse import collapse as collapsed
from unweave.report.protocols import Floats, RunLike

FEW_VALUES = 12
"""A latent that takes no more values than this is a quantised one: each of its values is looked at."""
CHUNK = 256
"""Images held at once while surveying a run."""


@dataclass(frozen=True)
class Survey:
    """Codes and factors of random images, and what every latent carries over them."""

    codes: Floats  # (n, latents)
    factors: NDArray[Any]  # (n, factors); no columns where they are not known
    carried: Floats  # (latents,): mean KL in nats, the variance of a point, or the entropy of a category in nats
    points: bool = False
    categories: tuple[int, ...] = ()
    """How many categories each latent has, 0 for a number, as a run says; empty where all are numbers."""

    @property
    def order(self) -> NDArray[np.int64]:
        """The latents, most informative first; equal ones by their number."""
        return np.argsort(-self.carried, kind="stable")

    @property
    def used(self) -> NDArray[np.int64]:
        """The latents that carry anything, most informative first."""
        return self.order[used(self.carried, self.points, self.categories)[self.order]]

    @property
    def categorical(self) -> tuple[int, ...]:
        """The latents whose codes are numbers of categories."""
        return tuple(np.flatnonzero(self.categories).tolist())

    @property
    def unit(self) -> str:
        """What is measured of what latents carry."""
        if not self.categorical:
            return "variance" if self.points else "KL, nats"
        if len(self.categorical) == self.codes.shape[1]:
            return "entropy, nats"
        return "variance or entropy" if self.points else "KL or entropy, nats"

    def values(self, latent: int, columns: int) -> Floats:
        """Return the values to look at of a latent that is a point or categorical, in order.

        All its categories; of a point all values that it takes, where they are few, otherwise even steps between its
        1 % and 99 % quantiles.
        """
        if latent in self.categorical:
            return np.arange(float(self.categories[latent]))
        taken = np.unique(self.codes[:, latent])
        if len(taken) <= FEW_VALUES:
            return taken
        low, high = np.quantile(self.codes[:, latent], [0.01, 0.99])
        return np.linspace(low, high, columns)


def survey(run: RunLike, *, samples: int = 512, seed: int = 0) -> Survey:
    """Encode distinct random images and measure what each latent carries.

    Parameters
    ----------
    run
        The run.
    samples
        How many images, at most.
    seed
        Seed of their choice.

    Returns
    -------
    Survey
        The codes, the factors, and what each latent carries: its mean KL in nats, of codes that are points their
        variance, of a category its entropy.
    """
    rng = np.random.default_rng(seed)
    indices = rng.choice(len(run.data), size=min(samples, len(run.data)), replace=False)
    parts = [indices[start : start + CHUNK] for start in range(0, len(indices), CHUNK)]
    posteriors = [run.posterior(run.data.inputs(part)) for part in parts]
    means = np.concatenate([mean for mean, _ in posteriors]).astype(np.float64)
    found = [spread for _, spread in posteriors if spread is not None]
    logs = np.concatenate(found) if found else None
    carries = carried(means, logs, run.categories)
    return Survey(means, run.data.values(indices), carries, logs is None, run.categories)


def collapse(seen: Survey) -> str | None:
    """Return what to say of a model none of whose latents is used or active, with what to try; else None."""
    return collapsed(seen.codes, seen.carried, seen.points, seen.categories)
