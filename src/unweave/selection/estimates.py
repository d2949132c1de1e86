"""Scores of runs and of specifications, and how they vary when seeds are resampled.

A specification's score is the mean over its runs. Seeds are drawn with replacement; a run that is drawn twice is not
compared with itself, since the diagonal of a matrix of pairs is NaN. For few seeds the spread is widened, as for every
interval over seeds (`unweave.study.analysis.seeds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.selection.table import Average
from unweave.study.analysis.seeds import FEW_SEEDS, stretch

RESAMPLES = 1_000
Interval = tuple[float, float, float]
"""Value, low and high; NaN if unknown."""


@dataclass(frozen=True)
class Estimate:
    """A score of the runs of several specifications, sorted by specification."""

    sizes: tuple[int, ...]
    """The number of runs of each specification."""
    values: np.ndarray
    """The scores (N,) of the runs; NaN for a run without one."""
    pairs: np.ndarray | None = None
    """Scores of pairs (N, N), partners in rows, NaN for pairs that are not compared; None: a score of single runs."""
    average: Average = "mean"

    @classmethod
    def of_pairs(cls, sizes: Sequence[int], pairs: np.ndarray, average: Average) -> Estimate:
        """Return the estimate of scores of pairs."""
        return cls(tuple(sizes), over_partners(pairs, average), pairs, average)

    @property
    def parts(self) -> list[slice]:
        """The slice of each specification's runs."""
        ends = np.cumsum(self.sizes)
        return [slice(int(end) - size, int(end)) for end, size in zip(ends, self.sizes, strict=True)]

    @property
    def specifications(self) -> np.ndarray:
        """The scores (S,) of the specifications."""
        return np.array([_mean(self.values[part], 0) for part in self.parts])

    @property
    def seeds(self) -> np.ndarray:
        """The number (S,) of runs of each specification that have a score."""
        return np.array([int(np.isfinite(self.values[part]).sum()) for part in self.parts])

    def drawn(self, seed: int) -> list[np.ndarray]:
        """Return for each specification the resampled runs (RESAMPLES, seeds), among those that have a score."""
        found = []
        for number, part in enumerate(self.parts):
            there = part.start + np.flatnonzero(np.isfinite(self.values[part]))
            rng = np.random.default_rng([seed, number])
            places = rng.integers(max(len(there), 1), size=(RESAMPLES, len(there)))
            found.append(there[places] if len(there) else places)
        return found

    def resampled(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Return the scores (RESAMPLES, S) of the specifications from the resampled runs."""
        if self.pairs is None:
            scores = np.stack([_mean(self.values[each], 1) for each in drawn], 1)
        elif self._within:
            scores = np.stack([self._of_drawn(each) for each in drawn], 1)
        else:
            together, edges = np.concatenate(drawn, axis=1), np.cumsum([each.shape[1] for each in drawn])[:-1]
            each_run = [over_partners(self.pairs[np.ix_(rows, rows)], self.average) for rows in together]
            scores = np.stack([_mean(part, 1) for part in np.split(np.stack(each_run), edges, axis=1)], 1)
        return np.where(np.isfinite(scores), scores, self.specifications)  # all draws are one run: nothing to compare

    @property
    def _within(self) -> bool:
        """Whether runs are compared only with those of their specification."""
        assert self.pairs is not None
        inside = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return not np.isfinite(self.pairs[inside[:, None] != inside]).any()

    def _of_drawn(self, drawn: np.ndarray) -> np.ndarray:
        assert self.pairs is not None
        return _mean(over_partners(self.pairs[drawn[:, :, None], drawn[:, None, :]], self.average), 1)

    def run_intervals(self, seed: int, bounds: tuple[float, float]) -> list[Interval]:
        """Return the score of each run and, for a score of pairs with enough seeds, its interval over partners."""
        found: list[Interval] = []
        for place, value in enumerate(self.values):
            low = high = np.nan
            if self.pairs is not None:
                partners = self.pairs[np.isfinite(self.pairs[:, place]), place]
                if len(partners) + 1 >= FEW_SEEDS:
                    rng = np.random.default_rng([seed, place])
                    drawn = partners[rng.integers(len(partners), size=(RESAMPLES, len(partners)))]
                    scores = over_partners(drawn[:, :, None], self.average)[:, 0]
                    low, high = ends(scores, float(value), len(partners), bounds)
            found.append((float(value), low, high))
        return found


def over_partners(pairs: np.ndarray, average: Average) -> np.ndarray:
    """Return the mean or median (…, J) over the rows of scores of pairs (…, I, J), ignoring NaN."""
    if average == "mean":
        return _mean(pairs, -2)
    ordered, count = np.sort(pairs, axis=-2), np.isfinite(pairs).sum(-2, keepdims=True)  # NaN come last
    middle = [np.take_along_axis(ordered, np.maximum(place, 0), -2) for place in ((count - 1) // 2, count // 2)]
    middle[1] = np.where(count > 0, middle[1], np.nan)
    return ((middle[0] + middle[1]) / 2)[..., 0, :]


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    there = np.isfinite(values)
    count = there.sum(axis)
    return np.where(count > 0, np.where(there, values, 0.0).sum(axis) / np.maximum(count, 1), np.nan)


def ends(resampled: np.ndarray, value: float, seeds: int, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the 95 % interval of a resampled score, widened for few seeds, within bounds."""
    low, high = np.clip(value + stretch(seeds) * (np.quantile(resampled, [0.025, 0.975]) - value), *bounds)
    return float(low), float(high)


def chances(resampled: np.ndarray, values: np.ndarray, seeds: np.ndarray, higher_is_better: bool) -> np.ndarray:
    """Return how often each specification (S,) is the best of resampled scores (RESAMPLES, S), spread as for intervals.

    NaN if one of them has too few seeds, or there is nothing to choose from.
    """
    known = np.isfinite(values)
    if (seeds[known] < FEW_SEEDS).any() or known.sum() < 2:
        return np.full(len(values), np.nan)
    factors = np.array([stretch(int(count)) for count in seeds[known]])
    spread = values[known] + factors * (resampled[:, known] - values[known])
    best = spread == (spread.max(1, keepdims=True) if higher_is_better else spread.min(1, keepdims=True))
    found = np.full(len(values), np.nan)
    found[known] = (best / best.sum(1, keepdims=True)).mean(0)
    return found
