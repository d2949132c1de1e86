"""Batches of codes that vote for one latent each, and the score of predicting a factor from the votes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from unweave.data.factors import Integers
from unweave.errors import UsageError
from unweave.metrics.one_hot import OneHot
from unweave.metrics.pool import Source
from unweave.metrics.resampling import Sampled
from unweave.metrics.traversals import chunks

Variance: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""From codes (..., n, d) to their variances (..., d)."""


def variance(codes: np.ndarray) -> np.ndarray:
    """Return the variance (..., d) over the last axis but one, with n - 1; exactly 0 for equal codes."""
    spread = codes - codes[..., :1, :]
    spread -= spread.mean(axis=-2, keepdims=True)
    return np.einsum("...bd,...bd->...d", spread, spread) / (codes.shape[-2] - 1)


def variance_of(read: OneHot) -> Variance:
    """Return the function that measures variances: for a categorical latent, that of its one-hot vector."""
    return lambda codes: read.total(variance(read(codes)))


def batch_variances(book: Source, cells: Integers, variance: Variance = variance) -> np.ndarray:
    """Return the variance (n, d) of every latent within batches of cells (n, batch)."""
    width = book.codes(cells[0, :1]).shape[1]
    variances = np.empty((len(cells), width))
    for part in chunks(len(cells), cells.shape[1] * width):
        variances[part] = variance(book.codes(cells[part]))
    return variances


def active(variances: np.ndarray, threshold: float) -> np.ndarray:
    """Return the positions of latents that vary, with a standard deviation of at least the threshold."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold < math.inf:
        raise UsageError(f"threshold must be a number from 0 up, got {threshold!r}")
    return np.flatnonzero((variances > 0) & (np.sqrt(variances) >= threshold))


def by_majority(
    factors: Integers,
    spreads: np.ndarray,
    anywhere: np.ndarray,
    votes: int,
    *,
    largest: bool = False,
    rescaled: bool = False,
    variance: Variance = variance,
) -> Sampled[float]:
    """Score how well the code that a batch votes for predicts the factor, (n,), that was intervened on.

    A batch votes for the code of least variance within it, `spreads` (n, d), over its variance in the codes of rows
    from `anywhere` (m, d); or for the `largest`. Each latent predicts the factor it was voted for most often among the
    first `votes` (the first such factor at a tie, or without a vote); the score is the accuracy on the other votes.
    `rescaled` maps chance to 0; `variance` measures a variance. The units to resample are the batches
    and the rows from anywhere.
    """
    known, factors = np.unique(factors, return_inverse=True)
    shape, count = (spreads.shape[1], len(known)), len(spreads)
    choose, overall = np.argmax if largest else np.argmin, variance(anywhere)

    def table(kept: np.ndarray, chosen: Integers, truth: Integers) -> np.ndarray:
        cells = chosen[kept] * shape[1] + truth[kept]
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)

    def accuracy(kept: np.ndarray) -> float:
        some = variance(anywhere[kept[count:]]) if kept[count:].sum() > 1 else overall
        chosen = choose(spreads / np.where(some > 0, some, overall), axis=1)
        predicted = table(kept[:votes], chosen[:votes], factors[:votes]).argmax(axis=1)
        held_out = table(kept[votes:count], chosen[votes:], factors[votes:])
        right = np.take_along_axis(held_out, predicted[:, None], axis=1).sum()
        return right / max(held_out.sum(), 1)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        found = np.array([accuracy(kept) for kept in subsets])
        return above_chance(found, shape[1]) if rescaled else found

    whole = np.ones((1, count + len(anywhere)), dtype=bool)
    stretch = shape[1] / (shape[1] - 1) if rescaled and shape[1] > 1 else 1.0
    return Sampled(float(rescore(whole)[0]), whole.size, rescore, step=stretch / (count - votes))


def above_chance(accuracy: np.ndarray, classes: int) -> np.ndarray:
    """Return an accuracy rescaled so that a guess has 0 and a perfect one 1, at least 0; unchanged for one class."""
    if classes == 1:
        return accuracy
    return np.maximum(accuracy - 1 / classes, 0.0) / (1 - 1 / classes)


def no_votes(units: int) -> Sampled[float]:
    """Return the score 0 of codes without an active latent, with the same units as any other codes."""
    return Sampled(0.0, units, lambda subsets: np.zeros(len(subsets)))
