"""Which cell is best: only where every other one is worse, corrected for all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import polars
import pytest
from scipy.stats import ttest_ind

from unweave.study.analysis import best_cell, compare_cells, holm


def table(cells: Mapping[str, list[float] | np.ndarray]) -> polars.DataFrame:
    return polars.DataFrame(
        [
            {"run": f"{name}{seed}", "data": "d", "method": name, "seed": seed, "metric": "mig", "value": float(value)}
            for name, values in cells.items()
            for seed, value in enumerate(values)
        ]
    )


def drawn(means: dict[str, float], seeds: int = 6, spread: float = 0.02) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {name: rng.normal(mean, spread, seeds) for name, mean in means.items()}


def test_a_clear_winner_has_no_ties_in_either_direction():
    cells = table(drawn({"a": 0.1, "b": 0.3, "c": 0.6}))
    found = best_cell(cells, "mig")
    assert (found.cell, found.ties, found.compared, found.is_clear) == (("d", "c"), (), 3, True)
    assert best_cell(cells, "mig", higher_is_better=False).cell == ("d", "a")


def test_ties_are_those_of_scipys_test_with_holms_correction():
    cells = drawn({"a": 0.1, "b": 0.28, "c": 0.3, "d": 0.29})
    found = best_cell(table(cells), "mig")
    pairs = list(combinations(cells, 2))
    plain = [float(ttest_ind(cells[a], cells[b], equal_var=False).pvalue) for a, b in pairs]  # pyright: ignore[reportAttributeAccessIssue]
    top = max(cells, key=lambda name: cells[name].mean())
    expected = {
        ({a, b} - {top}).pop() for (a, b), p in zip(pairs, holm(plain), strict=True) if top in (a, b) and p > 0.05
    }
    assert found.cell == ("d", top)
    assert {str(method) for _, method in found.ties} == expected
    assert expected
    assert not found.is_clear
    assert compare_cells(table(cells), "mig")["p"].to_list() == pytest.approx(plain)


def test_cells_with_fewer_than_five_seeds_take_no_part():
    cells = drawn({"a": 0.1, "b": 0.3})
    few = best_cell(table({**cells, "c": [0.9] * 4}), "mig")
    assert (few.cell, few.compared, few.is_clear) == (("d", "b"), 2, True)
    alone = best_cell(table({"a": cells["a"], "c": [0.9] * 4}), "mig")
    assert (alone.cell, alone.ties, alone.compared, alone.is_clear) == (None, (), 1, False)


def test_constant_scores_differ_where_they_are_not_equal():
    found = best_cell(table({"a": [0.5] * 5, "b": [0.5] * 5, "c": [0.4] * 5}), "mig")
    assert found.ties == (("d", "b"),)
    assert best_cell(table({"a": [0.5] * 5, "c": [0.4] * 5}), "mig").is_clear
