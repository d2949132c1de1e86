"""Mutual information of continuous codes and factors, from the distances between neighbours."""

from __future__ import annotations

import numpy as np

from unweave.late import importing
from unweave.metrics.information import relabel

JITTER = 1e-10
"""Standard deviation of the noise that separates equal values of a standardised latent, as in scikit-learn."""


def neighbour_information(
    codes: np.ndarray, factors: np.ndarray, neighbours: int, rng: np.random.Generator
) -> np.ndarray:
    r"""Return the estimate [Ross2014]_ of I(z_j; v_k) in nats for every standardised latent and factor: (d, k).

        I = psi(N) + mean of psi(c_i) - mean of psi(N_i) - mean of psi(m_i), at least 0

    over rows i, where psi is the digamma function, N_i the number of rows with row i's value of the factor, c_i the
    smaller of `neighbours` and N_i - 1, and m_i - 1 the number of rows of any value that are nearer to row i, in the
    latent, than the c_i-th nearest of its own value. Rows whose value occurs once are left out.
    """
    information = np.empty((codes.shape[1], factors.shape[1]))
    labels = [relabel(factor) for factor in factors.T]
    for j, code in enumerate(codes.T):
        noisy = code + JITTER * rng.standard_normal(len(code))
        order = np.argsort(noisy)
        for k, (label, size) in enumerate(labels):
            information[j, k] = _information(noisy[order], label[order], size, neighbours)
    return information


def continuous_information(
    codes: np.ndarray, factors: np.ndarray, neighbours: int, rng: np.random.Generator
) -> np.ndarray:
    r"""Return the estimate [Kraskov2004]_ of I(z_j; v_k) in nats for continuous standardised columns: (d, k).

        I = psi(c) + psi(N) - mean of ( psi(x_i + 1) + psi(y_i + 1) ), at least 0

    where c is `neighbours`, and x_i and y_i count the other rows that are nearer to row i, in the latent alone and in
    the factor alone, than its c-th nearest row by the larger of both distances.
    """
    with importing():
        from scipy.spatial import KDTree
        from scipy.special import digamma

    n = len(codes)
    nearest = min(neighbours, n - 1)
    noisy = [columns + JITTER * rng.standard_normal(columns.shape) for columns in (codes, factors)]
    ordered = [np.sort(columns, axis=0) for columns in noisy]
    information = np.empty((codes.shape[1], factors.shape[1]))
    for j, k in np.ndindex(information.shape):
        both = np.stack([noisy[0][:, j], noisy[1][:, k]], axis=1)
        reach = KDTree(both).query(both, nearest + 1, p=np.inf)[0][:, -1]
        reach -= 4 * np.finfo(np.float64).eps * np.abs(both).max()  # rounding must not include the last neighbour
        terms = 0.0
        for column, rising in ((both[:, 0], ordered[0][:, j]), (both[:, 1], ordered[1][:, k])):
            inside = np.searchsorted(rising, column + reach, "left") - np.searchsorted(rising, column - reach, "right")
            terms += digamma(np.maximum(inside, 1)).mean()  # the row itself is counted, so no + 1
        information[j, k] = max(0.0, float(digamma(nearest) + digamma(n) - terms))
    return information


def _information(code: np.ndarray, label: np.ndarray, size: int, neighbours: int) -> float:
    """Return the estimate for one latent, sorted, and one factor, of labels 0..size-1."""
    with importing():
        from scipy.special import digamma

    counts = np.bincount(label, minlength=size)
    kept = counts[label] > 1
    if not kept.any():
        return 0.0
    code, label = code[kept], label[kept]
    counts = np.where(counts > 1, counts, 0)
    number = counts[label]
    nearest = np.minimum(neighbours, number - 1)
    low, high = _within(code, label, counts, nearest)
    inside = np.searchsorted(code, high, "left") - np.searchsorted(code, low, "right")
    terms = digamma(nearest) - digamma(number) - digamma(np.maximum(inside, 1))
    return max(0.0, float(digamma(len(code)) + terms.mean()))


def _within(
    code: np.ndarray, label: np.ndarray, counts: np.ndarray, nearest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the open interval around each row of a sorted latent that ends at its `nearest`-th neighbour of its label.

    Among the sorted rows of a label, a row and its c nearest neighbours are c + 1 consecutive rows. The distance is the
    shortest reach over the c + 1 ways to choose these. The interval ends at the neighbour's exact value, so that
    rounding does not include it.
    """
    grouped = np.argsort(label, kind="stable")  # by label, and sorted by code within it
    x, c = code[grouped], nearest[grouped]
    last = np.cumsum(counts)[label[grouped]] - 1
    first = last - counts[label[grouped]] + 1
    here = np.arange(len(x))
    reach, left = np.full(len(x), np.inf), here
    for before in range(int(c.max()) + 1):
        start = here - before
        valid = (before <= c) & (start >= first) & (start + c <= last)
        start = np.where(valid, start, first)  # any index within bounds works
        farther = np.where(valid, np.maximum(x - x[start], x[start + c] - x), np.inf)
        left, reach = np.where(farther < reach, start, left), np.minimum(farther, reach)
    below, above = x - x[left], x[left + c] - x
    low, high = np.empty_like(x), np.empty_like(x)
    low[grouped] = np.where(below >= above, x[left], x - reach)
    high[grouped] = np.where(above >= below, x[left + c], x + reach)
    return low, high
