"""The I_m score of a linear-Gaussian representation, exactly, from covariances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError
from unweave.gaussian.partitions import set_partitions

MOST_FACTORS = 12
"""With one factor more there are 27 million partitions."""
SINGULAR = 1e-12
"""A share of variance at most this large is rounding: what is left of it is determined exactly by the rest."""
TIE = 1e-9
"""Assignments within this many nats of the best are as good."""
CHUNK = 2**18
"""Partitions looked at together, to bound memory."""


class ImScore(NamedTuple):
    """The score in nats, and the group of factors, by index, that each code stands for (empty: none)."""

    value: float
    groups: tuple[frozenset[int], ...]


def im_score(sigma_x: ArrayLike, sigma_xv: ArrayLike, sigma_v: ArrayLike) -> ImScore:
    r"""I_m [Vu2024]_, in nats from 0 up: which group of factors does each code stand for, and how well?

        I_m = max over assignments of the s factors to m groups of
              sum over i of I(x_i; v_Si) - sum over i < j of I(v_Si; v_Sj)

    for jointly Gaussian codes x, of covariance `sigma_x` (m, m), and factors v, of covariance `sigma_v` (s, s), with
    cross-covariance `sigma_xv` (m, s). Groups may be empty. Of `sigma_x` only the diagonal counts.

    All partitions of the factors are looked at. Of assignments within 1e-9 nats of the best the one with the fewest
    groups that are not empty is given, of these the first in the order of partitions that put factors 0, 1, ... in the
    earliest group, and of its labels the ones with the lowest codes: codes that know nothing give one group, of code 0.
    A code of variance 0 knows nothing. Infinite information (a factor that the other factors determine, a code that the
    factors determine) and more than 12 factors are refused.

    >>> im_score([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.8], [0.6, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).groups
    (frozenset({1}), frozenset({0}))
    """
    cross, factors = _correlations(sigma_x, sigma_xv, sigma_v)
    known, entropy = _tables(cross, factors)
    s, m = len(factors), len(cross)
    partitions = set_partitions(s, min(s, m))
    penalties, bounds = _penalties_and_bounds(partitions, known, entropy)
    chosen = _best(partitions, known, penalties, bounds)
    codes, gain = _lowest_labels(known[:, partitions[chosen][partitions[chosen] > 0]])
    groups: list[frozenset[int]] = [frozenset()] * m
    for code, mask in zip(codes, partitions[chosen].tolist(), strict=False):
        groups[code] = frozenset(i for i in range(s) if mask >> i & 1)
    return ImScore(max(0.0, gain - float(penalties[chosen])), tuple(groups))


def _correlations(sigma_x: ArrayLike, sigma_xv: ArrayLike, sigma_v: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations of codes and factors (m, s) and of factors (s, s), checked."""
    x, xv, v = _matrix(sigma_x, "sigma_x"), _matrix(sigma_xv, "sigma_xv"), _matrix(sigma_v, "sigma_v")
    m, s = xv.shape
    if x.shape != (m, m) or v.shape != (s, s):
        shapes = f"sigma_x {x.shape}, sigma_xv {xv.shape}, sigma_v {v.shape}"
        raise UsageError(f"covariances must have shapes (m, m), (m, s) and (s, s), got {shapes}")
    if s > MOST_FACTORS:
        raise UsageError(f"the I_m score goes through all partitions of at most {MOST_FACTORS} factors, got {s}")
    if (np.diag(x) < 0).any() or (np.diag(v) <= 0).any() or not np.allclose(v, v.T):
        raise UsageError("sigma_x and sigma_v must be covariances: symmetric, the variances of factors above 0")
    spread = np.sqrt(np.diag(v))
    factors = v / spread[:, None] / spread
    if np.linalg.eigvalsh(factors)[0] <= SINGULAR:
        raise UsageError("sigma_v is singular: factors that determine each other share infinite information")
    width = np.sqrt(np.diag(x))
    if xv[width == 0].any():
        raise UsageError("sigma_x gives a code variance 0 that sigma_xv says covaries with a factor")
    cross = xv / np.where(width > 0, width, 1)[:, None] / spread
    left = 1 - (cross * np.linalg.solve(factors, cross.T).T).sum(axis=1)
    if (left <= SINGULAR).any():
        code = int(np.argmin(left))
        raise UsageError(f"the factors determine code {code} exactly, or more than that: its information is infinite")
    return cross, factors


def _matrix(values: ArrayLike, name: str) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} cannot be read as a matrix: {str(error).splitlines()[0]}") from error
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise UsageError(f"{name} must be a matrix of finite numbers, got shape {array.shape}")
    return array


