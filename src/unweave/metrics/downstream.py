"""How well a plain learner predicts the factors from the codes, given few or many labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import inf
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, unknown
from unweave.late import importing
from unweave.metrics.fits import fitted_trees
from unweave.metrics.inputs import DRAW, GivenPair, Pair, generator, train_and_test
from unweave.metrics.logistic import predict_logistic
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled, half

Predict: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]], np.ndarray]
"""A function of codes and classes to fit, test codes, and the size's and factor's index: the predicted classes."""

SIZES = (10, 100, 1_000, 10_000)
FEW = 10
"""Up to this many rows a half-sample chooses its penalty again, because this choice causes much of the variation."""
REFITS = 5
LIMITS = (0.0, 0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0, inf)
"""Of the accuracies, and of the efficiency."""


class Downstream(NamedTuple):
    """Mean accuracy over the factors after learning from n rows; NaN where there are fewer."""

    accuracy_10: float
    accuracy_100: float
    accuracy_1000: float
    accuracy_10000: float
    efficiency: float
    """accuracy_100 / accuracy_10000."""


@metric(
    "Locatello et al. 2019",
    "usefulness",
    range=(0.0, inf),
    floor_rows=1_000,
    floor_options={"penalty": 1e-4, "all_rows": True},  # for noise, the strongest penalty is as good as any
    ceiling_options={"penalty": (None, None, 1e3, 1e3), "stop_at_perfect": True},  # for the factors, a weak one
    unsteady=("accuracy-10",),
    no_floor=("efficiency",),
)
def downstream(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    learner: Any = "logistic",
    penalty: float | Sequence[float | None] | None = None,
    all_rows: bool = False,
    stop_at_perfect: bool = False,
    seed: int = 0,
) -> Sampled[Downstream]:
    r"""Downstream accuracy and statistical efficiency [Locatello2019]_: how many labels do the codes need?

        accuracy_n = mean over factors of the accuracy on test rows of a predictor fitted to n train rows
        efficiency = accuracy_100 / accuracy_10000

    Parameters
    ----------
    codes
        Codes (n, d).
    factors
        Factors (n, k); each value is a class.
    test
        Test rows `(codes, factors)`; without them a third of the rows is held out.
    learner
        "logistic" (multinomial, penalty chosen among ten by five folds), "gbt" (`BoostedTrees`), "quick-gbt" (the same
        with about 400 trees for each factor), or any object with `fit` and `predict`, of which a clone is fitted for
        each factor and size.
    penalty
        C of "logistic" (a small C is a strong penalty), or one for each of the four sizes; with None, one of ten values
        is chosen for each factor and size.
    all_rows
        For a size above the number of train rows, use all rows instead of returning NaN.
    stop_at_perfect
        Once a factor is predicted correctly for every test row, assume the same for larger sizes.
    seed
        Seed of the split and of the order of the train rows. Each size takes the next rows in that order, and starts
        again from the beginning when they run out.

    Returns
    -------
    Downstream
        accuracy_10, accuracy_100, accuracy_1000 and accuracy_10000, in [0, 1], and efficiency, from 0 up. A size above
        the number of train rows is NaN, and so is an efficiency computed from it (see `all_rows`).

    Notes
    -----
    Values that are not among the fitted rows are predicted wrongly. A factor with a single value is left out.
    Efficiency is 0 where accuracy_10000 is 0. The scale of a latent matters to the penalty of "logistic", not to "gbt".

    References
    ----------
    .. [Locatello2019] Locatello et al., "Challenging Common Assumptions in the Unsupervised Learning of Disentangled
       Representations", ICML 2019.

    Examples
    --------
    >>> from unweave.metrics import downstream
    >>> downstream([[0.0], [1.0]] * 30, [[3], [7]] * 30).accuracy_10
    1.0
    """
    predict = _predictor(learner, penalty)
    train, held_out = train_and_test(codes, factors, test, seed)
    rng = generator(seed, DRAW)
    fits = [all_rows or size <= len(train[0]) for size in SIZES]

    def accuracies(train: Pair, held_out: Pair) -> np.ndarray:
        return _accuracies(train, held_out, rng.permutation(len(train[0])), fits, predict, stop_at_perfect)

    whole = accuracies(train, held_out)
    border = len(train[0])

    def rescore(subsets: np.ndarray) -> np.ndarray:
        pairs = [(half(train, kept[:border]), half(held_out, kept[border:])) for kept in subsets]
        return np.array([_downstream(accuracies(*pair)) for pair in pairs])

    details = {f"accuracy-{size}": values for size, values, fit in zip(SIZES, whole, fits, strict=True) if fit}
    return Sampled(_downstream(whole), border + len(held_out[0]), rescore, REFITS, LIMITS, details)


def _downstream(accuracies: np.ndarray) -> Downstream:
    """Return the score of the accuracies (sizes, factors)."""
    means = accuracies.mean(axis=1).tolist()
    return Downstream(*means, efficiency=0.0 if means[3] == 0 else means[1] / means[3])


def _accuracies(
    train: Pair, held_out: Pair, order: np.ndarray, fits: Sequence[bool], predict: Predict, stop_at_perfect: bool
) -> np.ndarray:
    """Return the accuracy for each size and factor, (sizes, factors), NaN for a size that does not fit.

    If a size fits all rows but not half of them, a half-sample is fitted to all its rows.
    """
    accuracies, start, n = np.full((len(SIZES), train[1].shape[1]), np.nan), 0, len(train[0])
    for step, size in enumerate(min(size, n) for size in SIZES):
        if not fits[step]:
            continue
        codes, factors = train if size == n else _part(train, order[(start + np.arange(size)) % n])
        for k, (factor, truth) in enumerate(zip(factors.T, held_out[1].T, strict=True)):
            known = stop_at_perfect and step > 0 and accuracies[step - 1, k] == 1
            accuracies[step, k] = 1.0 if known else np.mean(predict(codes, factor, held_out[0], (step, k)) == truth)
        start = (start + size) % n
    return accuracies


def _part(pair: Pair, kept: np.ndarray) -> Pair:
    return pair[0][kept], pair[1][kept]


def _predictor(learner: Any, penalty: float | Sequence[float | None] | None) -> Predict:
    """Return how a learner, by name or as an object, is fitted and predicts."""
    if isinstance(learner, str) and learner == "logistic":
        return _logistic(penalty)
    if isinstance(learner, str) and learner not in ("gbt", "quick-gbt"):
        raise unknown("learner", learner, ("logistic", "gbt", "quick-gbt"))
    if not (isinstance(learner, str) or (hasattr(learner, "fit") and hasattr(learner, "predict"))):
        raise UsageError(f"learner must be 'logistic', 'gbt' or an object with fit and predict, got {learner!r}")

    def predict(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, _: tuple[int, int]) -> np.ndarray:
        if (factor == factor[0]).all():  # many learners need two classes
            return np.full(len(test_codes), factor[0])
        if isinstance(learner, str):
            return fitted_trees(codes, factor, quick=learner == "quick-gbt").predict(test_codes)

        with importing():
            from sklearn.base import clone

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a fit has not converged, or that folds lack classes
            model: Any = clone(learner)
            return np.asarray(model.fit(codes, factor).predict(test_codes))

    return predict


def _logistic(penalty: float | Sequence[float | None] | None) -> Predict:
    """Return the logistic regression that chooses its penalty once for each size and factor, and then keeps it.

    Up to `FEW` rows it chooses again.
    """
    given = _penalties(penalty)
    chosen: dict[tuple[int, int], tuple[float, int]] = {}

    def predict(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, case: tuple[int, int]) -> np.ndarray:
        if case in chosen and len(codes) > FEW:
            strength, rows = chosen[case]  # the penalty is weighed against the sum of the losses
            return predict_logistic(codes, factor, test_codes, strength * rows / len(codes))[0]
        predicted, strength = predict_logistic(codes, factor, test_codes, given[case[0]])
        chosen[case] = strength, len(codes)
        return predicted

    return predict


def _penalties(penalty: float | Sequence[float | None] | None) -> list[float | None]:
    """Return one penalty for each size."""
    given: list[Any] = [penalty] * len(SIZES)
    if isinstance(penalty, Sequence | np.ndarray) and not isinstance(penalty, str):
        given = list(penalty)
    if len(given) != len(SIZES):
        raise UsageError(f"penalty must be one number, or one for each of {len(SIZES)} sizes, got {len(given)}")
    for value in given:
        if value is not None and not (isinstance(value, Real) and 0 < float(value) < inf):
            raise UsageError(f"penalty must be a number above 0, got {value!r}")
    return given
