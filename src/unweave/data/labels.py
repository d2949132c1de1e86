"""A few labelled images, whose labels may be coarse, wrong or incomplete."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf
from unweave.schedules import Scheduled, require_not_negative

TERMS = ("l2", "cross-entropy")
KINDS = ("perfect", "binned", "noisy", "partial")


@dataclass(frozen=True)
class Labels:
    r"""Supervision by a few labels [Locatello2020b]_: weight * sum_j R(mean of latent j, factor j), beside any method.

    With s in [0, 1] the place of a label between the factor's least and largest value and m the mean, R is

        l2             (m - t)^2, where t is s moved and stretched to mean 0 and variance 1 over the factor's values
        cross-entropy  -s log sigmoid(m) - (1 - s) log(1 - sigmoid(m))
    """

    count: int = 1000
    """Images whose factors are known, drawn as training draws its own."""
    weight: Scheduled = 10.0
    """Weight of the supervised term; a number, or a schedule such as 0:10@10000."""
    term: Annotated[str, OneOf(TERMS)] = "l2"
    """How a latent is compared with its label: l2 or cross-entropy."""
    kind: Annotated[str, OneOf(KINDS)] = "perfect"
    """What labels are like: perfect, binned (few values), noisy (some are wrong) or partial (of few factors)."""
    bins: int = 5
    """Values that a binned label can take, at most."""
    noise: float = 0.1
    """Share of noisy labels that are drawn at random."""
    factors: int | str = 2
    """Factors with partial labels: how many, chosen by the seed, or which: names with commas between."""
    batch: int = 0
    """Labelled images a step; 0: as many as others."""

    def __post_init__(self) -> None:
        if self.term not in TERMS:
            raise unknown("supervised term", self.term, TERMS)
        if self.kind not in KINDS:
            raise unknown("kind of labels", self.kind, KINDS)
        require_not_negative(self, "weight")
        if self.count < 1 or self.batch < 0:
            raise UsageError(
                f"there must be at least one labelled image, and one at every step, not {self.count} and {self.batch}"
            )
        if self.bins < 2:
            raise UsageError(f"binned labels need at least 2 bins, not {self.bins}")
        if not 0 <= self.noise <= 1:
            raise UsageError(f"the share of wrong labels lies between 0 and 1, not {self.noise}")

    def check(self, data: Dataset, latents: int) -> None:
        """Refuse data without factors, factors that are not there, and more of them than latents."""
        known = len(_choose(self, data, np.random.default_rng(0)))
        if known > latents:
            raise UsageError(f"{known} labelled factors need as many latents, not {latents}; or use partial labels")


@dataclass(frozen=True)
class Labelled:
    """Images and their labels, as the supervised term reads them."""

    indices: Integers
    """Of the images in the data set, (count,)."""
    axes: Integers
    """The factors with labels, (k,); latent j stands for the j-th of them."""
    places: NDArray[np.float32]
    """The labels (count, k) after they were spoilt, from 0, the factor's least value, to 1, its largest."""
    spreads: NDArray[np.float32]
    """The deviation (k,) of places that are spread evenly over the factor's values."""

    @property
    def standardised(self) -> NDArray[np.float32]:
        """The labels (count, k) with mean 0 and variance 1, where all values of a factor occur equally often."""
        return (self.places - np.float32(0.5)) / self.spreads


def draw_labels(labels: Labels, data: Dataset, rng: np.random.Generator) -> Labelled:
    """Draw the labelled images, and spoil their labels once."""
    indices = data.sample(labels.count, rng)
    axes = _choose(labels, data, rng)
    values = data.values(indices)[:, axes]
    if not np.issubdtype(values.dtype, np.integer):
        return Labelled(indices, axes, *_real(labels, values, rng))
    sizes = np.array(data.factors.sizes)[axes]
    if labels.kind == "noisy":
        wrong = rng.random(values.shape) < labels.noise
        values = np.where(wrong, rng.integers(0, sizes, size=values.shape), values)
    if labels.kind == "binned":
        values = np.where(sizes > labels.bins, values * labels.bins // sizes, values)
        sizes = np.minimum(sizes, labels.bins)
    places = values / (sizes - 1)
    spreads = np.sqrt((sizes + 1) / (12 * (sizes - 1)))
    return Labelled(indices, axes, places.astype(np.float32), spreads.astype(np.float32))


def _real(labels: Labels, values: NDArray[Any], rng: np.random.Generator) -> tuple[NDArray[np.float32], ...]:
    """Return places and spreads of factors that are real numbers, between the extremes of the labelled images."""
    low, high = values.min(0), values.max(0)
    places = (values - low) / np.where(high > low, high - low, 1)
    if labels.kind == "noisy":
        wrong = rng.random(values.shape) < labels.noise
        places = np.where(wrong, rng.random(values.shape), places)
    if labels.kind == "binned":
        places = np.minimum(places * labels.bins // 1, labels.bins - 1) / (labels.bins - 1)
    return places.astype(np.float32), np.full(places.shape[1], 1 / math.sqrt(12), np.float32)


def _choose(labels: Labels, data: Dataset, rng: np.random.Generator) -> Integers:
    """Return the factors that have labels, in their order."""
    space = data.factors
    if not data.is_labelled:
        raise UsageError(f"'{data.name}' has no factors, so that its images have no labels")
    varying = np.flatnonzero(np.array(space.sizes) > 1)  # of a factor with one value there is nothing to know
    if labels.kind != "partial":
        return varying
    if isinstance(labels.factors, str) and not labels.factors.isdigit():
        named = np.unique([space.axis(name.strip()) for name in labels.factors.split(",")])
        if not np.isin(named, varying).all():
            raise UsageError(f"a factor of '{labels.factors}' has one value only in '{data.name}': no label tells it")
        return named
    count = int(labels.factors)
    if not 1 <= count <= len(varying):
        raise UsageError(f"partial labels are of 1 to {len(varying)} factors of '{data.name}', not {count}")
    return np.sort(rng.choice(varying, size=count, replace=False))
