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
from unweave.fields import OneOf, later
from unweave.schedules import Scheduled, require_not_negative

TERMS = ("l2", "cross-entropy", "cov", "embed")
KINDS = ("perfect", "binned", "noisy", "partial", "permuted")


@dataclass(frozen=True)
class Labels:
    r"""Supervision by a few labels [Locatello2020b]_: weight * R(means, labels), beside any method.

    With v the label of factor j, s in [0, 1] its place between the factor's least and largest value, t the same moved
    and stretched to mean 0 and variance 1 over the factor's values, and m_j the mean of latent j, R is the sum over j
    of the mean over labelled images of

        l2             (m_j - t_j)^2
        cross-entropy  -s_j log sigmoid(m_j) - (1 - s_j) log(1 - sigmoid(m_j))
        embed          -log softmax_v(-(a_j (m_j - e_jv))^2), where e_jv is a place for each value, learnt, and a_j the
                       `sharpness`

    or, over all latents i but the factor's own, the sum of the squared covariances of the batch

        cov            cov(m_i, t_j)^2, i != j
    """

    count: int = 1000
    """Images whose factors are known, drawn as training draws its own."""
    weight: Scheduled = 10.0
    """Weight of the supervised term; a number, or a schedule such as 0:10@10000."""
    term: Annotated[str, OneOf(TERMS)] = "l2"
    """How latents are compared with labels: l2, cross-entropy, cov (others than its own do not vary with a factor) or
    embed (every value has a place of its own, in any order)."""
    kind: Annotated[str, OneOf(KINDS)] = "perfect"
    """What labels are like: perfect, binned (few values), noisy (some are wrong), partial (of few factors) or permuted
    (values are renamed at random, so that their order says nothing)."""
    bins: int = 5
    """Values that a binned label can take, at most."""
    noise: float = 0.1
    """Share of noisy labels that are drawn at random."""
    factors: int | str = 2
    """Factors with partial labels: how many, chosen by the seed, or which: names with commas between."""
    batch: int = 0
    """Labelled images a step; 0: as many as others."""
    sharpness: float = later(0.0)
    """For the term embed: how sharply the places of values are told apart; 0: learnt for each factor, from 1."""

    def __post_init__(self) -> None:
        if self.term not in TERMS:
            raise unknown("supervised term", self.term, TERMS)
        if self.kind not in KINDS:
            raise unknown("kind of labels", self.kind, KINDS)
        require_not_negative(self, "weight", "sharpness")
        if self.count < 1 or self.batch < 0:
            raise UsageError(
                f"there must be at least one labelled image, and one at every step, not {self.count} and {self.batch}"
            )
        if self.term == "cov" and self.batch == 1:
            raise UsageError("a covariance needs at least 2 labelled images a step, not 1")
        if self.bins < 2:
            raise UsageError(f"binned labels need at least 2 bins, not {self.bins}")
        if not 0 <= self.noise <= 1:
            raise UsageError(f"the share of wrong labels lies between 0 and 1, not {self.noise}")

    def check(self, data: Dataset, latents: int) -> None:
        """Refuse data without factors, factors that are not there or have no classes, and more than number latents."""
        known = len(_choose(self, data, np.random.default_rng(0)))
        if known > latents:
            few = f"as many latents that are numbers, not {latents}; or use partial labels"
            raise UsageError(f"{known} labelled factors need {few}")
        if not _has_classes(data) and (self.kind == "permuted" or (self.term == "embed" and self.kind != "binned")):
            asked = "a permutation of labels" if self.kind == "permuted" else "the term embed"
            raise UsageError(f"{asked} needs factors of a few values, and those of '{data.name}' are real numbers")


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
    sizes: Integers
    """How many values labels can take, (k,); 0 for a real number."""

    @property
    def classes(self) -> Integers:
        """The labels (count, k) as whole numbers, 0 to size - 1, of factors that have so many values."""
        return np.rint(self.places * (self.sizes - 1)).astype(np.int64)

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
        sizes = np.full(len(axes), labels.bins if labels.kind == "binned" else 0)
        return Labelled(indices, axes, *_real(labels, values, rng), sizes)
    sizes = np.array(data.factors.sizes)[axes]
    if labels.kind == "noisy":
        wrong = rng.random(values.shape) < labels.noise
        values = np.where(wrong, rng.integers(0, sizes, size=values.shape), values)
    if labels.kind == "binned":
        values = np.where(sizes > labels.bins, values * labels.bins // sizes, values)
        sizes = np.minimum(sizes, labels.bins)
    if labels.kind == "permuted":
        # From a stream of its own: the same images are labelled, and drawn, as without.
        names = [rng.spawn(1)[0].permutation(size) for size in sizes]
        values = np.stack([name[column] for name, column in zip(names, values.T, strict=True)], axis=1)
    places = values / (sizes - 1)
    spreads = np.sqrt((sizes + 1) / (12 * (sizes - 1)))
    return Labelled(indices, axes, places.astype(np.float32), spreads.astype(np.float32), sizes)


def _has_classes(data: Dataset) -> bool:
    """Tell whether factors are whole numbers."""
    return np.issubdtype(data.values(np.arange(1)).dtype, np.integer)


def _real(
    labels: Labels, values: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
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
