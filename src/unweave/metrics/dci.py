"""Disentanglement, completeness and informativeness, from how much a predictor of each factor uses each code."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.metrics.boosting import BoostedTrees
from unweave.metrics.inputs import FIT, GivenPair, Pair, check, generator, split, varying
from unweave.metrics.resampling import Sampled, by_refits
from unweave.metrics.scaling import standardise

Learner = Literal["gbt", "random-forest", "lasso", "logistic"]
Answer: TypeAlias = tuple[np.ndarray, np.ndarray]
"""The importance of each code, (d,), and what is foretold of each judged row, (m,)."""
PACE = 0.25, 0.25, 0.0
"""Trees use codes of noise the less the more rows they have: D and C grow up to as n^(1/4), I as log n, for long."""


class DCI(NamedTuple):
    """The three parts of DCI, each in [0, 1]."""

    disentanglement: float
    """1 where each code serves one factor."""
    completeness: float
    """1 where each factor is served by one code."""
    informativeness: float
    """How well the factors are foretold on rows not fitted on."""


def dci(
    codes: ArrayLike, factors: ArrayLike, *, test: GivenPair | None = None, learner: Learner = "gbt", seed: int = 0
) -> DCI:
    r"""Disentanglement, completeness, informativeness [Eastwood2018]_, in [0, 1]: is there one code for each factor?

        D = sum_j  ( R_j. / R.. ) ( 1 - H_k(R_j.) / log k )        R_jk: importance of code j for foretelling factor k
        C = sum_k  ( R_.k / R.. ) ( 1 - H_d(R_.k) / log d )        H: entropy of the row or column, made to sum to 1

    and I, the mean accuracy on rows not fitted on: `test=(codes, factors)`, or else a third held out by `seed`.

    R and I come from one `learner` a factor. They disagree, so name yours: "gbt" (boosted trees, `BoostedTrees`:
    disentanglement_lib's DCI), "random-forest" (100 trees of depth 10, entropy), "lasso" (Eastwood and Williams':
    regression of the factor as a number, penalty by 5-fold cross-validation; I is 1 - root mean square error /
    deviation, at least 0) and "logistic" (one-vs-rest, l1 penalty, C = 1; importance is the sum of |weights| over
    classes). The boosted trees see codes as they are, the others standardised.

    Codes that no learner uses have no weight; if none is used, D = C = 0. With one factor D is 1, with one code C is
    1, unless nothing is used. A factor with a single value is left out; one constant where it is fitted uses no code.

    >>> dci([[0.0, 5.0], [1.0, 5.0]] * 30, [[0], [1]] * 30)
    DCI(disentanglement=1.0, completeness=1.0, informativeness=1.0)
    """
    return cast(DCI, sample_dci(codes, factors, test=test, learner=learner, seed=seed).score)


def importance_matrix(codes: ArrayLike, factors: ArrayLike, *, learner: Learner = "gbt", seed: int = 0) -> np.ndarray:
    """Return how much the learner of each factor, fitted on all rows, uses each code: (codes, factors), from 0 up.

    The learners are those of `dci`. The trees' columns sum to 1; a factor with a single value has a column of zeros.
    """
    answer = _answerer(learner, seed)
    values, labels = check(codes, factors)
    return np.stack([answer(values, factor, values[:1])[0] for factor in labels.T], axis=1)


def sample_dci(
    codes: ArrayLike, factors: ArrayLike, *, test: GivenPair | None = None, learner: Learner = "gbt", seed: int = 0
) -> Sampled:
    """Return DCI and its scores on subsets of the rows, each fitted and judged anew."""
    answer = _answerer(learner, seed)
    fitted, judged = split(codes, factors, test, seed)
    varies = varying(np.concatenate([fitted[1], judged[1]]))
    score = partial(_score, answer=answer, judge=_closeness if learner == "lasso" else _accuracy)
    fitted, judged = ((values, labels[:, varies]) for values, labels in (fitted, judged))
    return by_refits(score, fitted, judged, replicates=10 if learner == "lasso" else 6, pace=PACE)


def disentanglement(matrix: np.ndarray) -> float:
    """Return D of importances (d, k): 1 - the entropy of a row in units of log k, averaged by the rows' sums."""
    total = matrix.sum()
    if total <= 0:
        return 0.0
    if matrix.shape[1] == 1:
        return 1.0
    weights = matrix.sum(axis=1)
    used = weights > 0
    shares = matrix[used] / weights[used, None]
    entropies = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    lacking = float(weights[used] @ entropies / (total * np.log(matrix.shape[1])))
    return min(max(1.0 - lacking, 0.0), 1.0)  # cuts rounding only


