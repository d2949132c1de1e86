"""Sentences about the comparison of methods at their usual strengths, from the stored scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars
from comparison_cells import (
    ASKS,
    DISENTANGLEMENT,
    INFORMATIVENESS,
    UNTRAINED,
    Cell,
    by_need,
    scores_of_cell,
    sets_of,
    usual,
)
from scipy.stats import ttest_ind

from unweave.study.analysis import FEW_SEEDS, best_cell, holm

LEVEL = 0.05
TITLES = {"D": DISENTANGLEMENT, "I": INFORMATIVENESS}
WITH = {
    "nothing": "Images alone",
    "pairs": "Pairs",
    "pairs, known": "Pairs whose shared factors are known",
    "triplets": "Triplets",
}
"""Kinds of supervision that several methods share, as a sentence begins."""


def findings(table: polars.DataFrame, cells: list[Cell]) -> list[str]:
    """Return which methods are best, and which an untrained network equals; nothing if too few runs are stored."""
    return [
        sentence for data in sets_of(cells) for sentence in (*_best(table, cells, data), *_floor(table, cells, data))
    ]


def scores_at(table: polars.DataFrame, cells: list[Cell], data: str, metric: str) -> dict[str, np.ndarray]:
    """Return a score of every method that has enough seeds, by method."""
    found = {
        method: scores_of_cell(table, usual(cells, method, data), metric).drop_nulls().to_numpy()
        for _, method in by_need()
    }
    return {method: values for method, values in found.items() if len(values) >= FEW_SEEDS}


def _best(table: polars.DataFrame, cells: list[Cell], data: str) -> Iterator[str]:
    scores = scores_at(table, cells, data, DISENTANGLEMENT)
    for asks in ASKS:
        group = {name: scores[name] for wanted, name in by_need() if wanted == asks and name in scores}
        group.pop(UNTRAINED, None)
        if len(group) > 1:
            yield f"{data}. {WITH[asks]}: {leaders(group)}."


def leaders(scores: Mapping[str, np.ndarray]) -> str:
    """Return which method has the highest mean D, and which do not differ from it clearly."""
    rows = [
        {"method": method, "seed": seed, "metric": DISENTANGLEMENT, "value": float(value)}
        for method, values in scores.items()
        for seed, value in enumerate(values)
    ]
    best = best_cell(polars.DataFrame(rows), DISENTANGLEMENT, level=LEVEL)
    assert best.cell is not None, "every method has enough seeds"
    first = str(best.cell[0])
    ties = ", ".join(str(cell[0]) for cell in best.ties)
    others = f"{ties} {'do' if len(best.ties) > 1 else 'does'} not differ clearly from it" if ties else "it is clear"
    return f"{first} has the highest D, {scores[first].mean():.2f}; {others}"


def _floor(table: polars.DataFrame, cells: list[Cell], data: str) -> Iterator[str]:
    for title, metric in TITLES.items():
        scores = scores_at(table, cells, data, metric)
        floor = scores.pop(UNTRAINED, None)
        if floor is None or not scores:
            continue
        others = not_above(scores, floor)
        which = f"{', '.join(others)} {'are' if len(others) > 1 else 'is'} not" if others else "every method is"
        yield f"{data}. {title} of the untrained network is {floor.mean():.2f}; {which} clearly above it."


def not_above(scores: Mapping[str, np.ndarray], floor: np.ndarray) -> list[str]:
    """Return the methods that are not above a floor, by Welch's test with Holm's correction for all methods."""
    tests = (ttest_ind(values, floor, equal_var=False, alternative="greater") for values in scores.values())
    p = [float(np.asarray(test)[1]) for test in tests]
    return [method for method, corrected in zip(scores, holm(p), strict=True) if not corrected <= LEVEL]
