"""How much the prediction of one factor changes when another factor is set to each of its values."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np

from unweave.data.dataset import Dataset
from unweave.errors import UsageError
from unweave.metrics.boosting import BoostedTrees
from unweave.metrics.codebook import Codebook, Encode, open_codebook
from unweave.metrics.inputs import DRAW, generator, whole_number
from unweave.metrics.metric import metric
from unweave.metrics.resampling import Sampled

REFITS = 5
Predictions: TypeAlias = dict[tuple[int, int], np.ndarray]
"""From a target and a sensitive factor to the predicted targets (values of the sensitive factor, points)."""
BINS = 128
"""Parts of a latent for trees that are not thorough: the score needs predictions, not importances."""


class Unfairness(NamedTuple):
    """Total variations in [0, 1] over all pairs of a target and a sensitive factor; 0 is fair."""

    mean: float
    """The mean over pairs, which is the published score."""
    max: float
    """The unfairness of the worst pair."""


@metric(
    "Locatello et al. 2019",
    "fairness",
    higher_is_better=False,
    floor_options={"rows": 2_000},
    ceiling_options={"rows": 2_000},
    unsteady=("mean", "max"),
    fast={"rows": 2_000, "points": 30},
    categories="ranks",  # to trees
)
def unfairness(
    encode: Encode | Codebook, data: Dataset | None = None, *, rows: int = 10_000, points: int = 100, seed: int = 0
) -> Sampled[Unfairness]:
    r"""Unfairness [Locatello2019b]_, in [0, 1], 0 is fair: does a prediction change with a factor it is not about?

        u(t, s) = mean over values c of factor s of TV( p(prediction of t), p(prediction of t | do(s = c)) )

    for every target factor t and every other, sensitive, factor s, where TV is half the sum of absolute differences.

    Parameters
    ----------
    encode
        A `Codebook`, or an encoder of the images of `data`.
    data
        The data set of an encoder; nothing with a `Codebook`.
    rows
        Random cells of the grid that boosted trees are fitted to, for each target.
    points
        Random cells for each sensitive factor, which is set to each of its values in turn while the others stay.
    seed
        Seed of the cells.

    Returns
    -------
    Unfairness
        mean, over all pairs, and max, of the worst pair.

    Notes
    -----
    p without a condition is the mean over the values of s. Factors of size 1 are neither targets nor sensitive; at
    least two must be larger. Constant codes are fair: 0. Invariant to the scale and shift of latents.

    References
    ----------
    .. [Locatello2019b] Locatello et al., "On the Fairness of Disentangled Representations", NeurIPS 2019.

    Examples
    --------
    >>> from unweave.metrics import Codebook, unfairness
    >>> book = Codebook.of_grid([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], sizes=(2, 2))
    >>> unfairness(book, rows=100)
    Unfairness(mean=0.0, max=0.0)
    """
    experiment = _Experiment(open_codebook(encode, data), rows, points, seed)
    whole = experiment.predict()

    def rescore(subsets: np.ndarray) -> np.ndarray:
        return np.array([of_half(kept[:rows], kept[rows:]) for kept in subsets])

    def of_half(kept: np.ndarray, points: np.ndarray) -> Unfairness:
        predicted = experiment.predict(kept) if kept.any() else whole
        return _score(predicted, points if points.any() else None)

    return Sampled(_score(whole), rows + points, rescore, REFITS, per_factor={"mean": experiment.by_target(whole)})


def unfairness_matrix(
    encode: Encode | Codebook, data: Dataset | None = None, *, rows: int = 10_000, points: int = 100, seed: int = 0
) -> np.ndarray:
    """Return the unfairness of every pair of factors.

    Parameters
    ----------
    encode, data, rows, points, seed
        As in `unfairness`.

    Returns
    -------
    numpy.ndarray
        (targets, sensitive): 0 on the diagonal and for factors of size 1.

    Examples
    --------
    >>> from unweave.metrics import Codebook, unfairness_matrix
    >>> book = Codebook.of_grid([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], sizes=(2, 2))
    >>> unfairness_matrix(book, rows=100)
    array([[0., 0.],
           [0., 0.]])
    """
    experiment = _Experiment(open_codebook(encode, data), rows, points, seed)
    matrix = np.zeros((len(experiment.sizes), len(experiment.sizes)))
    for (target, sensitive), predicted in experiment.predict().items():
        matrix[target, sensitive] = _total_variation(predicted)
    return matrix


class _Experiment:
    """The cells drawn, and their codes."""

    def __init__(self, book: Codebook, rows: int, points: int, seed: int) -> None:
        rows, points = whole_number(rows, "rows", 2), whole_number(points, "points", 2)
        self.sizes = book.sizes
        self.varying = [k for k, size in enumerate(book.sizes) if size > 1]
        if len(self.varying) < 2:
            raise UsageError("unfairness needs two factors with more than one value")
        rng = generator(seed, DRAW)
        fitted = rng.integers(math.prod(book.sizes), size=rows)
        changed = {s: self._set(s, rng.integers(math.prod(book.sizes), size=points)) for s in self.varying}
        book.prepare(np.concatenate([fitted, *(cells.ravel() for cells in changed.values())]))
        self.codes = book.codes(fitted)
        self.factors = np.stack(np.unravel_index(fitted, book.sizes), axis=1)
        self.changed = {s: book.codes(cells) for s, cells in changed.items()}  # (values, points, d)

    def _set(self, factor: int, cells: np.ndarray) -> np.ndarray:
        """Return the cells with a factor set to each of its values: (values, points)."""
        stride = math.prod(self.sizes[factor + 1 :])
        value = cells // stride % self.sizes[factor]
        return cells + (np.arange(self.sizes[factor])[:, None] - value) * stride

    def predict(self, kept: np.ndarray | None = None) -> Predictions:
        """Return the predictions (values, points) for each target and sensitive factor, by trees of the kept rows."""
        rows = slice(None) if kept is None else kept
        predicted = {}
        for target in self.varying:
            model = BoostedTrees(bins=BINS, thorough=False).fit(self.codes[rows], self.factors[rows, target])
            for sensitive in self.varying:
                if sensitive != target:
                    asked = self.changed[sensitive]
                    answers = model.predict(asked.reshape(-1, asked.shape[2]))
                    predicted[target, sensitive] = answers.reshape(asked.shape[:2])
        return predicted

    def by_target(self, predicted: Predictions) -> np.ndarray:
        """Return the mean unfairness of each target factor, (k,)."""
        pairs = {pair: _total_variation(table) for pair, table in predicted.items()}
        return np.array([np.mean([u for (t, _), u in pairs.items() if t == target]) for target in self.varying])


def _score(predicted: Predictions, chosen: np.ndarray | None = None) -> Unfairness:
    """Return the score of all pairs, from the chosen points alone."""
    points = slice(None) if chosen is None else chosen
    pairs = [_total_variation(table[:, points]) for table in predicted.values()]
    return Unfairness(float(np.mean(pairs)), float(np.max(pairs)))


def _total_variation(predicted: np.ndarray) -> float:
    """Return the mean distance of each row's share of every value from all rows' share; predicted is (rows, points)."""
    rows, points = predicted.shape
    size = predicted.max() + 1
    cells = np.arange(rows)[:, None] * size + predicted
    counts = np.bincount(cells.ravel(), minlength=rows * size).reshape(rows, size)
    return float(np.abs(rows * counts - counts.sum(axis=0)).sum() / (2 * rows * rows * points))  # exact where it is 0
