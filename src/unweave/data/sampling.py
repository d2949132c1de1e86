"""Draw images together: pairs and groups that share factors, and triplets ordered by their factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.changes import Changes
from unweave.data.dataset import Dataset
from unweave.data.factors import FactorSpace, Integers
from unweave.data.restricted import reweighted
from unweave.data.table import require_classes
from unweave.errors import UsageError, unknown

TRIES = 1000
"""Number of attempts to draw a partner if combinations are held out."""

Distance = Callable[[FactorSpace, Integers, Integers, int], NDArray[np.integer]]
"""Maps the factors (n, k) of two sets of images, and the position of the category, to distances (n,)."""

ORDERS: dict[str, Distance] = {
    "difference": lambda space, a, b, category: (a != b).sum(axis=1),
    "distance": lambda space, a, b, category: space.distance(a, b),
    "distance-scaled": lambda space, a, b, category: space.scaled_distance(a, b),
    "category": lambda space, a, b, category: (a[:, category] != b[:, category]).astype(np.int64),
}
"""Distances of two images [Michlo2022]_, section 5.2: all are integers, so ties are exact."""


def draw_pairs(data: Dataset, n: int, rng: np.random.Generator, **options: Any) -> Integers:
    """Return the indices (2, n) of pairs that share some of their factors.

    Parameters
    ----------
    data
        A data set that is a full grid.
    n
        Number of pairs.
    rng
        The random generator.
    **options
        The fields of `Changes`.

    Returns
    -------
    np.ndarray
        Indices (2, n).
    """
    return draw_groups(data, n, rng, Changes(**options))


def draw_groups(data: Dataset, n: int, rng: np.random.Generator, changes: Changes, size: int = 2) -> Integers:
    """Return the indices (size, n) of groups whose images share some of their factors.

    First images are drawn as the set draws them. For each, some factors are chosen. Every further image of the group
    takes new values of these factors, independently of the others, and keeps the first image's values of the rest. New
    values follow the rule of `changes`, even if factors are correlated, but images that the set never draws are not
    used.
    """
    changes.check(data)
    space, drawable = data.factors, reweighted(data)
    allowed = None if drawable is None else drawable.allowed
    first = data.sample(n, rng)
    factors = space.from_index(first)
    chosen = changes.choose(space, factors, rng)
    members = [first]
    while len(members) < size:
        drawn = changes.move(space, factors, chosen, rng)
        for _ in range(TRIES):
            missing = _missing(drawn, allowed)
            if not missing.size:
                break
            if len(members) == 1:  # the second image determines the factors that the whole group shares
                chosen[missing] = changes.choose(space, factors[missing], rng)
            drawn[missing] = changes.move(space, factors[missing], chosen[missing], rng)
        if (missing := _missing(drawn, allowed)).size:
            few = f"{data.name} holds out too many combinations"
            raise UsageError(f"{few}: there is no partner for image {first[missing[0]]}")
        members.append(drawn)
    return np.stack(members)


def draw_triplets(
    data: Dataset, n: int, rng: np.random.Generator, *, by: str = "distance-scaled", category: str | int = 0
) -> Integers:
    """Return the indices (3, n) of anchors, positives and negatives, s(a, p) <= s(a, n) [Michlo2022]_, eq. 5.3.

    All three are drawn as the set draws images, and the last two are swapped if necessary. s is the number of factors
    that differ ("difference", eq. 5.6), their ℓ1 distance ("distance", 5.9), the same with every factor scaled to
    length one ("distance-scaled", 5.11), or whether the factor `category` differs ("category", 5.5).
    """
    if by not in ORDERS:
        raise unknown("order of triplets", by, ORDERS)
    require_classes(data, "a triplet ordered by factors")
    axis = data.factors.axis(category)
    anchor, positive, negative = (data.sample(n, rng) for _ in range(3))
    a, p, m = (data.values(indices) for indices in (anchor, positive, negative))
    order = ORDERS[by]
    swap = order(data.factors, a, p, axis) > order(data.factors, a, m, axis)
    return np.stack([anchor, np.where(swap, negative, positive), np.where(swap, positive, negative)])


def _missing(indices: Integers, allowed: Integers | None) -> Integers:
    """Return the positions of indices that are not allowed; `allowed` is sorted."""
    if allowed is None:
        return np.arange(0)
    places = np.minimum(np.searchsorted(allowed, indices), len(allowed) - 1)
    return np.flatnonzero(allowed[places] != indices)
