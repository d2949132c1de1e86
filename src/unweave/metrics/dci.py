"""Disentanglement, completeness and informativeness, from how much a predictor of each factor uses each latent."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import unknown
from unweave.late import importing
from unweave.metrics.concentration import concentration
from unweave.metrics.fits import fitted_trees
from unweave.metrics.inputs import FIT, GivenPair, Pair, check, generator, train_and_test
from unweave.metrics.metric import metric
from unweave.metrics.one_hot import OneHot, Ranked, check_categorical
from unweave.metrics.resampling import Sampled, by_refits
from unweave.metrics.scaling import standardise

Learner = Literal["gbt", "quick-gbt", "random-forest", "lasso", "logistic"]
Answer: TypeAlias = tuple[np.ndarray, np.ndarray]
"""The importance of each latent, (d,), and the prediction for each test row, (m,)."""


class DCI(NamedTuple):
    """The three parts of DCI, each in [0, 1]."""

    disentanglement: float
    """1 where each latent serves one factor."""
    completeness: float
    """1 where one latent serves each factor."""
    informativeness: float
    """How well the factors are predicted on the test rows."""


@metric(
    "Eastwood & Williams 2018",
    "all three",
    floor_rows=1_000,
    floor_options={"learner": "quick-gbt"},
    ceiling_rows=2_000,
    ceiling_options={"learner": "quick-gbt"},
)
def dci(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    learner: Learner = "gbt",
    categorical: Sequence[int] = (),
    seed: int = 0,
) -> Sampled[DCI]:
    r"""Disentanglement, completeness, informativeness [Eastwood2018]_, in [0, 1]: is there one latent for each factor?

        D = sum_j  ( R_j. / R.. ) ( 1 - H_k(R_j.) / log k )        R_jk: importance of latent j for predicting factor k
        C = sum_k  ( R_.k / R.. ) ( 1 - H_d(R_.k) / log d )        H: entropy of the row or column, scaled to sum to 1
        I = mean over factors of the accuracy on the test rows

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class. With the lasso, values are numbers and may be continuous.
    test
        Test rows `(codes, factors)`; without them a third of the rows is held out.
    learner
        The predictor of each factor, which gives R and I. Scores of different learners are not comparable.

        - "gbt": boosted trees, `BoostedTrees`, as in disentanglement_lib.
        - "quick-gbt": the same, with fewer rounds for a factor of more than four values: about 400 trees each.
        - "random-forest": 100 trees of depth 10, entropy.
        - "lasso": as in [Eastwood2018]_, the value as a number, penalty by 5-fold cross-validation; I is 1 - root mean
          square error / standard deviation, at least 0.
        - "logistic": one-vs-rest, l1 penalty, C = 1; R is the sum of |weights| over classes.
    categorical
        Columns of codes, counted from 0, that hold categories. The lasso and the logistic regression see a column for
        each category, and R is their sum. Trees can cut between any two numbers, so they see a number for each
        category: its rank by frequency, so that names do not matter.
    seed
        Seed of the split and of the learner.

    Returns
    -------
    DCI
        disentanglement, completeness and informativeness.

    Notes
    -----
    A latent that no predictor uses has no weight; if none is used, D = C = 0. With one factor D is 1, and
    with one latent C is 1, unless nothing is used. A factor with a single value is left out; one that is constant in
    the train rows uses no latent. The boosted trees see the original codes, the other learners standardised ones. D and
    C grow with the number of rows: compare them at equal numbers.

    References
    ----------
    .. [Eastwood2018] Eastwood and Williams, "A Framework for the Quantitative Evaluation of Disentangled
       Representations", ICLR 2018.

    Examples
    --------
    >>> from unweave.metrics import dci
    >>> dci([[0.0, 5.0], [1.0, 5.0]] * 30, [[0], [1]] * 30)
    DCI(disentanglement=1.0, completeness=1.0, informativeness=1.0)
    """
    answer = _answerer(learner, seed)
    train, held_out = train_and_test(codes, factors, test, seed, continuous=learner == "lasso")
    if columns := check_categorical(categorical, train[0].shape[1]):
        every = np.concatenate([train[0], held_out[0]])
        answer = (
            _by_columns(answer, OneHot.of(every, columns)) if learner in LINEAR else _by_ranks(answer, every, columns)
        )
    fit = partial(_fit, answer=answer, accuracy=_closeness if learner == "lasso" else _accuracy)
    fitted: list[tuple[np.ndarray, np.ndarray]] = []

    def score(train: Pair, held_out: Pair) -> DCI:
        fitted.append(fit(train, held_out))
        return _dci(*fitted[-1])

    sampled = by_refits(score, train, held_out, replicates=10 if learner == "lasso" else 6)
    matrix, right = fitted[0]  # of all rows
    return replace(sampled, per_factor={"completeness": concentration(matrix.T), "informativeness": right})


def importance_matrix(codes: ArrayLike, factors: ArrayLike, *, learner: Learner = "gbt", seed: int = 0) -> np.ndarray:
    """Return how much the predictor of each factor, fitted to all rows, uses each latent: the R of `dci`.

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    learner, seed
        As in `dci`.

    Returns
    -------
    numpy.ndarray
        Importances (d, k), from 0 up. The columns of trees sum to 1; a factor with a single value has a column of
        zeros.

    Examples
    --------
    >>> from unweave.metrics import importance_matrix
    >>> importance_matrix([[0.0, 5.0], [1.0, 5.0]] * 30, [[0], [1]] * 30)
    array([[1.],
           [0.]])
    """
    answer = _answerer(learner, seed)
    values, labels = check(codes, factors)
    return np.stack([answer(values, factor, values[:1])[0] for factor in labels.T], axis=1)


def disentanglement(matrix: np.ndarray) -> float:
    """Return D of importances (d, k): 1 - the entropy of a row in units of log k, weighted by the rows' sums."""
    weights = matrix.sum(axis=1)
    total = float(weights.sum())
    if total <= 0:
        return 0.0
    return min(float(weights @ concentration(matrix)) / total, 1.0)  # cuts rounding only


