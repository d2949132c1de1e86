"""Pairs of observations: any two, or two that differ only in one factor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unweave.data import Dataset
from unweave.data.factors import Integers
from unweave.data.restricted import drawn_cells
from unweave.errors import UsageError
from unweave.metrics.inputs import generator
from unweave.metrics.traversals import traversals

MOST = 128
"""Largest number of pairs drawn from one traversal, and from a batch of random images [Michlo2022]_."""
TRAVERSALS = 1024
"""Least number of traversals, if there are as many pairs: other factors decide what a factor looks like."""
BATCH, BATCHES = 32, 256
"""Number of random images from which random pairs are drawn, and least number of such draws."""
ENOUGH = 100
"""Number of distinct pairs that differ only in a factor, above which it is measured on these pairs: the standard error
of a correlation is then a tenth."""
TRIES = 1000
"""How often the second image of a random pair is drawn again if it is the first."""


def random_pairs(data: Dataset, count: int, seed: int, self_pairs: float = 0.0) -> Integers:
    """Draw pairs (count, 2) of different images, with a share of them replaced by pairs of an image with itself.

    The two images of a pair are independent draws. Several pairs share an image (at most `MOST` pairs share `BATCH`
    images), so that fewer have to be drawn.
    """
    if len(drawn_cells(data)) < 2:
        raise UsageError(f"distances need at least two images, but '{data.name}' has {len(drawn_cells(data))}")
    rng = generator(seed, 0)
    groups, each = _shared(count, BATCHES)
    images = data.sample(groups * min(BATCH, 2 * each), rng).reshape(groups, -1)
    places = rng.integers(images.shape[1], size=(groups, each))
    steps = rng.integers(1, images.shape[1], size=(groups, each))
    others = (places + steps) % images.shape[1]
    first, second = (np.take_along_axis(images, part, axis=1).ravel()[:count] for part in (places, others))
    for _ in range(TRIES):
        same = np.flatnonzero(first == second)
        if not len(same):
            break
        second[same] = data.sample(len(same), rng)
    own = rng.random(count) < self_pairs
    return np.stack([first, np.where(own, first, second)], axis=1)


def _shared(count: int, least: int) -> tuple[int, int]:
    """Return the number of groups, at least `least`, for `count` pairs, and the even number of pairs from each."""
    groups = max(count // MOST, min(least, -(-count // 2)))
    return groups, 2 * -(-count // (2 * groups))


class Traversals:
    """Pairs that differ only in one factor, of a full grid."""

    def __init__(self, data: Dataset, factor: int) -> None:
        self.data, self.factor = data, factor
        self.size = data.factors.sizes[factor]

    @property
    def distinct(self) -> int:
        """The number of pairs of different images."""
        return len(self.data) * (self.size - 1) // 2

    def draw(self, count: int, seed: int, *, differ: bool) -> Integers:
        """Draw pairs (count, 2): both images uniformly from one traversal; they may coincide unless `differ`.

        Two successive pairs, from an even position on, have the same first image.
        """
        rng = generator(seed, self.factor + 1)
        groups, each = _shared(count, TRAVERSALS)
        cells = traversals(self.data.factors.sizes, self.factor, self.data.sample(groups, rng))
        first = np.repeat(rng.integers(self.size, size=(groups, each // 2)), 2, axis=1)
        steps = rng.integers(int(differ), self.size, size=(groups, each))
        second = (first + steps) % self.size
        found = [np.take_along_axis(cells, part, axis=1).ravel()[:count] for part in (first, second)]
        return np.stack(found, axis=1)


@dataclass(frozen=True)
class Rows:
    """Pairs of rows that differ only in one factor, of images that do not form a full grid.

    Rows with the same other factors are neighbours in `order`, those with the same value of the factor within them.
    """

    data: Dataset
    factor: int
    allowed: Integers
    """The indices that can be drawn."""

    @cached_property
    def _sorted(self) -> tuple[Integers, Integers, Integers]:
        """The rows sorted by group and value, and for each the index of its group and of its group and value."""
        values = self.data.values(self.allowed)
        own, rest = values[:, self.factor], np.delete(values, self.factor, axis=1)
        order = np.lexsort([own, *rest.T])
        another = (rest[order][1:] != rest[order][:-1]).any(axis=1) if rest.shape[1] else np.zeros(len(order) - 1, bool)
        changed = another | (own[order][1:] != own[order][:-1])
        return self.allowed[order], _numbered(another), _numbered(changed)

    @cached_property
    def _extents(self) -> tuple[Integers, Integers, Integers, Integers]:
        """For each sorted row, the start and length of its group, and of its value within the group."""
        _, group, value = self._sorted
        starts, sizes = _extent(group)
        inner, inner_sizes = _extent(value)
        return starts, sizes, inner, inner_sizes

    @property
    def distinct(self) -> int:
        """The number of pairs of different values."""
        _, sizes, _, same = self._extents
        return int((sizes - same).sum()) // 2

    def draw(self, count: int, seed: int, *, differ: bool) -> Integers:
        """Draw pairs (count, 2): a row that has a partner, and one of its group, with another value if `differ`.

        Two successive pairs, from an even position on, have the same first row.
        """
        rng = generator(seed, self.factor + 1)
        rows, _, _ = self._sorted
        starts, sizes, inner, same = self._extents
        able = np.flatnonzero(sizes > same)
        groups, each = _shared(count, TRAVERSALS)
        # Rows of the same groups, so that pairs of one group are adjacent and share images.
        chosen = np.repeat(rng.choice(able, size=groups), each // 2)
        first = np.repeat(starts[chosen] + rng.integers(sizes[chosen]), 2)[:count]
        skipped = same[first] if differ else np.zeros(len(first), dtype=np.int64)
        second = starts[first] + rng.integers(sizes[first] - skipped)
        second += np.where(second >= inner[first], skipped, 0)
        return np.stack([rows[first], rows[second]], axis=1)


Along = Traversals | Rows


def along(data: Dataset, factor: int) -> Along:
    """Return a source of pairs that differ only in one factor, among images that can be drawn."""
    allowed = drawn_cells(data)
    return Traversals(data, factor) if data.is_grid and len(allowed) == len(data) else Rows(data, factor, allowed)


def varying_factors(data: Dataset) -> list[int]:
    """Return the positions of the factors with more than one value among images that can be drawn."""
    if data.is_grid and len(drawn_cells(data)) == len(data):
        return [axis for axis, size in enumerate(data.factors.sizes) if size > 1]
    values = data.values(drawn_cells(data))
    return [axis for axis in range(values.shape[1]) if len(np.unique(values[:, axis])) > 1]


def _numbered(changes: NDArray[np.bool_]) -> Integers:
    return np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)


def _extent(numbers: Integers) -> tuple[Integers, Integers]:
    """Return for each entry of a sorted list the start and the length of its run of equal numbers."""
    counts = np.bincount(numbers)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return starts[numbers], counts[numbers]
