"""The best partition of factors into groups, by branch and bound."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

Rate = Callable[[tuple[int, ...]], float]
"""The value of a partition, groups given as masks of bits."""


class PartitionSearch:
    r"""Partitions P of s factors, of value  max over labels of sum_S known(code, S) - sum_{S < T} I(S; T).

    Groups are chosen one after another, each with the least remaining factor. What a set R of remaining factors can
    still add, as k groups, is bounded from above once for all sets and k,

        X_1(R) = gain(R),   X_k(R) = max over T in R of  gain(T) - least_{k-1}(T, R - T) + X_{k-1}(R - T),
        least_k(T, R) = max over j in R of I(T; j) + (k - 1) min over j in R of I(T; j)

    where gain(T) is the information of the most informative latent about T, and least_k a lower bound of what T shares
    with any k groups of R: a group shares with T no less than each of its members does. What the chosen groups share
    with R is bounded in the same way.
    """

    def __init__(self, known: np.ndarray, entropy: np.ndarray, most: int) -> None:
        self.s, self.most = int(np.log2(len(entropy))), most
        self.entropy, self.gain = entropy, known.max(axis=0)
        singles = 1 << np.arange(self.s)
        masks = np.arange(len(entropy))
        self.members = (masks[:, None] & singles) > 0
        self.shared = np.where(  # I(T; j), 0 for j in T
            self.members, 0.0, np.maximum(entropy[:, None] + entropy[singles] - entropy[masks[:, None] | singles], 0.0)
        )
        self.future = self._future()
        self._ends: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def best(self, rate: Rate, least: float) -> float:
        """Return the value of the best partition, which is at least `least`."""
        best = least

        def better(groups: tuple[int, ...]) -> bool:
            nonlocal best
            best = max(best, rate(groups))
            return False

        counts = range(1, self.most + 1)
        for count in sorted(counts, key=lambda count: -self.future[count][-1]):
            self._visit(count, better, lambda: best, promising_first=True)
        return best

    def first(self, rate: Rate, least: float) -> tuple[int, ...]:
        """Return the first partition of value `least` with the fewest groups, low factors together first.

        It is a tuple of bit masks, in the order of the groups' least factors.
        """
        found: list[tuple[int, ...]] = []

        def enough(groups: tuple[int, ...]) -> bool:
            if rate(groups) >= least:
                found.append(groups)
            return bool(found)

        for count in range(1, self.most + 1):
            if self._visit(count, enough, lambda: least, promising_first=False):
                break
        return found[0]

    def _future(self) -> list[np.ndarray]:
        """Return X_k of all sets, by k; minus infinity where a set has fewer than k members."""
        sets, parts, starts = _splits(self.s)
        rest = sets ^ parts
        exact = self._information(parts, rest)
        largest, smallest = np.zeros(len(sets)), np.full(len(sets), np.inf)
        for j in range(self.s):
            here, value = (rest >> j & 1) > 0, self.shared[parts, j]
            np.maximum(largest, value, out=largest, where=here)
            np.minimum(smallest, value, out=smallest, where=here)
        smallest[rest == 0] = 0.0
        levels = [np.full(len(self.gain), -np.inf), self.gain]
        for k in range(2, self.most + 1):
            least = exact if k == 2 else largest + (k - 2) * smallest
            values = self.gain[parts] - least + levels[-1][rest]
            values[rest == 0] = -np.inf
            levels.append(np.append(-np.inf, np.maximum.reduceat(values, starts)))
        levels[1] = np.append(-np.inf, self.gain[1:])
        return levels

    def _information(self, first: np.ndarray | int, second: np.ndarray) -> np.ndarray:
        return np.maximum(self.entropy[first] + self.entropy[second] - self.entropy[first | second], 0.0)

    def _least(self, group: int, groups: int) -> np.ndarray:
        """Return a lower bound of what a group shares with the given number of groups of any set."""
        if group not in self._ends:
            largest, smallest = np.zeros(1), np.full(1, np.inf)
            for value in self.shared[group]:
                largest = np.concatenate([largest, np.maximum(largest, value)])
                smallest = np.concatenate([smallest, np.minimum(smallest, value)])
            self._ends[group] = largest, np.append(0.0, smallest[1:])
        largest, smallest = self._ends[group]
        return largest + (groups - 1) * smallest

    def _visit(
        self, count: int, leaf: Callable[[tuple[int, ...]], bool], bar: Callable[[], float], *, promising_first: bool
    ) -> bool:
        """Go through the partitions into `count` groups that may exceed the bar, until `leaf` says it is enough.

        The order is that of the bounds, or lexicographic: partitions that put low factors into early groups first.
        """

        def descend(chosen: tuple[int, ...], left: int, worth: float, groups: int) -> bool:
            if groups == 1:
                return leaf((*chosen, left))
            parts = _submasks(left)  # parts and their complements are never empty
            rest = left ^ parts
            worths = worth + self.gain[parts]
            for group in chosen:
                worths = worths - self._information(group, parts)
            bounds = worths + self.future[groups - 1][rest]
            if groups == 2:
                for group in (*chosen, parts):
                    bounds = bounds - self._information(group, rest)
            else:
                for group in chosen:
                    bounds = bounds - self._least(group, groups - 1)[rest]
                shared, there = self.shared[parts], self.members[rest]
                bounds = bounds - shared.max(axis=1, initial=0.0, where=there)
                bounds = bounds - (groups - 2) * shared.min(axis=1, initial=np.inf, where=there)
            open_ = np.flatnonzero(bounds > bar())
            if promising_first:
                open_ = open_[np.argsort(-bounds[open_], kind="stable")]
            for i in open_.tolist():
                if bounds[i] > bar() and descend((*chosen, int(parts[i])), int(rest[i]), worths[i], groups - 1):
                    return True
            return False

        whole = 2**self.s - 1
        return bool(self.future[count][whole] > bar()) and descend((), whole, 0.0, count)


def _submasks(mask: int) -> np.ndarray:
    """Return the proper subsets of a set that contain its least member, those with low members first."""
    members = [1 << i for i in range(mask.bit_length()) if mask >> i & 1]
    masks = np.array(members[:1])
    for member in members[1:]:
        masks = np.stack([masks | member, masks], axis=1).reshape(-1)
    return masks[1:]


@lru_cache(maxsize=2)
def _splits(s: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all pairs of a non-empty set and a subset with its least member, and where each set starts."""
    sets = parts = np.zeros(1, dtype=np.int64)
    for i in range(s):  # out of the set, in the set only, in both
        sets, parts = (
            np.concatenate([sets, sets | 1 << i, sets | 1 << i]),
            np.concatenate([parts, parts, parts | 1 << i]),
        )
    chosen = (sets & -sets & parts) > 0
    order = np.argsort(sets[chosen], kind="stable")
    sets, parts = sets[chosen][order], parts[chosen][order]
    return sets, parts, np.flatnonzero(np.diff(sets, prepend=0))
