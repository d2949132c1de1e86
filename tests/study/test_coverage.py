"""Intervals over seeds hold the truth as often as they say, on simulated studies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

from unweave.study import analysis
from unweave.study.analysis import seeds
from unweave.study.analysis.seeds import mean

SEEDS = (5, 10, 20, 50)
Trial = Callable[[int, int], tuple[float | None, float | None]]
"""From a number of seeds and the number of a trial to an interval."""


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch):
    """Two thousand resamples: their percentiles vary little beside the studies themselves."""
    monkeypatch.setattr(seeds, "RESAMPLES", 2000)


def share(trial: Trial, n: int, trials: int, truth: float) -> float:
    intervals = [trial(n, number) for number in range(trials)]
    return float(np.mean([low is not None and high is not None and low <= truth <= high for low, high in intervals]))


def normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(0.5, 0.1, n)


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.beta(8, 4, n)


def of_cell(draw: Callable[[np.random.Generator, int], np.ndarray], statistic: seeds.Statistic) -> tuple[Trial, float]:
    """Return trials of a statistic of one cell, and its value over very many seeds."""

    def trial(n: int, number: int) -> tuple[float | None, float | None]:
        found = analysis.over_seeds(draw(np.random.default_rng(number), n), statistic, seed=number)
        return found.low, found.high

    return trial, float(statistic(draw(np.random.default_rng(1), 1_000_000)))


def of_improvement(shift: float, spread: float) -> tuple[Trial, float]:
    """Return trials of the chance that a normal score beats another, and the true chance."""

    def trial(n: int, number: int) -> tuple[float | None, float | None]:
        rng = np.random.default_rng(number)
        found = analysis.improvement(rng.normal(shift, spread, n), rng.normal(size=n))
        return found.low, found.high

    return trial, float(ndtr(shift / np.hypot(1, spread)))


def of_ranks(cells: int, effect: float, link: float) -> tuple[Trial, float]:
    """Return trials of the rank correlation of two scores: both follow their cell, and perhaps their seed."""
    world = np.random.default_rng(cells)
    first = effect * world.normal(size=cells)
    second = 0.8 * first + 0.6 * effect * world.normal(size=cells)

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        shared = link * rng.normal(size=n)  # a seed that is lucky in every cell
        a = first[:, None] + shared + rng.normal(size=(cells, n))
        b = second[:, None] + shared + rng.normal(size=(cells, n))
        return a.ravel(), b.ravel(), np.tile(np.arange(n), cells)

    def trial(n: int, number: int) -> tuple[float | None, float | None]:
        found = analysis.rank_correlation(*draw(np.random.default_rng(number), n))
        return found.low, found.high

    a, b, _ = draw(np.random.default_rng(1), 100_000 // cells)
    value = analysis.rank_correlation(a, b, np.zeros(len(a))).correlation
    assert value is not None
    return trial, value


CASES: dict[str, Callable[[], tuple[Trial, float]]] = {
    "mean": lambda: of_cell(normal, mean),
    "mean of skewed scores": lambda: of_cell(skewed, mean),
    "interquartile mean": lambda: of_cell(normal, analysis.interquartile_mean),
    "interquartile mean of skewed scores": lambda: of_cell(skewed, analysis.interquartile_mean),
    "improvement of equals": lambda: of_improvement(0, 1),
    "improvement": lambda: of_improvement(1, 1),
    "improvement that is nearly sure": lambda: of_improvement(3, 2),
    "ranks of unrelated scores": lambda: of_ranks(12, 0, 0),
    "ranks of related scores": lambda: of_ranks(4, 2, 0),
    "ranks where seeds are lucky in every cell": lambda: of_ranks(6, 1, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("n", SEEDS)
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_truth_in_95_percent_of_studies(case: str, n: int):
    trial, truth = CASES[case]()
    assert share(trial, n, 1000, truth) == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("case", ["interquartile mean", "improvement that is nearly sure", "ranks of related scores"])
def test_intervals_hold_the_truth_of_five_seeds(case: str):
    trial, truth = CASES[case]()
    assert share(trial, 5, 150, truth) == pytest.approx(0.95, abs=0.05)
