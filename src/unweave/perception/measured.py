"""Perceived and ground-truth distances of the same pairs: along each factor, and of random pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.data import Dataset
from unweave.data.factors import Integers
from unweave.data.table import require_factors
from unweave.errors import UsageError, warn_user
from unweave.metrics.distance_correlation import rounded
from unweave.metrics.inputs import whole_number
from unweave.perception.association import Correlation, correlation, partial_correlations
from unweave.perception.ground_truth import ranges, total
from unweave.perception.pairs import ENOUGH, Along, Traversals, along, random_pairs, varying_factors
from unweave.perception.perceived import Floats, Perceived
from unweave.progress import OnProgress
from unweave.text import data_title

RANDOM = "random"
"""The row for pairs of any two images."""


class FewPairs(UserWarning):
    """Too few pairs of images differ only in some factor."""


@dataclass(frozen=True)
class Distances:
    """Ground-truth and perceived distances (m,) of the same pairs."""

    truth: Floats
    perceived: Floats

    @property
    def between_different(self) -> Floats:
        """The perceived distances of pairs that differ in their factors."""
        return self.perceived[self.truth > 0]

    def correlation(self) -> Correlation:
        """Return how the two follow each other."""
        return correlation(self.truth, self.perceived)

    def order(self) -> float | None:
        """Return the share of triplets whose perceived distances have the order of the true ones; ties count one half.

        A triplet is two successive pairs that share their first image; it counts if all three images differ and the
        other two are not equally far. None if there is no such triplet, as for a factor with two values.
        """
        even = 2 * (len(self.truth) // 2)
        truth, perceived = self.truth[:even].reshape(-1, 2), rounded(self.perceived[:even]).reshape(-1, 2)
        told = (truth > 0).all(axis=1) & (truth[:, 0] != truth[:, 1])
        if not told.any():
            return None
        same = np.sign(truth[told, 0] - truth[told, 1]) * np.sign(perceived[told, 0] - perceived[told, 1])
        return float((1 + same).mean() / 2)


@dataclass(frozen=True)
class Measured:
    """All distances of a data set under a loss."""

    along: dict[str, Distances | None]
    """Distances by factor; None if too few pairs differ only in it."""
    random: Distances
    """Distances of random pairs; the truth is 0 for images without factors."""
    apart: Floats
    """Distances (m, k) of each factor in the random pairs."""
    names: tuple[str, ...]
    """The data set's factors."""

    def correlations(self) -> dict[str, Correlation]:
        """Return the correlations by factor; partial ones over random pairs if there are no others."""
        alone = dict(zip(self.names, partial_correlations(self.apart, self.random.perceived), strict=True))
        return {name: each.correlation() if each else alone[name] for name, each in self.along.items()}


def measure(
    seen: Perceived,
    factors: Sequence[int],
    *,
    pairs: int,
    seed: int,
    on_progress: OnProgress,
    self_pairs: float = 0.0,
    scaled: bool | None = None,
) -> Measured:
    """Draw pairs along each factor, whose images may coincide, and random pairs; measure their distances."""
    pairs = whole_number(pairs, "pairs", 2)
    if not 0 <= self_pairs < 1:
        raise UsageError(f"self_pairs must be at least 0 and below 1, not {self_pairs}")
    names = seen.data.factors.names
    found: dict[str, Distances | None] = {}
    for axis in factors:
        found[names[axis]] = None
        if (source := measurable(seen.data, axis)) is not None:
            drawn = source.draw(pairs, seed, differ=False)
            perceived = seen.distances(drawn, on_progress, names[axis])
            found[names[axis]] = Distances(_apart(seen.data, drawn)[:, axis], perceived)
    drawn = random_pairs(seen.data, pairs, seed, self_pairs)
    apart = _apart(seen.data, drawn)
    random = Distances(total(apart, ranges(seen.data, scaled)), seen.distances(drawn, on_progress, RANDOM))
    return Measured(found, random, apart, names)


def mean_and_spread(distances: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation of distances; exactly 0 for equal distances."""
    beyond = distances - distances[0]
    return float(distances[0] + beyond.mean()), float(beyond.std())


def chosen_factors(data: Dataset, names: Sequence[str] | None) -> list[int]:
    """Return the positions of the factors to measure: the named ones, or all that vary."""
    require_factors(data, "a distance along a factor")
    if isinstance(names, str):
        raise UsageError(f"factors must be a list of names, not '{names}'")
    varying = varying_factors(data)
    if not varying:
        raise UsageError(f"'{data.name}' has no factor that varies")
    if names is None:
        return varying
    wanted = [data.factors.axis(name) for name in names]
    if constant := [data.factors.names[axis] for axis in wanted if axis not in varying]:
        raise UsageError(f"the factor '{constant[0]}' of '{data.name}' has a single value; name one that varies")
    return wanted


def measurable(data: Dataset, factor: int) -> Along | None:
    """Return a source of pairs that differ only in a factor; None if there are too few."""
    source = along(data, factor)
    return source if isinstance(source, Traversals) or source.distinct >= ENOUGH else None


def few_pairs(data: Dataset, factors: Sequence[str]) -> str:
    """Return the note about factors with too few pairs."""
    return f"'{data_title(data.description)}' has fewer than {ENOUGH} pairs that differ only in {', '.join(factors)}"


def warn_of_few(data: Dataset, factors: Sequence[str], instead: str) -> None:
    """Warn of factors with too few pairs."""
    if factors:
        warn_user(f"{few_pairs(data, factors)}: {instead}", FewPairs)


def _apart(data: Dataset, pairs: Integers) -> Floats:
    """Return the distances (m, k) of each factor in pairs (m, 2)."""
    first, second = (data.values(pairs[:, side]) for side in (0, 1))
    return np.abs(first - second).astype(np.float64)