def completeness(matrix: np.ndarray) -> float:
    """Return C of importances (d, k): the same for the columns, in units of log d."""
    return disentanglement(matrix.T)


def _fit(
    train: Pair, held_out: Pair, answer: Callable[..., Answer], accuracy: Callable[[np.ndarray, np.ndarray], float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the importances (d, k), and how well each factor is predicted, (k,)."""
    answers = [answer(train[0], factor, held_out[0]) for factor in train[1].T]
    right = [accuracy(predicted, truth) for (_, predicted), truth in zip(answers, held_out[1].T, strict=True)]
    return np.stack([importance for importance, _ in answers], axis=1), np.array(right)


def _dci(matrix: np.ndarray, right: np.ndarray) -> DCI:
    return DCI(disentanglement(matrix), completeness(matrix), float(right.mean()))


def _accuracy(predicted: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean(predicted == truth))


def _closeness(predicted: np.ndarray, truth: np.ndarray) -> float:
    error, spread = np.sqrt(np.mean((predicted - truth) ** 2)), truth.std()
    return max(0.0, 1.0 - float(error / spread)) if spread > 0 else float(error == 0)


def _answerer(learner: str, seed: int) -> Callable[..., Answer]:
    """Return the function of (codes, factor, test codes) that fits one factor and predicts it."""
    if learner not in LEARNERS:
        raise unknown("learner of DCI", str(learner), LEARNERS)
    draw = int(generator(seed, FIT).integers(2**31))

    def answer(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray) -> Answer:
        if (factor == factor[0]).all() or (codes == codes[0]).all():  # a constant factor, or constant codes
            values, counts = np.unique(factor, return_counts=True)
            typical = factor.mean() if learner == "lasso" else values[counts.argmax()]
            return np.zeros(codes.shape[1]), np.full(len(test_codes), typical)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a fit has not converged, or that it has many classes for few rows
            return LEARNERS[learner](codes, factor, test_codes, draw)

    return answer


def _by_ranks(answer: Callable[..., Answer], codes: np.ndarray, columns: Sequence[int]) -> Callable[..., Answer]:
    """Return the function that predicts a factor from codes whose categories are numbered by their frequency."""
    read = Ranked.of(codes, columns)
    return lambda codes, factor, test_codes: answer(read(codes), factor, read(test_codes))


def _by_columns(answer: Callable[..., Answer], read: OneHot) -> Callable[..., Answer]:
    """Return the function that predicts a factor from a column for each category."""

    def of_latents(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray) -> Answer:
        importance, predicted = answer(read(codes), factor, read(test_codes))
        return read.total(importance), predicted

    return of_latents


def _trees(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, draw: int, *, quick: bool = False) -> Answer:
    model = fitted_trees(codes, factor, quick=quick)
    return model.feature_importances_, model.predict(test_codes)


def _forest(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, draw: int) -> Answer:
    with importing():
        from sklearn.ensemble import RandomForestClassifier

    scaled, test_scaled = standardise((codes, factor), (test_codes, factor))  # it computes in single precision
    model = RandomForestClassifier(100, criterion="entropy", max_depth=10, random_state=draw).fit(scaled, factor)
    return model.feature_importances_, model.predict(test_scaled)


def _lasso(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, draw: int) -> Answer:
    with importing():
        from sklearn.linear_model import LassoCV

    inputs, test_inputs = standardise((codes, factor), (test_codes, factor))
    centre, spread = factor.mean(), factor.std()
    model = LassoCV(cv=min(5, len(factor))).fit(inputs, (factor - centre) / spread)
    return np.abs(model.coef_), model.predict(test_inputs) * spread + centre


def _logistic(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, draw: int) -> Answer:
    with importing():
        from sklearn.linear_model import LogisticRegression

    inputs, test_inputs = standardise((codes, factor), (test_codes, factor))
    values = np.unique(factor)
    importance, scores = np.zeros(codes.shape[1]), np.empty((len(test_codes), len(values)))
    for c, value in enumerate(values):
        model = LogisticRegression(solver="liblinear", l1_ratio=1.0, random_state=draw)
        scores[:, c] = model.fit(inputs, factor == value).decision_function(test_inputs)
        importance += np.abs(model.coef_[0])
    return importance, values[scores.argmax(axis=1)]


LEARNERS: dict[str, Callable[..., Answer]] = {
    "gbt": _trees,
    "quick-gbt": partial(_trees, quick=True),
    "random-forest": _forest,
    "lasso": _lasso,
    "logistic": _logistic,
}
LINEAR = ("lasso", "logistic")
"""The learners that see categories as columns."""
