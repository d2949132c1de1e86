"""Batches of codes that vote for one code each, and the score of predicting a factor from the votes."""

from __future__ import annotations

import math

import numpy as np

from unweave.data.factors import Integers
from unweave.errors import UsageError
from unweave.metrics.pool import Source
from unweave.metrics.resampling import Sampled
from unweave.metrics.traversals import chunks


def variance(codes: np.ndarray) -> np.ndarray:
    """Return the variance (..., d) over the last axis but one, with n - 1; of equal codes it is 0, to the last bit."""
    spread = codes - codes[..., :1, :]
    spread -= spread.mean(axis=-2, keepdims=True)
    return np.einsum("...bd,...bd->...d", spread, spread) / (codes.shape[-2] - 1)


def batch_variances(book: Source, cells: Integers) -> np.ndarray:
    """Return the variance (n, d) of every code within batches of cells (n, batch)."""
    width = book.codes(cells[0, :1]).shape[1]
    variances = np.empty((len(cells), width))
    for part in chunks(len(cells), cells.shape[1] * width):
        variances[part] = variance(book.codes(cells[part]))
    return variances


def active(variances: np.ndarray, threshold: float) -> np.ndarray:
    """Return the positions of codes that vary, with a standard deviation of at least the threshold."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < math.inf:
        raise UsageError(f"threshold must be a number from 0 up, got {threshold!r}")
    return np.flatnonzero((variances > 0) & (np.sqrt(variances) >= threshold))


def by_majority(factors: Integers, codes: Integers, votes: int, rescaled: bool = False) -> Sampled[float]:
    """Score how well the code voted for, (n,), predicts the factor, (n,), that was intervened on.

    Each code predicts the factor it was voted for most often among the first `votes` (the first such factor at a tie,
    or without a vote); the score is the accuracy on the other votes. `rescaled` takes chance off it.
    """
    known, factors = np.unique(factors, return_inverse=True)
    shape = (int(codes.max()) + 1, len(known))
    cells = codes * shape[1] + factors

    def tables(subsets: np.ndarray, cells: np.ndarray) -> np.ndarray:
        counts = [np.bincount(cells[kept], minlength=math.prod(shape)) for kept in subsets]
        return np.reshape(counts, (-1, *shape))

    def rescore(subsets: np.ndarray) -> np.ndarray:
        predicted = tables(subsets[:, :votes], cells[:votes]).argmax(axis=2)
        held_out = tables(subsets[:, votes:], cells[votes:])
        right = np.take_along_axis(held_out, predicted[:, :, None], axis=2).sum(axis=(1, 2))
        accuracy = right / np.maximum(held_out.sum(axis=(1, 2)), 1)
        return above_chance(accuracy, shape[1]) if rescaled else accuracy

    whole = np.ones((1, len(cells)), dtype=bool)
    return Sampled(float(rescore(whole)[0]), len(cells), rescore)


def above_chance(accuracy: np.ndarray, classes: int) -> np.ndarray:
    """Return 0 for the accuracy of a guess, or less, and 1 for a perfect one. With one class there is no guessing."""
    if classes == 1:
        return accuracy
    return np.maximum(accuracy - 1 / classes, 0.0) / (1 - 1 / classes)


def no_votes(votes: int) -> Sampled[float]:
    """Return the score 0 of codes none of which is active."""
    return Sampled(0.0, votes, lambda subsets: np.zeros(len(subsets)))
