"""Sentences about the comparison of methods at their usual strengths, from the stored scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars
from comparison_cells import (
    ASKS,
    DISENTANGLEMENT,
    INFORMATIVENESS,
    UNTRAINED,
    Cell,
    by_need,
    cells_like,
    methods_with,
    scores_of_cell,
    sets_of,
    usual,
)

from unweave.study.analysis import FEW_SEEDS, best_of, holm, welch

LEVEL = 0.05
SCORES = {"D": DISENTANGLEMENT, "I": INFORMATIVENESS}


def findings(table: polars.DataFrame, cells: list[Cell]) -> list[str]:
    """Return which methods are best, which are clearly above an untrained network, and which strengths are better.

    The sentences are about all methods, so a data set has none while one of them lacks seeds.
    """
    return [sentence for data in sets_of(cells) for sentence in _about(table, cells, data)]


def _about(table: polars.DataFrame, cells: list[Cell], data: str) -> Iterator[str]:
    scores = {title: scores_at(table, cells, data, metric) for title, metric in SCORES.items()}
    if all(len(values) >= FEW_SEEDS for by_method in scores.values() for values in by_method.values()):
        yield from _best(data, scores["D"])
        yield from _floor(data, scores)
        yield from _strengths(table, cells, data)


def scores_at(table: polars.DataFrame, cells: list[Cell], data: str, metric: str) -> dict[str, np.ndarray]:
    """Return a score of every method over its seeds, at the usual strength."""
    return {
        method: scores_of_cell(table, usual(cells, method, data), metric).drop_nulls().to_numpy()
        for _, method in by_need()
    }


def _best(data: str, scores: Mapping[str, np.ndarray]) -> Iterator[str]:
    for asks, text in ASKS.items():
        group = {name: scores[name] for name in methods_with(asks) if name != UNTRAINED}
        if len(group) > 1:
            yield f"{data}. {text}: {leaders(group)}."


def leaders(scores: Mapping[str, np.ndarray]) -> str:
    """Return which method has the highest mean D, and which others do or do not differ from it clearly."""
    best = best_of(scores, level=LEVEL)
    assert best.cell is not None, "every method has enough seeds"
    lower = [name for name in scores if name != best.cell and name not in best.ties]
    said = f"{best.cell} has the highest D, {scores[best.cell].mean():.2f}"
    if not best.ties:
        return f"{said}, clearly above the others"
    if not lower:
        return f"{said}; no other differs clearly from it"
    if len(lower) < len(best.ties):
        return f"{said}; only {joined(lower)} {'differ' if len(lower) > 1 else 'differs'} clearly from it"
    return f"{said}; {joined(best.ties)} {'do' if len(best.ties) > 1 else 'does'} not differ clearly from it"


def _floor(data: str, scores: Mapping[str, Mapping[str, np.ndarray]]) -> Iterator[str]:
    for title, by_method in scores.items():
        trained = {name: values for name, values in by_method.items() if name != UNTRAINED}
        floor = by_method[UNTRAINED]
        yield f"{data}. {title} of the untrained network is {floor.mean():.2f}; {beside_floor(trained, floor)}."


def beside_floor(scores: Mapping[str, np.ndarray], floor: np.ndarray) -> str:
    """Return which methods are clearly above a floor, or which are not, if these are fewer."""
    unclear = not_above(scores, floor)
    clear = [method for method in scores if method not in unclear]
    if not unclear:
        return "every method is clearly above it"
    if not clear:
        return "no method is clearly above it"
    if len(clear) < len(unclear):
        return f"only {joined(clear)} {_are(clear)} clearly above it"
    return f"{joined(unclear)} {_are(unclear)} not clearly above it"


def _strengths(table: polars.DataFrame, cells: list[Cell], data: str) -> Iterator[str]:
    compared: dict[tuple[str, str], tuple[np.ndarray, np.ndarray]] = {}
    for _, method in by_need():
        own = [cell for cell in cells_like(cells, method) if cell.data == data]
        if len(own) == 3:
            weak, usually, strong = (scores_of_cell(table, cell, DISENTANGLEMENT).to_numpy() for cell in own)
            compared[method, "weak"], compared[method, "strong"] = (weak, usually), (strong, usually)
    if any(len(other) < FEW_SEEDS for other, _ in compared.values()):
        return
    p = holm([welch(other, usually, "greater") for other, usually in compared.values()])
    better = [key for key, corrected in zip(compared, p, strict=True) if corrected <= LEVEL]
    parts = [
        f"with the {which} setting for {joined(methods)}"
        for which in ("weak", "strong")
        if (methods := [method for method, name in better if name == which])
    ]
    if parts:
        yield f"{data}. D is clearly higher than at the usual strength {', and '.join(parts)}."
    else:
        yield f"{data}. No method has a clearly higher D at another strength."


def _are(methods: Sequence[str]) -> str:
    return "are" if len(methods) > 1 else "is"


def joined(names: Sequence[str]) -> str:
    """Return names as text: a, b and c."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def not_above(scores: Mapping[str, np.ndarray], floor: np.ndarray) -> list[str]:
    """Return the methods that are not above a floor, by Welch's test with Holm's correction for all methods."""
    p = [welch(values, floor, "greater") for values in scores.values()]
    return [method for method, corrected in zip(scores, holm(p), strict=True) if not corrected <= LEVEL]
