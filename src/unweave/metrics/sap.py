"""The separated attribute predictability score, in its two forms."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.gaps import top_gap
from unweave.metrics.inputs import GivenPair, check, split, varying
from unweave.metrics.resampling import Sampled, by_rows

NO_VARIANCE = 1e-12
"""A code with at most this variance is constant: its correlation counts 0."""

Kind = Literal["classifier", "correlation"]


def sap(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    kind: Kind = "classifier",
    seed: int = 0,
) -> float:
    r"""Separated attribute predictability [Kumar2018]_, in [0, 1]: is each factor predicted by one code alone?

        SAP = mean over factors k of ( S_{a k} - S_{b k} )

    where codes a and b predict factor k best and second best, and S_{j k} is, by `kind`,

    - "classifier": the accuracy, on rows not fitted on, of a linear support vector machine (C = 0.01, classes
      weighted to balance) that sees code j alone. `test=(codes, factors)` are those rows; without it a third of
      the rows, drawn by `seed`, is held out.
    - "correlation": the squared Pearson correlation of code j and the factor's values as numbers, 0 where the
      variance of the code is at most 1e-12. Nothing is fitted: all rows count, `test` and `seed` do nothing.

    A single code has a gap to 0; a factor with a single value is left out of the mean. Unchanged by the order and the
    sign of codes. The correlation is unchanged by their scale too; the classifier is not, and it also depends on the
    number of rows fitted on, as its penalty is weighed against the sum of their losses.

    >>> sap([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[0], [1], [0], [1]], kind="correlation")
    1.0
    """
    return sample_sap(codes, factors, test=test, kind=kind, seed=seed).score


def sample_sap(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    kind: Kind = "classifier",
    seed: int = 0,
) -> Sampled:
    """Return SAP and its scores on subsets: of the judged rows (classifier) or of all rows (correlation).

    The classifiers are fitted once, so their interval tells how the score moves with the rows they are judged on,
    and not with those they were fitted on.
    """
    if kind == "correlation":
        values, labels = check(codes, factors)
        return by_rows(_correlation_gap, values, labels[:, varying(labels)])
    if kind != "classifier":
        raise unknown("kind of SAP", str(kind), ("classifier", "correlation"))
    fitted, judged = split(codes, factors, test, seed)
    varies = varying(np.concatenate([fitted[1], judged[1]]))
    right = _right(fitted[0], fitted[1][:, varies], judged[0], judged[1][:, varies])
    n = len(right)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        hits = subsets.astype(np.float64) @ right.reshape(n, -1)  # (r, d * k)
        accuracy = hits / subsets.sum(axis=1, keepdims=True)
        return top_gap(np.moveaxis(accuracy.reshape(-1, *right.shape[1:]), 1, 0)).mean(axis=1)

    return Sampled(float(top_gap(right.mean(axis=0)).mean()), n, rescore)


def _right(codes: np.ndarray, factors: np.ndarray, test_codes: np.ndarray, test_factors: np.ndarray) -> np.ndarray:
    """Return where the classifier of one code foretells one factor rightly: (test rows, d, k) booleans."""
    right = np.empty((len(test_codes), codes.shape[1], factors.shape[1]), dtype=bool)
    for j, k in np.ndindex(right.shape[1:]):
        foretold = _predict(codes[:, [j]], factors[:, k], test_codes[:, [j]])
        right[:, j, k] = foretold == test_factors[:, k]
    return right


def _predict(code: np.ndarray, factor: np.ndarray, test_code: np.ndarray) -> np.ndarray:
    """Return the factor's value that a linear classifier of one code, (n, 1), gives each test row."""
    if (factor == factor[0]).all():  # an unlucky split can leave one class to fit on; the classifier wants two
        return np.full(len(test_code), factor[0])

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    # With one feature scikit-learn chooses the primal solver, which draws no random numbers.
    classifier = LinearSVC(C=0.01, class_weight="balanced")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(classifier.fit(code, factor).predict(test_code))


def _correlation_gap(codes: np.ndarray, factors: np.ndarray) -> float:
    z, v = codes - codes.mean(axis=0), factors - factors.mean(axis=0)
    free = len(z) - 1
    code_variance, factor_variance = (z**2).sum(axis=0) / free, (v**2).sum(axis=0) / free
    variances = code_variance[:, None] * factor_variance  # (d, k)
    known = (code_variance[:, None] > NO_VARIANCE) & (factor_variance > 0)
    squared = np.divide((z.T @ v / free) ** 2, variances, out=np.zeros_like(variances), where=known)
    return float(top_gap(np.minimum(squared, 1.0)).mean())