def completeness(matrix: np.ndarray) -> float:
    """Return C of importances (d, k): the same of its columns, in units of log d."""
    return disentanglement(matrix.T)


def _score(
    fitted: Pair, judged: Pair, answer: Callable[..., Answer], judge: Callable[[np.ndarray, np.ndarray], float]
) -> DCI:
    answers = [answer(fitted[0], factor, judged[0]) for factor in fitted[1].T]
    matrix = np.stack([importance for importance, _ in answers], axis=1)
    right = [judge(foretold, truth) for (_, foretold), truth in zip(answers, judged[1].T, strict=True)]
    return DCI(disentanglement(matrix), completeness(matrix), float(np.mean(right)))


def _accuracy(foretold: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean(foretold == truth))


def _closeness(foretold: np.ndarray, truth: np.ndarray) -> float:
    error, spread = np.sqrt(np.mean((foretold - truth) ** 2)), truth.std()
    return max(0.0, 1.0 - float(error / spread)) if spread > 0 else float(error == 0)


def _answerer(learner: str, seed: int) -> Callable[..., Answer]:
    """Return the function of (codes, factor, judged codes) that fits one factor and foretells it."""
    if learner not in LEARNERS:
        raise unknown("learner of DCI", str(learner), LEARNERS)
    draw = int(generator(seed, FIT).integers(2**31))

    def answer(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray) -> Answer:
        if (factor == factor[0]).all() or (codes == codes[0]).all():  # nothing to learn, or nothing to learn it from
            values, counts = np.unique(factor, return_counts=True)
            typical = factor.mean() if learner == "lasso" else values[counts.argmax()]
            return np.zeros(codes.shape[1]), np.full(len(test_codes), typical)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a fit has not converged, or that it has many classes for few rows
            return LEARNERS[learner](codes, factor, test_codes, draw)

    return answer


def _trees(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, draw: int) -> Answer:
    model = BoostedTrees().fit(codes, factor)
    return model.feature_importances_, model.predict(test_codes)


def _forest(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, draw: int) -> Answer:
    from sklearn.ensemble import RandomForestClassifier

    scaled, judged = standardise((codes, factor), (test_codes, factor))  # it computes in single precision
    model = RandomForestClassifier(100, criterion="entropy", max_depth=10, random_state=draw).fit(scaled, factor)
    return model.feature_importances_, model.predict(judged)


def _lasso(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, draw: int) -> Answer:
    from sklearn.linear_model import LassoCV

    inputs, test_inputs = standardise((codes, factor), (test_codes, factor))
    centre, spread = factor.mean(), factor.std()
    model = LassoCV(cv=min(5, len(factor))).fit(inputs, (factor - centre) / spread)
    return np.abs(model.coef_), model.predict(test_inputs) * spread + centre


def _logistic(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, draw: int) -> Answer:
    from sklearn.linear_model import LogisticRegression

    options = signature(LogisticRegression).parameters  # scikit-learn 1.8 renamed one, and warns at the old name
    renamed = "penalty" not in options or options["penalty"].default == "deprecated"
    penalty: dict[str, Any] = {"l1_ratio": 1.0} if renamed else {"penalty": "l1"}
    inputs, test_inputs = standardise((codes, factor), (test_codes, factor))
    values = np.unique(factor)
    importance, scores = np.zeros(codes.shape[1]), np.empty((len(test_codes), len(values)))
    for c, value in enumerate(values):
        model = LogisticRegression(solver="liblinear", random_state=draw, **penalty)
        scores[:, c] = model.fit(inputs, factor == value).decision_function(test_inputs)
        importance += np.abs(model.coef_[0])
    return importance, values[scores.argmax(axis=1)]


LEARNERS: dict[str, Callable[..., Answer]] = {
    "gbt": _trees,
    "random-forest": _forest,
    "lasso": _lasso,
    "logistic": _logistic,
}
