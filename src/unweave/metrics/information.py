"""Discrete entropies and mutual information, in nats, from tables of counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unweave.late import importing
from unweave.metrics.inputs import bin_count, check, varying
from unweave.metrics.one_hot import check_categorical
from unweave.metrics.resampling import Sampled

ROUNDING = 1e-12
"""This many nats or fewer are a rounding error and count as 0."""
CELLS = 2**18
"""The most counts held at once: little memory, whatever the number of subsets, and mostly in the cache."""


class Information(NamedTuple):
    """Information between d latents and k factors; on r subsets of the rows, every shape ends in r."""

    shared: np.ndarray
    """I(z_j; v_k), (d, k)."""
    code: np.ndarray
    """H(z_j), (d,)."""
    factor: np.ndarray
    """H(v_k), (k,)."""


def by_information(
    score: Callable[[Information], np.ndarray],
    codes: ArrayLike,
    factors: ArrayLike,
    bins: int,
    per_factor: Callable[[Information], np.ndarray] | None = None,
    categorical: Sequence[int] = (),
) -> Sampled[float]:
    """Resample a score of the information between binned latents and factors, on all subsets of the rows at once.

    A factor with a single value is left out. The edges of the bins are those of all rows, for the subsets too.
    `per_factor` gives the values (k,) of single factors, if the score is their mean. A categorical latent has a bin for
    each of its values.
    """
    values, labels = check(codes, factors)
    labels = labels[:, varying(labels)]
    binned, bins = bin_or_number(values, bin_count(bins), categorical)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return score(information(binned, bins, labels, subsets))

    whole = information(binned, bins, labels)
    details = {} if per_factor is None else {"": per_factor(whole)}
    return Sampled(float(score(whole)), len(values), rescore, per_factor=details)


def by_factor(
    per_factor: Callable[[Information], np.ndarray],
    codes: ArrayLike,
    factors: ArrayLike,
    bins: int,
    categorical: Sequence[int] = (),
) -> Sampled[float]:
    """Resample the mean over factors, the first axis, of the values of `per_factor`."""
    return by_information(lambda table: per_factor(table).mean(axis=0), codes, factors, bins, per_factor, categorical)


def known(table: Information) -> np.ndarray:
    """Return the share I(z_j; v_k) / H(v_k) of a factor that a latent holds, (d, k, ...): 0 where H(v_k) is 0."""
    return np.where(table.factor > ROUNDING, table.shared / np.maximum(table.factor, ROUNDING), 0.0)


def bin_codes(codes: np.ndarray, bins: int) -> np.ndarray:
    """Return the bin 0..bins-1 of every latent, (n, d): equal widths between a latent's least and largest value.

    A value on an edge belongs to the bin above it, the largest value to the last bin. A constant latent is all bin 0.
    """
    binned = np.empty(codes.shape, dtype=np.intp)
    for j, code in enumerate(np.ascontiguousarray(codes.T)):
        inner = np.linspace(code.min(), code.max(), bins + 1)[1:-1]
        binned[:, j] = np.searchsorted(inner, code, side="right") if code.min() < code.max() else 0
    return binned


def bin_or_number(codes: np.ndarray, bins: int, categorical: Sequence[int]) -> tuple[np.ndarray, int]:
    """Return the bins of all latents (one per value for categorical ones) and the largest number of bins."""
    binned = bin_codes(codes, bins)
    for j in check_categorical(categorical, codes.shape[1]):
        binned[:, j] = np.unique(codes[:, j], return_inverse=True)[1]
        bins = max(bins, int(binned[:, j].max()) + 1)
    return binned, bins


def relabel(factor: np.ndarray) -> tuple[np.ndarray, int]:
    """Return one factor's values (n,) as labels from 0 up, and a bound on them of at most n."""
    least, spread = factor.min(), int(factor.max()) - int(factor.min()) + 1
    if spread <= len(factor):  # some labels may be unused: an empty cell adds nothing to an entropy
        return factor - least, spread
    values, labels = np.unique(factor, return_inverse=True)
    return labels, len(values)


def information(binned: np.ndarray, bins: int, factors: np.ndarray, subsets: np.ndarray | None = None) -> Information:
    """Return the information between binned codes (n, d) and factors (n, k), or that on each of the subsets (r, n)."""
    d, k = binned.shape[1], factors.shape[1]
    if subsets is not None:  # in the layout of joint_counts, so that it is converted once
        subsets = np.asfortranarray(subsets, dtype=np.float32)
    r = 1 if subsets is None else len(subsets)
    table = Information(np.empty((d, k, r)), np.empty((d, r)), np.empty((k, r)))
    for column, factor in enumerate(factors.T):
        labels, size = relabel(factor)
        together = max(1, CELLS // (size * bins))  # how many pairs of a latent and a subset
        for some in _slices(d, max(1, together // r)):
            for rows in _slices(r, together):
                counts = joint_counts(binned[:, some], bins, labels, None if subsets is None else subsets[rows])
                found = _information(counts.reshape(*counts.shape[:3], -1))
                table.shared[some, column, rows], table.code[some, rows], table.factor[column, rows] = found
    return table if subsets is not None else Information(*(part[..., 0] for part in table))


def joint_counts(binned: np.ndarray, bins: int, factor: np.ndarray, subsets: np.ndarray | None = None) -> np.ndarray:
    """Return how often each value of a factor occurs with each bin of each latent: (values, d, bins).

    With `subsets`, (r, n) booleans, the counts of each subset of the rows: (values, d, bins, r).
    """
    n, d = binned.shape
    labels, size = relabel(factor)
    cells = (labels[:, None] * d + np.arange(d)) * bins + binned  # (n, d)
    if subsets is None:
        return np.bincount(cells.ravel(), minlength=size * d * bins).reshape(size, d, bins)

    with importing():
        from scipy.sparse import csc_array

    # Column i marks the d cells that row i falls in, so one product counts all subsets: ten times faster than a loop.
    # Single precision halves the memory, and counts exactly up to 2**24 rows.
    starts = np.arange(0, n * d + 1, d)
    marks = csc_array((np.ones(n * d, np.float32), cells.ravel(), starts), shape=(size * d * bins, n))
    counts = marks @ np.ascontiguousarray(subsets.T, dtype=np.float32)
    return counts.reshape(size, d, bins, len(subsets)).astype(np.float64)


def mutual_information(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the plug-in I(z_j; v) of every latent, (d, ...), and the entropy H(v), (...), of joint_counts' result."""
    shared, _, entropy = _information(counts)
    return shared, entropy


def _information(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return I(z_j; v) = H(v) + H(z_j) - H(z_j, v), (d, ...), H(z_j), (d, ...), and H(v), (...)."""
    factor = _entropy(counts[:, 0].sum(axis=1), axis=0)
    code = _entropy(counts.sum(axis=0), axis=1)
    shared = factor + code - _entropy(counts, axis=(0, 2))
    shared = np.where(shared > ROUNDING, shared, 0.0)
    return np.minimum(shared, factor), code, factor  # cuts rounding only: 0 <= I <= H holds for any counts


def _entropy(counts: np.ndarray, axis: int | tuple[int, ...]) -> np.ndarray:
    """Return the entropy of the distributions along the axis: log n - (sum of c log c) / n for counts c."""
    n = counts.sum(axis=axis)
    return np.maximum(np.log(n) - (counts * np.log(np.maximum(counts, 1))).sum(axis=axis) / n, 0.0)


def _slices(length: int, step: int) -> list[slice]:
    return [slice(start, start + step) for start in range(0, length, step)]
