"""Images drawn together: pairs that share factors, and triplets ordered by their factors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from unweave.data.dataset import Dataset
from unweave.data.factors import FactorSpace, Integers
from unweave.data.restricted import Reweighted
from unweave.data.table import require_classes, require_grid
from unweave.data.wrapper import Wrapper
from unweave.errors import UsageError, unknown

RULES = ("exact", "redrawn", "dlib")
TRIES = 1000
"""How often a partner is drawn again where combinations are held out."""

Distance = Callable[[FactorSpace, Integers, Integers, int], NDArray[np.integer]]
"""From the factors (n, k) of two images each, and the position of the factor that is their category, to (n,)."""

ORDERS: dict[str, Distance] = {
    "difference": lambda space, a, b, category: (a != b).sum(axis=1),
    "distance": lambda space, a, b, category: space.distance(a, b),
    "distance-scaled": lambda space, a, b, category: space.scaled_distance(a, b),
    "category": lambda space, a, b, category: (a[:, category] != b[:, category]).astype(np.int64),
}
"""How far apart two images are [Michlo2022]_, section 5.2: integers all, so that ties are ties."""


def draw_pairs(
    data: Dataset, n: int, rng: np.random.Generator, *, changed: int | None = None, rule: str = "exact"
) -> Integers:
    """Return the indices (2, n) of pairs that share some of their factors.

    With the rule "exact", `changed` factors take another value, and the others stay; None draws their number for
    each pair, uniformly from 1 to F - 1, with F the number of factors that have more than one value.

    With the rule "redrawn", that of the paper [Locatello2020]_, they are drawn again, and the new value may be the old
    one: a pair may be twice the same image. The rule "dlib" is disentanglement_lib's: the same, but with probability
    one half a single factor is drawn again.

    First images are drawn as the set draws them, new values uniformly, even where factors are correlated; but what the
    set never draws is no partner either.
    """
    require_pairs(data, changed, rule)
    first = data.sample(n, rng)
    second = _partners(data.factors, first, rng, changed, rule)
    allowed = _allowed(data)
    if allowed is None:
        return np.stack([first, second])
    missing = np.arange(0)
    for _ in range(TRIES):
        missing = np.flatnonzero(~_contains(allowed, second))
        if not missing.size:
            return np.stack([first, second])
        second[missing] = _partners(data.factors, first[missing], rng, changed, rule)
    raise UsageError(f"{data.name} holds out too many combinations: image {first[missing[0]]} finds no partner")


def require_pairs(data: Dataset, changed: int | None = None, rule: str = "exact") -> None:
    """Raise a `UsageError` where `draw_pairs` cannot work."""
    if rule not in RULES:
        raise unknown("rule of pairs", rule, RULES)
    require_grid(data, "a pair that shares chosen factors")
    varying = sum(size > 1 for size in data.factors.sizes)
    if not varying:
        raise UsageError(f"{data.name} has no factor that varies, so nothing can change within a pair")
    if changed is not None and not 1 <= changed <= varying:
        raise UsageError(f"{data.name} has {varying} factors that vary: 1 to {varying} may change, not {changed}")


def draw_triplets(
    data: Dataset, n: int, rng: np.random.Generator, *, by: str = "distance-scaled", category: str | int = 0
) -> Integers:
    """Return the indices (3, n) of anchors, positives and negatives, s(a, p) <= s(a, n) [Michlo2022]_, eq. 5.3.

    All three are drawn as the set draws images, and the last two swapped where they have to be. s is the number of
    factors that differ ("difference", eq. 5.6), their ℓ1 distance ("distance", 5.9), the same with every factor of
    length one ("distance-scaled", 5.11), or whether a factor, the `category`, differs ("category", 5.5).
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


def _partners(
    space: FactorSpace, first: Integers, rng: np.random.Generator, changed: int | None, rule: str
) -> Integers:
    """Return, for each cell, another one that differs in some factors."""
    factors, sizes = space.from_index(first), np.array(space.sizes)
    varying = int((sizes > 1).sum())
    count = np.full(len(first), changed) if changed else rng.integers(1, max(varying, 2), size=len(first))
    if rule == "dlib":
        count = np.where(rng.random(len(first)) < 0.5, 1, count)
    keys = np.where(sizes > 1, rng.random(factors.shape), 2.0)  # factors of one value come last
    chosen = keys.argsort(axis=1).argsort(axis=1) < count[:, None]
    if rule != "exact":
        new = rng.integers(0, sizes, size=factors.shape)
    else:
        new = (factors + 1 + rng.integers(0, np.maximum(sizes - 1, 1), size=factors.shape)) % sizes
    return space.to_index(np.where(chosen, new, factors))


def _allowed(data: Dataset) -> Integers | None:
    """Return the indices that a set ever draws, in their order, or None for all of them."""
    while isinstance(data, Wrapper) and not isinstance(data, Reweighted):
        data = data.base
    return data.allowed if isinstance(data, Reweighted) and len(data.allowed) < len(data) else None


def _contains(ordered: Integers, values: Integers) -> NDArray[np.bool_]:
    """Tell which values occur in an array that is in order."""
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return ordered[places] == values
