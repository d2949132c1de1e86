"""Predictors of increasing capacity, all from one fit: random features with ridge regression, and trees."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from unweave.late import importing
from unweave.metrics.inputs import Pair
from unweave.metrics.scaling import standardise

FEATURES = 16 * (2 ** np.arange(7) - 1)
"""Random features beside the codes: 0, 16, 48, ... 1008, so that FEATURES + 16 doubles."""
FREQUENCY = 0.5
"""Standard deviation of the features' frequencies, in radians per standard deviation of a latent."""
RIDGE = 1e-5
"""Added to the mean square of each feature but the constant: 1 for a latent, about 1/2 for a random feature."""
CHUNK = 8192
"""Rows whose features are held at once."""
DEPTHS = 2 ** np.arange(6)
"""Levels of the trees: 1, 2, 4, ... 32."""
TREES = 20


def fourier_predictions(
    train: Pair, test: Pair, classes: bool, rng: np.random.Generator
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return numbers of random Fourier features [Rahimi2007]_, and for each factor the predictions of ridge regression.

    Features are 1, the codes, and cosine and sine of random directions of the codes; each number takes the first
    features of one list, so that one Cholesky factor serves all: that of the first features is its upper left corner.
    Classes are regressed one-hot; the largest output wins.
    """
    inputs, test_inputs = standardise(train, test)
    directions = FREQUENCY * rng.normal(size=(FEATURES[-1] // 2, inputs.shape[1]))
    goals = [_Goal(factor, classes) for factor in train[1].T]
    widths = 1 + inputs.shape[1] + FEATURES
    weights = _ridge_weights(inputs, directions, goals, widths)
    shape = (len(FEATURES), len(test_inputs))
    predicted = [np.empty(shape, dtype=np.int64 if classes else np.float64) for _ in goals]
    ends = np.cumsum([goal.width for goal in goals])[:-1]
    for rows in _chunks(len(test_inputs)):
        features = _features(test_inputs[rows], directions)
        for c, width in enumerate(widths):
            answers = np.split(features[:, :width] @ weights[c], ends, axis=1)
            for k, (goal, answer) in enumerate(zip(goals, answers, strict=True)):
                predicted[k][c, rows] = goal.decode(answer)
    return FEATURES, predicted


def forest_predictions(
    train: Pair, test: Pair, classes: bool, rng: np.random.Generator
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return depths of trees, and for each factor the predictions of a random forest cut at each depth.

    The forest is scikit-learn's with its defaults except for the number of trees, grown once to the largest depth. Cut
    at a smaller depth, it predicts a row by the node that the row has reached.
    """
    with importing():
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if classes else RandomForestRegressor
    inputs, test_inputs = standardise(train, test)
    predicted = []
    for factor in train[1].T:
        forest = kind(TREES, max_depth=int(DEPTHS[-1]), random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that there are many classes for so few rows
            trees = forest.fit(inputs, factor).estimators_
        answers = _answers_by_depth([tree.tree_ for tree in trees], test_inputs.astype(np.float32))
        predicted.append(np.unique(factor)[answers.argmax(axis=2)] if classes else answers[:, :, 0])
    return DEPTHS, predicted


class _Goal:
    """One factor as columns to regress on: one-hot classes, or the number itself."""

    def __init__(self, factor: np.ndarray, classes: bool) -> None:
        self.classes = classes
        self.values, self.labels = np.unique(factor, return_inverse=True)
        self.numbers = factor.astype(np.float64)
        self.width = len(self.values) if classes else 1

    def encode(self, rows: slice) -> np.ndarray:
        if not self.classes:
            return self.numbers[rows, None]
        return (self.labels[rows, None] == np.arange(self.width)).astype(np.float64)

    def decode(self, answers: np.ndarray) -> np.ndarray:
        return self.values[answers.argmax(axis=1)] if self.classes else answers[:, 0]


def _ridge_weights(
    inputs: np.ndarray, directions: np.ndarray, goals: list[_Goal], widths: np.ndarray
) -> list[np.ndarray]:
    """Return the weights of the first features, (width, goals), for each width."""
    with importing():
        from scipy.linalg import cholesky, solve_triangular

    total = widths[-1]
    squares, products = np.zeros((total, total)), np.zeros((total, sum(goal.width for goal in goals)))
    for rows in _chunks(len(inputs)):
        features = _features(inputs[rows], directions)
        squares += features.T @ features
        products += features.T @ np.hstack([goal.encode(rows) for goal in goals])
    squares[np.arange(1, total), np.arange(1, total)] += RIDGE * len(inputs)
    lower = cholesky(squares, lower=True)
    halfway = solve_triangular(lower, products, lower=True)
    return [solve_triangular(lower[:w, :w].T, halfway[:w]) for w in widths]


def _features(inputs: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return 1, the inputs, and cosine and sine of each direction, in pairs."""
    n, d = inputs.shape
    features = np.empty((n, 1 + d + 2 * len(directions)))
    features[:, 0] = 1.0
    features[:, 1 : d + 1] = inputs
    turns = inputs @ directions.T
    features[:, d + 1 :: 2] = np.cos(turns)
    features[:, d + 2 :: 2] = np.sin(turns)
    return features


def _chunks(n: int) -> list[slice]:
    return [slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK)]


def _answers_by_depth(trees: Sequence[Any], places: np.ndarray) -> np.ndarray:
    """Return the mean prediction of fitted trees cut at each depth: (depths, rows, answers)."""
    answers = np.zeros((len(DEPTHS), len(places), trees[0].value.shape[2]))
    rows = np.arange(len(places))
    for tree in trees:
        node = np.zeros(len(places), dtype=np.intp)
        for depth in range(1, DEPTHS[-1] + 1):
            left, right = tree.children_left[node], tree.children_right[node]
            below = places[rows, np.maximum(tree.feature[node], 0)] <= tree.threshold[node]  # a leaf has no feature
            node = np.where(left < 0, node, np.where(below, left, right))
            if depth in DEPTHS:
                answers[np.searchsorted(DEPTHS, depth)] += tree.value[node, 0] / len(trees)
    return answers
