"""Bounds of I_m for any number of factors: a good assignment, and an upper bound for all assignments."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.gaussian.im import TIE, correlations
from unweave.gaussian.matrices import SINGULAR

Groups = tuple[frozenset[int], ...]


class ImBounds(NamedTuple):
    """Bounds of I_m, in nats: it lies between `value`, that of `groups`, and `upper`."""

    value: float
    groups: Groups
    upper: float


def im_bounds(sigma_x: ArrayLike, sigma_xv: ArrayLike, sigma_v: ArrayLike) -> ImBounds:
    """Bound I_m [Vu2024]_ from both sides, for any number of factors; where the bounds meet, it is exact.

    Parameters
    ----------
    sigma_x, sigma_xv, sigma_v
        Covariances, as in `im_score`.

    Returns
    -------
    ImBounds
        A lower bound with the groups that reach it, and an upper bound.

    Notes
    -----
    The lower bound is the value of an assignment that no move of one factor to another latent, and no union of two
    groups, improves. The upper bound is

        max over g of  sum of the g largest I(x_i; v)  -  sum of the g - 1 smallest edges of the tree

    where the tree is the spanning tree of factors with the largest sum of I(v_j; v_k). It is an upper bound because g
    latents have at most their information about all factors, and because at least g - 1 edges of the tree connect g
    groups, between different pairs of them, and two groups share at least as much as the ends of the edge between them.

    Examples
    --------
    >>> im_bounds([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.8], [0.6, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).groups
    (frozenset({1}), frozenset({0}))
    """
    cross, factors = correlations(sigma_x, sigma_xv, sigma_v)
    worth = _Worth(cross, factors)
    m, s = cross.shape
    whole = frozenset(range(s))
    best_alone = np.argmax([worth.known(i, whole) for i in range(m)])
    owners = np.argmax(np.abs(cross), axis=0)
    starts = (
        tuple(whole if i == best_alone else frozenset() for i in range(m)),
        tuple(frozenset(np.flatnonzero(owners == i).tolist()) for i in range(m)),
    )
    climbed = [_climb(start, worth) for start in starts]
    best = max(climbed, key=worth.of)
    value = max(0.0, worth.of(best))
    return ImBounds(value, best, max(value, _upper(worth, m, factors)))


class _Worth:
    """The value of assignments; the information about each set of factors is computed once."""

    def __init__(self, cross: np.ndarray, factors: np.ndarray) -> None:
        self.cross, self.factors = cross, factors
        self.about = cache(self._about)

    def _about(self, group: frozenset[int]) -> tuple[np.ndarray, float]:
        """Return every latent's information about a group, and the group's entropy up to a sum over its members."""
        members = sorted(group)
        inner, outer = self.factors[np.ix_(members, members)], self.cross[:, members]
        explained = (outer * np.linalg.solve(inner, outer.T).T).sum(axis=1)
        known = np.maximum(-0.5 * np.log1p(-np.minimum(explained, 1 - SINGULAR)), 0.0)
        return known, float(0.5 * np.linalg.slogdet(inner)[1])

    def known(self, code: int, group: frozenset[int]) -> float:
        return float(self.about(group)[0][code]) if group else 0.0

    def shared(self, one: frozenset[int], other: frozenset[int]) -> float:
        if not one or not other:
            return 0.0
        return max(0.0, self.about(one)[1] + self.about(other)[1] - self.about(one | other)[1])

    def of_two(self, groups: Groups, i: int, j: int) -> float:
        """Return the terms of the value that involve two of the groups."""
        others = [group for code, group in enumerate(groups) if group and code not in (i, j)]
        one, other = groups[i], groups[j]
        apart = sum(self.shared(one, group) + self.shared(other, group) for group in others)
        return self.known(i, one) + self.known(j, other) - self.shared(one, other) - apart

    def of(self, groups: Groups) -> float:
        gain = sum(self.known(code, group) for code, group in enumerate(groups))
        return gain - sum(self.shared(one, other) for one, other in combinations(groups, 2))


def _climb(groups: Groups, worth: _Worth) -> Groups:
    """Make the change that improves an assignment most, until none does."""
    while True:
        options = [(_moved(groups, part, i, j), i, j) for i, j, part in _changes(groups)]
        gains = [worth.of_two(option, i, j) - worth.of_two(groups, i, j) for option, i, j in options]
        if not gains or max(gains) <= TIE:
            return groups
        groups = options[gains.index(max(gains))][0]


def _changes(groups: Groups) -> list[tuple[int, int, frozenset[int]]]:
    """Return what can move from one latent to another: one factor, or the whole group."""
    return [
        (i, j, part)
        for i, group in enumerate(groups)
        for part in {group, *(frozenset({k}) for k in group)}
        if part
        for j in range(len(groups))
        if j != i
    ]


def _moved(groups: Groups, part: frozenset[int], i: int, j: int) -> Groups:
    changed = list(groups)
    changed[i], changed[j] = groups[i] - part, groups[j] | part
    return tuple(changed)


def _upper(worth: _Worth, m: int, factors: np.ndarray) -> float:
    s = len(factors)
    known = np.sort(worth.about(frozenset(range(s)))[0])[::-1]
    edges = np.sort(_tree(-0.5 * np.log1p(-np.minimum(factors**2, 1 - SINGULAR) * (1 - np.eye(s)))))
    return float(max(known[:g].sum() - edges[: g - 1].sum() for g in range(1, min(s, m) + 1)))


def _tree(weights: np.ndarray) -> np.ndarray:
    """Return the edges of the spanning tree of the largest sum, from symmetric weights (s, s), by Prim's algorithm."""
    reach, outside = weights[0].copy(), np.ones(len(weights), dtype=bool)
    outside[0] = False
    edges = []
    while outside.any():
        nearest = int(np.argmax(np.where(outside, reach, -1.0)))
        edges.append(reach[nearest])
        outside[nearest] = False
        reach = np.maximum(reach, weights[nearest])
    return np.array(edges)
