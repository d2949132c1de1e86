"""What the latents of a run carry, measured on random images, and whether any is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.collapse import carried, used
from unweave.collapse import collapse as collapsed
from unweave.report.protocols import Floats, RunLike

FEW_VALUES = 12
"""A latent with at most this many values is quantised: all its values are shown."""
CHUNK = 256
"""Images held at once while surveying a run."""


@dataclass(frozen=True)
class Survey:
    """Codes and factors of random images, and what every latent carries over them."""

    codes: Floats  # (n, latents)
    factors: NDArray[Any]  # (n, factors); no columns without factors
    carried: Floats  # (latents,): mean KL in nats, variance without a posterior, or entropy of categories in nats
    points: bool = False
    categories: tuple[int, ...] = ()
    """Number of categories of each latent, 0 for a number; empty if all are numbers."""

    @property
    def order(self) -> NDArray[np.int64]:
        """The latents, most informative first; ties by index."""
        return np.argsort(-self.carried, kind="stable")

    @property
    def used(self) -> NDArray[np.int64]:
        """The latents that carry anything, most informative first."""
        return self.order[used(self.carried, self.points, self.categories)[self.order]]

    @property
    def categorical(self) -> tuple[int, ...]:
        """The categorical latents."""
        return tuple(np.flatnonzero(self.categories).tolist())

    @property
    def unit(self) -> str:
        """The measure of what latents carry."""
        if not self.categorical:
            return "variance" if self.points else "KL, nats"
        if len(self.categorical) == self.codes.shape[1]:
            return "entropy, nats"
        return "variance or entropy" if self.points else "KL or entropy, nats"

    def values(self, latent: int, columns: int) -> Floats:
        """Return the ordered values to show of a latent that is categorical or has no posterior variance.

        These are all its categories; without a posterior, all its values if they are few, otherwise even steps between
        its 1 % and 99 % quantiles.
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
        The codes, the factors, and what each latent carries: its mean KL in nats; without a posterior, its variance;
        for categories, the entropy.

    Examples
    --------
    >>> survey(unweave.Run.open("runs/first"), samples=100).codes.shape
    (100, 10)
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
    """Return a sentence about a model without any used or active latent, with advice; otherwise None.

    Parameters
    ----------
    seen
        The survey of a run, `survey(run)`.

    Returns
    -------
    str or None
        The sentence.
    """
    return collapsed(seen.codes, seen.carried, seen.points, seen.categories)
