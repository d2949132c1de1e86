"""How well each value of a factor is told from the others by a linear classifier of all codes."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from unweave.metrics.inputs import GivenPair, Pair, split, varying
from unweave.metrics.resampling import Sampled, by_refits
from unweave.metrics.scaling import standardise

CHANCE = 0.5


def explicitness(codes: ArrayLike, factors: ArrayLike, *, test: GivenPair | None = None, seed: int = 0) -> float:
    r"""Explicitness [Ridgeway2018]_, in [0, 1], chance being 0.5: can a linear classifier tell a factor's values apart?

        explicitness = mean over factors k of the mean over values c of AUC(P(v_k = c | z), v_k = c)

    P is multinomial logistic regression, scikit-learn's with its defaults (C = 1), of the codes less their mean and
    over their deviation in the rows fitted on. AUC, the area under the ROC curve, is the chance that a row with value
    c gets a larger P than a row without it, ties counting half. It is judged on `test=(codes, factors)`, or else on a
    third of the rows held out by `seed`. As in disentanglement_lib it is not rescaled: constant codes score 0.5.

    A value that no judged row has, or that all have, is left out; one that is never fitted scores 0.5, as does a factor
    with one value among the rows fitted or judged. A factor with one value in all is left out of the mean. Unchanged,
    but for rounding, by the order, sign, shift and scale of codes.

    >>> explicitness([[0.0], [1.0]] * 10, [[3], [7]] * 10)
    1.0
    """
    return sample_explicitness(codes, factors, test=test, seed=seed).score


def sample_explicitness(
    codes: ArrayLike, factors: ArrayLike, *, test: GivenPair | None = None, seed: int = 0
) -> Sampled[float]:
    """Return explicitness and its scores on subsets of the rows, each fitted and judged anew."""
    fitted, judged = split(codes, factors, test, seed)
    varies = varying(np.concatenate([fitted[1], judged[1]]))
    rows = len(fitted[0])

    def score(fitted: Pair, judged: Pair) -> float:
        # The penalty is weighed against the sum of the losses: on half of the rows, each loss counts twice.
        penalty = rows / len(fitted[0])
        inputs, test_inputs = standardise(fitted, judged)
        areas = [
            _area(inputs, factor, test_inputs, test_factor, penalty)
            for factor, test_factor in zip(fitted[1].T, judged[1].T, strict=True)
        ]
        return float(np.mean(areas))

    return by_refits(score, (fitted[0], fitted[1][:, varies]), (judged[0], judged[1][:, varies]))


def _area(
    inputs: np.ndarray, factor: np.ndarray, test_inputs: np.ndarray, test_factor: np.ndarray, penalty: float
) -> float:
    """Return the mean over a factor's values of the area under their ROC curves."""
    if (factor == factor[0]).all():
        return CHANCE

    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        # A hundred steps are the published classifier, converged or not; and classes may be many for so few rows.
        warnings.simplefilter("ignore", UserWarning)
        model = LogisticRegression(C=penalty).fit(inputs, factor)
    values, labels, counts = np.unique(test_factor, return_inverse=True, return_counts=True)
    if len(values) == 1:
        return CHANCE
    areas = np.full(len(values), CHANCE)
    known = np.isin(values, model.classes_)
    chosen = model.predict_proba(test_inputs)[:, np.isin(model.classes_, values)]
    areas[known] = _areas(chosen, labels, np.flatnonzero(known), counts[known])
    return float(areas.mean())


def _areas(scores: np.ndarray, labels: np.ndarray, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the area under the ROC curve of each column of scores (n, c) by the ranks of its class's rows.

    Of all pairs of a row of the class and another, the share where the former has the larger score: the sum of
    its ranks less what they sum to at least, over the number of pairs.
    """
    from scipy.stats import rankdata

    ranks = rankdata(scores, axis=0)
    own = np.array([ranks[labels == label, column].sum() for column, label in enumerate(classes)])
    return (own - counts * (counts + 1) / 2) / (counts * (len(scores) - counts))
