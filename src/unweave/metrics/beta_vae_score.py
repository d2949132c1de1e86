"""The β-VAE score: can differences between codes of pairs tell which factor the pairs share?"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from unweave.data.dataset import Dataset
from unweave.data.factors import Integers
from unweave.late import importing
from unweave.metrics.codebook import Encode
from unweave.metrics.inputs import DRAW, Pair, generator, whole_number
from unweave.metrics.metric import metric
from unweave.metrics.pool import Source, open_source, resampled
from unweave.metrics.resampling import Sampled, by_refits
from unweave.metrics.traversals import chunks


@metric(
    "Higgins et al. 2017",
    "modularity",
    fast={"points": 500, "test_points": 250},
    shuffles=3,
    floor_options={"points": 2_000},
    ceiling_options={"points": 2_000, "test_points": 2_500},
)
def beta_vae_score(
    source: ArrayLike | Encode | Source,
    data: ArrayLike | Dataset | None = None,
    *,
    points: int = 10_000,
    test_points: int = 5_000,
    batch: int = 64,
    seed: int = 0,
) -> Sampled[float]:
    r"""β-VAE score [Higgins2017]_, in [0, 1]: do differences between codes identify the shared factor?

        point = mean over `batch` pairs of |z - z'|,    label = the factor whose value both samples of a pair share

    The score is the accuracy of a logistic regression (C = 1) from point to label, on points that it was not fitted to.

    Parameters
    ----------
    source
        The source of pairs: a `Codebook`, or an encoder of the images of `data`, to draw from the full grid of factors;
        codes (n, d), with factors as `data`, or a `Pool`, to draw from these rows.
    data
        The data set of an encoder, or the factors (n, k) of codes; nothing with a `Codebook` or a `Pool`.
    points, test_points
        Points to fit and to test on; each has one factor drawn at random.
    batch
        Pairs per point.
    seed
        Seed of all draws.

    Returns
    -------
    float
        The accuracy. Chance is 1 over the number of factors.

    Notes
    -----
    A factor with a single value is never the shared one; with a single factor left the score is 1. Constant codes score
    chance. Invariant to the sign and shift of a latent; not to its scale, because the regression is penalised.

    References
    ----------
    .. [Higgins2017] Higgins et al., "beta-VAE: Learning Basic Visual Concepts with a Constrained Variational
       Framework", ICLR 2017.

    Examples
    --------
    >>> from unweave.metrics import Codebook, beta_vae_score
    >>> book = Codebook.of_grid([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], sizes=(2, 2))
    >>> beta_vae_score(book, points=100, test_points=50)
    1.0
    >>> codes, factors = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> beta_vae_score(codes, factors, points=100, test_points=50)
    1.0
    """
    points, test_points = whole_number(points, "points", 1), whole_number(test_points, "test_points", 1)
    batch = whole_number(batch, "batch", 1)

    def by_points(book: Source) -> Sampled[float]:
        factors, pairs = book.draw_pairs(points + test_points, batch, generator(seed, DRAW))
        book.prepare(pairs)
        differences = mean_differences(book, pairs)
        train, held_out = (differences[:points], factors[:points]), (differences[points:], factors[points:])
        refits = by_refits(lambda some, others: _accuracy(some, others, points / max(len(some[0]), 1)), train, held_out)
        return replace(refits, step=1 / test_points)

    return resampled(by_points, open_source(source, data))


def mean_differences(book: Source, pairs: Integers) -> np.ndarray:
    """Return the mean of |z - z'| over the pairs of each point: (count, batch, 2) to (count, d)."""
    width = book.codes(pairs[0, :1, 0]).shape[1]
    means = np.empty((len(pairs), width))
    for part in chunks(len(pairs), pairs.shape[1] * 2 * width):
        codes = book.codes(pairs[part])
        means[part] = np.abs(codes[:, :, 0] - codes[:, :, 1]).mean(axis=1)
    return means


def _accuracy(train: Pair, held_out: Pair, weight: float) -> float:
    """Return the accuracy of the regression. `weight` is C: the penalty is weighed against the sum of losses."""
    (points, factors), (test_points, test_factors) = train, held_out
    if len(test_factors) == 0 or len(factors) == 0:  # a half-sample of very few points may be empty
        return 0.0
    if (factors == factors[0]).all():  # the regression needs two classes
        return float(np.mean(test_factors == factors[0]))

    with importing():
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        regression = LogisticRegression(C=weight).fit(points, factors)
    return float(np.mean(regression.predict(test_points) == test_factors))