def _tables(cross: np.ndarray, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return I(x_i; v_S), (m, 2**s), and the entropy of v_S up to a sum over its factors, (2**s,), of all sets S."""
    m, s = cross.shape
    known, entropy = np.zeros((m, 2**s)), np.zeros(2**s)
    masks = np.arange(2**s)
    members = masks[:, None] >> np.arange(s) & 1
    for size in range(1, s + 1):  # all sets of one size at once
        sets = masks[members.sum(axis=1) == size]
        chosen = np.nonzero(members[sets])[1].reshape(-1, size)
        inner = factors[chosen[:, :, None], chosen[:, None, :]]  # (sets, size, size)
        outer = np.moveaxis(cross[:, chosen], 0, -1)  # (sets, size, m)
        explained = (outer * np.linalg.solve(inner, outer)).sum(axis=1)  # (sets, m)
        known[:, sets] = np.maximum(-0.5 * np.log1p(-np.minimum(explained, 1 - SINGULAR)).T, 0.0)
        entropy[sets] = 0.5 * np.linalg.slogdet(inner)[1]
    return known, entropy


def _penalties_and_bounds(
    partitions: np.ndarray, known: np.ndarray, entropy: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what the groups of every partition share, and a value that none of its assignments exceeds."""
    penalties, bounds = np.empty(len(partitions)), np.empty(len(partitions))
    most = known.max(axis=0)
    for start in range(0, len(partitions), CHUNK):
        part = slice(start, start + CHUNK)
        groups = np.ascontiguousarray(partitions[part].T)
        penalty = np.zeros(groups.shape[1])
        for i, group in enumerate(groups):
            for other in groups[:i]:
                # I(S; T) = H(S) + H(T) - H(S, T), which is 0 where one of them is empty.
                penalty += np.maximum(entropy[group] + entropy[other] - entropy[group | other], 0.0)
        penalties[part] = penalty
        bounds[part] = most[groups].sum(axis=0) - penalty  # each group to the code that knows it best, were it free
    return penalties, bounds


def _best(partitions: np.ndarray, known: np.ndarray, penalties: np.ndarray, bounds: np.ndarray) -> int:
    """Return the index of the best partition; of equals the one with the fewest groups, then the first."""
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
    """Return the largest sum of what codes (m, groups) know when every group has a code of its own."""
    from scipy.optimize import linear_sum_assignment

    codes, groups = linear_sum_assignment(known, maximize=True)
    return float(known[codes, groups].sum())


def _lowest_labels(known: np.ndarray) -> tuple[list[int], float]:
    """Return the code of each group, (m, groups) given, and their gain: of equally good ones the lowest codes."""
    best = _gain(known)
    codes: list[int] = []
    for group in range(known.shape[1]):
        free = [code for code in range(len(known)) if code not in codes]
        gains = [_gain(known[[c for c in free if c != code], group + 1 :]) + known[code, group] for code in free]
        so_far = sum(known[code, g] for g, code in enumerate(codes))
        codes.append(next(code for code, gain in zip(free, gains, strict=True) if so_far + gain >= best - TIE))
    return codes, float(sum(known[code, g] for g, code in enumerate(codes)))
