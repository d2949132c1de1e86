"""A few labelled images, with labels that may be coarse, wrong or incomplete."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.errors import UsageError, unknown
from unweave.fields import OneOf, check_types, later
from unweave.schedules import Scheduled, require_not_negative

TERMS = ("l2", "cross-entropy", "cov", "embed")
KINDS = ("perfect", "binned", "noisy", "partial", "permuted")


@dataclass(frozen=True)
class Labels:
    r"""Supervision by a few labels [Locatello2020b]_: adds weight * R(means, labels) to the objective of any method.

    Let v be the label of factor j, s in [0, 1] the label scaled from the factor's smallest to its largest value, t the
    same standardised to mean 0 and variance 1 over the factor's values, and m_j the mean of latent j. R is the sum over
    j of the mean over labelled images of

        l2             (m_j - t_j)^2
        cross-entropy  -s_j log sigmoid(m_j) - (1 - s_j) log(1 - sigmoid(m_j))
        embed          -log softmax_v(-(a_j (m_j - e_jv))^2), where e_jv is a learnt position for each value, and a_j
                       the `sharpness`

    or, over all latents i except the factor's own, the sum of the squared covariances in the batch

        cov            cov(m_i, t_j)^2, i != j
    """

    count: int = 1000
    """Number of images with known factors, drawn in the same way as training images."""
    weight: Scheduled = 10.0
    """Weight of the supervised term; a number, or a schedule such as 0:10@10000."""
    term: Annotated[str, OneOf(TERMS)] = "l2"
    """How latents are compared with labels: l2, cross-entropy, cov (other latents should not vary with a factor) or
    embed (every value has a learnt position, in any order)."""
    kind: Annotated[str, OneOf(KINDS)] = "perfect"
    """Quality of the labels: perfect, binned (few values), noisy (some are wrong), partial (of few factors) or permuted
    (values are renamed at random, so their order carries no information)."""
    bins: int = 5
    """Largest number of values of a binned label."""
    noise: float = 0.1
    """Fraction of noisy labels that are drawn at random."""
    factors: int | str = 2
    """Factors with partial labels: a number (chosen by the seed) or comma-separated names."""
    batch: int = 0
    """Labelled images per step; 0: the batch size."""
    sharpness: float = later(0.0)
    """For the term embed: how sharply the positions of values are separated; 0: learnt for each factor, from 1."""

    def __post_init__(self) -> None:
        check_types(self)
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
            raise UsageError("a covariance needs at least 2 labelled images per step, not 1")
        if self.bins < 2:
            raise UsageError(f"binned labels need at least 2 bins, not {self.bins}")
        if not 0 <= self.noise <= 1:
            raise UsageError(f"the fraction of wrong labels must be between 0 and 1, not {self.noise}")

    def check(self, data: Dataset, latents: int) -> None:
        """Raise a `UsageError` if the data set does not have these labels, or there are too few numeric latents."""
        known = len(_choose(self, data, np.random.default_rng(0)))
        if known > latents:
            few = f"as many numeric latents, not {latents}; or use partial labels"
            raise UsageError(f"{known} labelled factors need {few}")
        if not _has_classes(data) and (self.kind == "permuted" or (self.term == "embed" and self.kind != "binned")):
            term = "a permutation of labels" if self.kind == "permuted" else "the term embed"
            real = f"those of '{data.name}' are real numbers"
            raise UsageError(f"{term} needs factors with classes, but {real}: use binned labels")


@dataclass(frozen=True)
class Labelled:
    """Images and their labels, for the supervised term."""

    indices: Integers
    """Indices of the images in the data set, (count,)."""
    axes: Integers
    """The factors with labels, (k,); latent j is compared with the j-th of them."""
    places: NDArray[np.float32]
    """The labels (count, k), after binning or noise, from 0 (the factor's smallest value) to 1 (its largest)."""
    spreads: NDArray[np.float32]
    """The standard deviation (k,) of labels if all values of a factor occur equally often."""
    sizes: Integers
    """The number of values of each label, (k,); 0 for a real number."""

    @property
    def classes(self) -> Integers:
        """The labels (count, k) as integers, 0 to size - 1."""
        return np.rint(self.places * (self.sizes - 1)).astype(np.int64)

    @property
    def standardised(self) -> NDArray[np.float32]:
        """The labels (count, k), with mean 0 and variance 1 if all values of a factor occur equally often."""
        return (self.places - np.float32(0.5)) / self.spreads


def draw_labels(labels: Labels, data: Dataset, rng: np.random.Generator) -> Labelled:
    """Draw the labelled images once, and make their labels binned, noisy, partial or permuted."""
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
        # From a separate stream, so that the same images are labelled and drawn as with perfect labels.
        names = [rng.spawn(1)[0].permutation(size) for size in sizes]
        values = np.stack([name[column] for name, column in zip(names, values.T, strict=True)], axis=1)
    places = values / (sizes - 1)
    spreads = np.sqrt((sizes + 1) / (12 * (sizes - 1)))
    return Labelled(indices, axes, places.astype(np.float32), spreads.astype(np.float32), sizes)


def _has_classes(data: Dataset) -> bool:
    """Return whether factors are integers."""
    return np.issubdtype(data.values(np.arange(1)).dtype, np.integer)


def _real(
    labels: Labels, values: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return labels and spreads of real-valued factors, scaled by the extremes of the labelled images."""
    low, high = values.min(0), values.max(0)
    places = (values - low) / np.where(high > low, high - low, 1)
    if labels.kind == "noisy":
        wrong = rng.random(values.shape) < labels.noise
        places = np.where(wrong, rng.random(values.shape), places)
    if labels.kind == "binned":
        places = np.minimum(places * labels.bins // 1, labels.bins - 1) / (labels.bins - 1)
    return places.astype(np.float32), np.full(places.shape[1], 1 / math.sqrt(12), np.float32)


def _choose(labels: Labels, data: Dataset, rng: np.random.Generator) -> Integers:
    """Return the factors that have labels, in order."""
    space = data.factors
    if not data.is_labelled:
        raise UsageError(f"'{data.name}' has no factors, so its images have no labels: leave out labels")
    varying = np.flatnonzero(np.array(space.sizes) > 1)  # a factor with a single value has no label
    if labels.kind != "partial":
        return varying
    if isinstance(labels.factors, str) and not labels.factors.isdigit():
        named = np.unique([space.axis(name.strip()) for name in labels.factors.split(",")])
        if not np.isin(named, varying).all():
            raise UsageError(f"a factor of '{labels.factors}' has a single value in '{data.name}': leave it out")
        return named
    count = int(labels.factors)
    if not 1 <= count <= len(varying):
        raise UsageError(f"partial labels need 1 to {len(varying)} factors of '{data.name}', not {count}")
    return np.sort(rng.choice(varying, size=count, replace=False))
