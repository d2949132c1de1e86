"""The separated attribute predictability score, in its two forms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.category_svm import CategoryCode
from unweave.metrics.correlation import strengths
from unweave.metrics.gaps import top_gap
from unweave.metrics.inputs import GivenPair, Pair, check, train_and_test, varying
from unweave.metrics.line_svm import SortedCode
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import check_categorical
from unweave.metrics.resampling import Sampled, by_refits, by_rows, mean_over_factors

PENALTY = 0.01
"""The classifier's C, as published; a small C is a strong penalty."""
REFITS = 10
"""Half-samples behind an interval: the classifiers are fitted again on each."""
NO_VARIANCE = 1e-12
"""A latent with at most this variance is constant: its correlation counts 0."""

Kind = Literal["classifier", "correlation"]


@metric("Kumar et al. 2018", "compactness")
def sap(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    kind: Kind = "classifier",
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Sampled[float]:
    r"""Separated attribute predictability [Kumar2018]_, in [0, 1]: does a single latent predict each factor?

        SAP = mean over factors k of ( S_{a k} - S_{b k} )

    where latents a and b predict factor k best and second best.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class. For "correlation" values are numbers and may be continuous.
    test
        Test rows `(codes, factors)`; without them a third of the rows is held out. "correlation" uses all rows of
        `codes` and ignores `test` and `seed`.
    kind
        What S_{j k} is: the accuracy of a "classifier", or the squared "correlation".

        - "classifier": the accuracy on test rows of a linear support vector machine (C = 0.01, balanced classes) that
          sees latent j alone: scikit-learn's LinearSVC, solved to rounding error.
        - "correlation": the squared Pearson correlation of latent j and factor k, 0 where the variance of the latent is
          at most 1e-12.
    categorical
        Columns of codes, counted from 0, that hold categories. The classifier sees a column for each category; the
        correlation is that of the factor with its mean in each category.
    seed
        Seed of the split.

    Returns
    -------
    float
        The score.

    Notes
    -----
    With a single latent the gap is to 0; a factor with a single value is left out of the mean. Invariant to
    the order and the sign of latents. The correlation is also invariant to their scale; the classifier is not, and it
    depends on the number of train rows, because its penalty is weighed against the sum of their losses.

    References
    ----------
    .. [Kumar2018] Kumar, Sattigeri and Balakrishnan, "Variational Inference of Disentangled Latent Concepts from
       Unlabeled Observations", ICLR 2018.

    Examples
    --------
    >>> from unweave.metrics import sap
    >>> sap([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]], kind="correlation")
    1.0
    """
    if kind == "correlation":
        values, labels = check(codes, factors, continuous=True)
        score = partial(_correlation_gaps, categorical=check_categorical(categorical, values.shape[1]))
        return mean_over_factors(by_rows(score, values, labels[:, varying(labels)]))
    if kind != "classifier":
        raise unknown("kind of SAP", str(kind), ("classifier", "correlation"))
    train, held_out = train_and_test(codes, factors, test, seed)
    rows = len(train[0])
    columns = check_categorical(categorical, train[0].shape[1])

    def gaps(train: Pair, held_out: Pair) -> np.ndarray:
        # The penalty is weighed against the sum of the losses: on half of the rows, each loss counts twice.
        return _classifier_gaps(train, held_out, PENALTY * rows / len(train[0]), columns)

    return mean_over_factors(by_refits(gaps, train, held_out, REFITS))


def _classifier_gaps(train: Pair, held_out: Pair, penalty: float, categorical: Sequence[int]) -> np.ndarray:
    accuracy = np.empty((train[0].shape[1], train[1].shape[1]))
    for j, (code, test_code) in enumerate(zip(train[0].T, held_out[0].T, strict=True)):
        line = CategoryCode(code) if j in categorical else SortedCode(code)
        for k, (factor, test_factor) in enumerate(zip(train[1].T, held_out[1].T, strict=True)):
            accuracy[j, k] = (line.predict(factor, test_code, penalty) == test_factor).mean()
    return top_gap(accuracy)


def _correlation_gaps(codes: np.ndarray, factors: np.ndarray, categorical: Sequence[int]) -> np.ndarray:
    z, v = codes - codes.mean(axis=0), factors - factors.mean(axis=0)
    free = len(z) - 1
    code_variance, factor_variance = (z**2).sum(axis=0) / free, (v**2).sum(axis=0) / free
    variances = code_variance[:, None] * factor_variance  # (d, k)
    known = (code_variance[:, None] > NO_VARIANCE) & (factor_variance > 0)
    squared = np.divide((z.T @ v / free) ** 2, variances, out=np.zeros_like(variances), where=known)
    for j in categorical:
        squared[j] = strengths(codes[:, [j]], factors, [0])[0] ** 2
    return top_gap(np.minimum(squared, 1.0))
