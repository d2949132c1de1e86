"""How well a linear classifier of all latents distinguishes each value of a factor from the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unweave.late import importing
from unweave.metrics.inputs import GivenPair, Pair, train_and_test
from unweave.metrics.logistic import class_scores
from unweave.metrics.metric import metric
from unweave.metrics.ranks import ranks
from unweave.metrics.resampling import Sampled, by_refits, mean_over_factors
from unweave.metrics.scaling import standardise

CHANCE = 0.5


@metric("Ridgeway & Mozer 2018", "explicitness")
def explicitness(
    codes: ArrayLike, factors: ArrayLike, *, test: GivenPair | None = None, seed: int = 0
) -> Sampled[float]:
    r"""Explicitness [Ridgeway2018]_, in [0, 1], chance being 0.5: can a linear classifier tell a factor's values apart?

        explicitness = mean over factors k of the mean over values c of AUC(P(v_k = c | z), v_k = c)

    where P is the probability of a multinomial logistic regression, and AUC, the area under the ROC curve, is the
    probability that a row with value c gets a larger P than a row without it; ties count half.

    Parameters
    ----------
    codes
        Codes (n, d), standardised by the mean and standard deviation of the train rows.
    factors
        Factors (n, k); each value is a class.
    test
        Test rows `(codes, factors)`; without them a third of the rows is held out.
    seed
        Seed of the split.

    Returns
    -------
    float
        The score, not rescaled, as in disentanglement_lib: constant codes score 0.5.

    Notes
    -----
    The classifier is scikit-learn's with its default penalty (C = 1), fitted until it converges. A value that no test
    row has, or that all have, is left out; one that no train row has scores 0.5, and so does a factor with a single
    value among the train rows or among the test rows. A factor with a single value in all rows is left out of the mean.
    Up to rounding, invariant to the order, sign, shift and scale of latents.

    References
    ----------
    .. [Ridgeway2018] Ridgeway and Mozer, "Learning Deep Disentangled Embeddings with the F-Statistic Loss", NeurIPS
       2018.

    Examples
    --------
    >>> from unweave.metrics import explicitness
    >>> explicitness([[0.0], [1.0]] * 10, [[3], [7]] * 10)
    1.0
    """
    train, held_out = train_and_test(codes, factors, test, seed)
    rows = len(train[0])

    def areas(train: Pair, held_out: Pair) -> np.ndarray:
        # The penalty is weighed against the sum of the losses: on half of the rows, each loss counts twice.
        penalty = rows / len(train[0])
        inputs, test_inputs = standardise(train, held_out)
        both = zip(train[1].T, held_out[1].T, strict=True)
        return np.array([_area(inputs, factor, test_inputs, truth, penalty) for factor, truth in both])

    return mean_over_factors(by_refits(areas, train, held_out))


def _area(
    inputs: np.ndarray, factor: np.ndarray, test_inputs: np.ndarray, test_factor: np.ndarray, penalty: float
) -> float:
    """Return the mean over a factor's values of the area under their ROC curves."""
    if (factor == factor[0]).all():
        return CHANCE

    with importing():
        from scipy.special import softmax

    classes, fitted = np.unique(factor, return_inverse=True)
    values, labels, counts = np.unique(test_factor, return_inverse=True, return_counts=True)
    if len(values) == 1:
        return CHANCE
    scores = class_scores(inputs, fitted, test_inputs, penalty)
    chances = softmax(scores, axis=0)[np.isin(classes, values)].T
    known = np.isin(values, classes)
    areas = np.full(len(values), CHANCE)
    areas[known] = _areas(chances, labels, np.flatnonzero(known), counts[known])
    return float(areas.mean())


def _areas(scores: np.ndarray, labels: np.ndarray, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the area under the ROC curve of each column of scores (n, c) by the ranks of its class's rows.

    It is the share of pairs, of a row of the class and another row, in which the former has the larger score: the sum
    of its ranks minus the least possible sum, over the number of pairs.
    """
    placed = ranks(scores)
    own = np.array([placed[labels == label, column].sum() for column, label in enumerate(classes)])
    return (own - counts * (counts + 1) / 2) / (counts * (len(scores) - counts))
