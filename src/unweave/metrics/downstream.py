"""How well a plain learner foretells the factors from few and from many labelled codes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from unweave.errors import UsageError, unknown
from unweave.metrics.boosting import BoostedTrees
from unweave.metrics.inputs import DRAW, GivenPair, Pair, generator, split, varying, whole_number
from unweave.metrics.logistic import predict_logistic
from unweave.metrics.resampling import Sampled

Foretell: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]], np.ndarray]
"""Codes and classes to fit, codes to judge, and which size and factor this is, to the classes foretold."""

SIZES = (10, 100, 1_000, 10_000)
REFITS = 5
LIMITS = (0.0, 0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0, inf)
"""Of the accuracies, and of the efficiency."""


class Downstream(NamedTuple):
    """Mean accuracy over the factors after learning from so many rows, and how much of the best few rows reach.

    With other `sizes` the fields keep their names, and hold the four sizes in order.
    """

    accuracy_10: float
    accuracy_100: float
    accuracy_1000: float
    accuracy_10000: float
    efficiency: float
    """accuracy_100 / accuracy_10000."""


def downstream(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    learner: Any = "logistic",
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> Downstream:
    r"""Downstream accuracy and statistical efficiency [Locatello2019]_: how many labels does it take to use the codes?

        accuracy_n = mean over factors of the share of judged rows whose value is foretold after fitting n rows
        efficiency = accuracy_100 / accuracy_10000

    `learner` is "logistic" (multinomial, penalty chosen among ten by five folds), "gbt" (`BoostedTrees`) or any object
    with `fit` and `predict`, of which a clone is fitted for each factor and size. The rows judged are
    `test=(codes, factors)`, or else a third held out by `seed`, which also puts the others in a random order: each of
    the four `sizes` takes the next rows of it, and starts anew where they run out. A size beyond the rows at hand is
    cut to them: with 2,000, accuracy_10000 means all 2,000. Values that were not fitted are foretold wrongly; a factor
    with a single value is left out. Accuracies are in [0, 1]; efficiency is 0 where accuracy_10000 is.

    >>> downstream([[0.0], [1.0]] * 30, [[3], [7]] * 30, sizes=(4, 8, 16, 32)).efficiency
    1.0
    """
    sampled = sample_downstream(codes, factors, test=test, learner=learner, sizes=sizes, seed=seed)
    return cast(Downstream, sampled.score)


def sample_downstream(
    codes: ArrayLike,
    factors: ArrayLike,
    *,
    test: GivenPair | None = None,
    learner: Any = "logistic",
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> Sampled:
    """Return the scores, and those on subsets of the rows, each fitted and judged anew, moved to the same mean.

    Half of the rows can still fill the smaller sizes, so their scores have no bias that halving would double: a shift
    of the mean would be that of the few rows fitted here, and would be taken from the interval twice. The penalty of
    the logistic regression stays the one chosen on all rows.
    """
    foretell = _foreteller(learner)
    sizes = _check_sizes(sizes)
    fitted, judged = split(codes, factors, test, seed)
    varies = varying(np.concatenate([fitted[1], judged[1]]))
    order = generator(seed, DRAW).permutation(len(fitted[0]))
    fitted, judged = (fitted[0][order], fitted[1][order][:, varies]), (judged[0], judged[1][:, varies])
    score = _score(fitted, judged, sizes, foretell)
    border = len(order)

    def rescore(subsets: np.ndarray) -> np.ndarray:
        halves = [(_half(fitted, kept[:border]), _half(judged, kept[border:])) for kept in subsets]
        scores = np.array([_score(*half, sizes, foretell) for half in halves])
        return scores - scores.mean(axis=0) + np.array(score)

    return Sampled(score, border + len(judged[0]), rescore, REFITS, limits=LIMITS)


def _score(fitted: Pair, judged: Pair, sizes: Sequence[int], foretell: Foretell) -> Downstream:
    accuracies, start, n = [], 0, len(fitted[0])
    for step, size in enumerate(min(size, n) for size in sizes):
        codes, factors = _part(fitted, (start + np.arange(size)) % n)
        right = [
            np.mean(foretell(codes, factor, judged[0], (step, k)) == truth)
            for k, (factor, truth) in enumerate(zip(factors.T, judged[1].T, strict=True))
        ]
        accuracies.append(float(np.mean(right)))
        start = (start + size) % n
    _, few, _, many = accuracies
    return Downstream(*accuracies, efficiency=few / many if many > 0 else 0.0)


def _part(pair: Pair, kept: np.ndarray) -> Pair:
    return pair[0][kept], pair[1][kept]


def _half(pair: Pair, kept: np.ndarray) -> Pair:
    return _part(pair, kept) if kept.sum() >= 2 else pair  # of a handful of rows a draw can leave none


def _check_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(sizes, Sequence | np.ndarray) or len(sizes) != 4:
        raise UsageError(f"sizes must be four rising numbers of rows, got {sizes!r}")
    checked = tuple(whole_number(size, "each of sizes", 1) for size in sizes)
    if list(checked) != sorted(checked):
        raise UsageError(f"sizes must be four rising numbers of rows, got {sizes!r}")
    return checked


def _foreteller(learner: Any) -> Foretell:
    """Return how a learner, by name or as an object, is fitted and asked."""
    if learner == "logistic":
        return _logistic()
    if isinstance(learner, str) and learner != "gbt":
        raise unknown("learner", learner, ("logistic", "gbt"))
    if learner != "gbt" and not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise UsageError(f"learner must be 'logistic', 'gbt' or an object with fit and predict, got {learner!r}")

    def foretell(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, _: tuple[int, int]) -> np.ndarray:
        if (factor == factor[0]).all():  # many learners want two classes
            return np.full(len(test_codes), factor[0])
        if learner == "gbt":
            return BoostedTrees().fit(codes, factor).predict(test_codes)

        from sklearn.base import clone

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a fit has not converged, or that folds lack classes
            model: Any = clone(learner)
            return np.asarray(model.fit(codes, factor).predict(test_codes))

    return foretell


def _logistic() -> Foretell:
    """Return the logistic regression that chooses its penalty once for each size and factor, and then keeps it."""
    chosen: dict[tuple[int, int], tuple[float, int]] = {}

    def foretell(codes: np.ndarray, factor: np.ndarray, test_codes: np.ndarray, case: tuple[int, int]) -> np.ndarray:
        if case in chosen:
            strength, rows = chosen[case]  # C is weighed against the sum of the losses: of fewer, it counts for more
            return predict_logistic(codes, factor, test_codes, strength * rows / len(codes))[0]
        foretold, strength = predict_logistic(codes, factor, test_codes)
        chosen[case] = strength, len(codes)
        return foretold

    return foretell
