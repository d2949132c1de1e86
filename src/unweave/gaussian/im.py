"""The I_m score of a linear-Gaussian representation, exactly, from covariances."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.gaussian.information import tables
from unweave.gaussian.matrices import SINGULAR, matrix, require_definite
from unweave.gaussian.partitions import set_partitions
from unweave.gaussian.search import PartitionSearch

MOST_FACTORS = 12
"""With this many factors, tables of all sets and their subsets (3**12) still take only a moment."""
TIE = 1e-9
"""Assignments within this many nats of the best count as equal."""
FEW_FACTORS = 8
"""Up to this many factors all partitions (4140) are evaluated together, which is as fast as a search."""


class ImScore(NamedTuple):
    """The score in nats, and the group of factors, by index, that each latent stands for (empty: none)."""

    value: float
    groups: tuple[frozenset[int], ...]


def im_score(sigma_x: ArrayLike, sigma_xv: ArrayLike, sigma_v: ArrayLike) -> ImScore:
    """I_m [Vu2024]_, in nats from 0 up: which group of factors does each latent stand for, and how well?

        I_m = max over assignments of the s factors to m groups of
              sum over i of I(x_i; v_Si) - sum over i < j of I(v_Si; v_Sj)

    for jointly Gaussian codes x and factors v. Groups may be empty.

    Parameters
    ----------
    sigma_x
        Covariance of the codes (m, m); only its diagonal counts.
    sigma_xv
        Covariance of codes and factors (m, s).
    sigma_v
        Covariance of the factors (s, s), at most 12 factors; `im_bounds` takes any number.

    Returns
    -------
    ImScore
        The score, and the group of factors of each latent.

    Notes
    -----
    The search is exact: it lists all partitions of the factors, or excludes them by branch and bound. Among assignments
    within 1e-9 nats of the best, it takes those with the fewest non-empty groups, then the first in the order of
    partitions that put factors 0, 1, ... in the earliest group, and then the one with the lowest latents: codes that
    hold nothing give one group, of latent 0. A latent of variance 0 has no information. Infinite information (a factor
    that the other factors determine, a latent that the factors determine) raises a `UsageError`.

    Examples
    --------
    >>> im_score([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.8], [0.6, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).groups
    (frozenset({1}), frozenset({0}))
    """
    cross, factors = correlations(sigma_x, sigma_xv, sigma_v)
    if (s := len(factors)) > MOST_FACTORS:
        raise UsageError(
            f"the exact I_m score takes at most {MOST_FACTORS} factors, got {s}; im_bounds takes any number"
        )
    known, entropy = tables(cross, factors)
    groups, penalty = _listed(known, entropy) if len(factors) <= FEW_FACTORS else _searched(known, entropy)
    codes, gain = _lowest_labels(known[:, groups])
    owned: list[frozenset[int]] = [frozenset()] * len(cross)
    for code, mask in zip(codes, groups, strict=True):
        owned[code] = frozenset(i for i in range(len(factors)) if mask >> i & 1)
    return ImScore(max(0.0, gain - penalty), tuple(owned))


def correlations(sigma_x: ArrayLike, sigma_xv: ArrayLike, sigma_v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations of codes and factors (m, s) and of factors (s, s), checked."""
    x, xv, v = matrix(sigma_x, "sigma_x"), matrix(sigma_xv, "sigma_xv"), matrix(sigma_v, "sigma_v")
    m, s = xv.shape
    if x.shape != (m, m) or v.shape != (s, s):
        shapes = f"sigma_x {x.shape}, sigma_xv {xv.shape}, sigma_v {v.shape}"
        raise UsageError(f"covariances must have shapes (m, m), (m, s) and (s, s), got {shapes}")
    if (np.diag(x) < 0).any() or (np.diag(v) <= 0).any() or not np.allclose(v, v.T):
        raise UsageError("sigma_x and sigma_v must be covariances: symmetric, the variances of factors above 0")
    spread = np.sqrt(np.diag(v))
    factors = v / spread[:, None] / spread
    require_definite(factors, "sigma_v", "factors that determine each other share infinite information")
    width = np.sqrt(np.diag(x))
    if xv[width == 0].any():
        raise UsageError("sigma_x gives a latent variance 0, but sigma_xv says that it covaries with a factor")
    cross = xv / np.where(width > 0, width, 1)[:, None] / spread
    left = 1 - (cross * np.linalg.solve(factors, cross.T).T).sum(axis=1)
    if (left <= SINGULAR).any():
        code = int(np.argmin(left))
        raise UsageError(
            f"the factors determine code {code} exactly, or sigma_xv is too large: its information is infinite"
        )
    return cross, factors


def _listed(known: np.ndarray, entropy: np.ndarray) -> tuple[list[int], float]:
    """Return the groups of the best partition and their shared information, from a list of all partitions."""
    s = len(entropy).bit_length() - 1
    partitions = set_partitions(s, min(s, len(known)))
    penalties, bounds = _penalties_and_bounds(partitions, known, entropy)
    chosen = _best(partitions, known, penalties, bounds)
    return [mask for mask in partitions[chosen].tolist() if mask], float(penalties[chosen])


def _searched(known: np.ndarray, entropy: np.ndarray) -> tuple[list[int], float]:
    """Return the same by branch and bound."""
    s = len(entropy).bit_length() - 1

    def rate(groups: tuple[int, ...]) -> float:
        return _gain(known[:, groups]) - _penalty(groups, entropy)

    owners = known[:, 1 << np.arange(s)].argmax(axis=0)  # a first guess: every factor to its most informative latent
    guess = {int(code): sum(1 << j for j in range(s) if owners[j] == code) for code in owners}
    search = PartitionSearch(known, entropy, min(s, len(known)))
    best = search.best(rate, max(rate((2**s - 1,)), rate(tuple(guess.values()))))
    groups = search.first(rate, best - TIE)
    return list(groups), _penalty(groups, entropy)


def _penalty(groups: tuple[int, ...], entropy: np.ndarray) -> float:
    """Return the information that groups share, pair by pair: I(S; T) = H(S) + H(T) - H(S, T)."""
    pairs = combinations(groups, 2)
    return float(sum(max(0.0, entropy[one] + entropy[other] - entropy[one | other]) for one, other in pairs))


def _penalties_and_bounds(
    partitions: np.ndarray, known: np.ndarray, entropy: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the groups of every partition share, and an upper bound of the value of its assignments."""
    penalties = np.zeros(len(partitions))
    groups = np.ascontiguousarray(partitions.T)
    for one, other in combinations(groups, 2):  # 0 where one of them is empty
        penalties += np.maximum(entropy[one] + entropy[other] - entropy[one | other], 0.0)
    return penalties, known.max(axis=0)[groups].sum(axis=0) - penalties  # each group to its most informative latent


def _best(partitions: np.ndarray, known: np.ndarray, penalties: np.ndarray, bounds: np.ndarray) -> int:
    """Return the index of the best partition; among equals the one with the fewest groups, then the first."""
    values = np.full(len(partitions), -np.inf)

    def solve(index: int) -> float:
        if values[index] == -np.inf:
            groups = partitions[index]
            values[index] = _gain(known[:, groups[groups > 0]]) - penalties[index]
        return values[index]

    best = -np.inf
    for index in np.argsort(-bounds, kind="stable"):
        if bounds[index] <= best + TIE / 10:
            break
        best = max(best, solve(int(index)))
    rivals = np.flatnonzero(bounds >= best - TIE)
    fewest_first = np.argsort((partitions[rivals] > 0).sum(axis=1), kind="stable")
    return next(int(index) for index in rivals[fewest_first] if solve(int(index)) >= best - TIE)


def _gain(known: np.ndarray) -> float:
    """Return the largest sum of information, (m, groups) given, if every group has its own latent."""
    from scipy.optimize import linear_sum_assignment

    codes, groups = linear_sum_assignment(known, maximize=True)
    return float(known[codes, groups].sum())


def _lowest_labels(known: np.ndarray) -> tuple[list[int], float]:
    """Return the latent of each group, (m, groups) given, and their gain: the lowest latents among equals."""
    best = _gain(known)
    codes: list[int] = []
    for group in range(known.shape[1]):
        free = [code for code in range(len(known)) if code not in codes]
        gains = [_gain(known[[c for c in free if c != code], group + 1 :]) + known[code, group] for code in free]
        so_far = sum(known[code, g] for g, code in enumerate(codes))
        codes.append(next(code for code, gain in zip(free, gains, strict=True) if so_far + gain >= best - TIE))
    return codes, float(sum(known[code, g] for g, code in enumerate(codes)))
