"""Discrete entropies and mutual information, in nats, from tables of counts."""

from __future__ import annotations

import numpy as np


def bin_codes(codes: np.ndarray, bins: int) -> np.ndarray:
    """Return the bin 0..bins-1 of every code, (n, d): equal widths between a code's least and largest value.

    A value on an edge belongs to the bin above it, the largest value to the last bin. A constant code is all bin 0.
    """
    binned = np.empty(codes.shape, dtype=np.intp)
    for j, code in enumerate(np.ascontiguousarray(codes.T)):
        inner = np.linspace(code.min(), code.max(), bins + 1)[1:-1]
        binned[:, j] = np.searchsorted(inner, code, side="right") if code.min() < code.max() else 0
    return binned


def relabel(factor: np.ndarray) -> tuple[np.ndarray, int]:
    """Return one factor's values (n,) as labels from 0 up, and a bound on them of at most n."""
    least, spread = factor.min(), int(factor.max()) - int(factor.min()) + 1
    if spread <= len(factor):  # some labels may stay unused: an empty cell adds nothing to an entropy
        return factor - least, spread
    values, labels = np.unique(factor, return_inverse=True)
    return labels, len(values)


def joint_counts(binned: np.ndarray, bins: int, factor: np.ndarray, subsets: np.ndarray | None = None) -> np.ndarray:
    """Return how often each value of a factor meets each bin of each code: (values, d, bins).

    With `subsets`, (r, n) booleans, the counts of each subset of the rows: (values, d, bins, r).
    """
    n, d = binned.shape
    labels, size = relabel(factor)
    cells = (labels[:, None] * d + np.arange(d)) * bins + binned  # (n, d)
    if subsets is None:
        return np.bincount(cells.ravel(), minlength=size * d * bins).reshape(size, d, bins)

    from scipy.sparse import csc_array

    # Column i marks the d cells that row i falls in, so one product counts all subsets: ten times faster than a loop.
    # Single precision halves the memory, and counts exactly up to 2**24 rows.
    starts = np.arange(0, n * d + 1, d)
    marks = csc_array((np.ones(n * d, np.float32), cells.ravel(), starts), shape=(size * d * bins, n))
    counts = marks @ np.ascontiguousarray(subsets.T, dtype=np.float32)
    return counts.reshape(size, d, bins, len(subsets)).astype(np.float64)


def mutual_information(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the plug-in I(z_j; v) of every code, (d, ...), and the entropy H(v), (...), of joint_counts' result.

    I = H(z) + H(v) - H(z, v), with H = log n - (sum of c log c over the cells' counts c) / n.
    """
    of_value = counts[:, 0].sum(axis=1)  # (values, ...)
    n = of_value.sum(axis=0)
    joint = _count_log_count(counts).sum(axis=(0, 2))
    code = _count_log_count(counts.sum(axis=0)).sum(axis=1)
    value = _count_log_count(of_value).sum(axis=0)
    entropy = np.maximum(np.log(n) - value / n, 0.0)
    information = np.log(n) + (joint - code - value) / n
    return np.clip(information, 0.0, entropy), entropy  # clips rounding only: 0 <= I <= H holds for any counts


def _count_log_count(counts: np.ndarray) -> np.ndarray:
    return counts * np.log(np.maximum(counts, 1))
