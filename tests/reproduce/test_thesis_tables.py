"""Tables of the thesis: printed numbers stand beside ours, and ours agree on xysquares."""

from __future__ import annotations

from pathlib import Path

import pytest

from unweave.reproduce import find, reproduce
from unweave.reproduce.frame import Row
from unweave.reproduce.thesis.printed import BY_LOSS, BY_SPACING, CORRELATIONS, FACTOR, IMPORTANCE, RANDOM
from unweave.reproduce.thesis.table import here, largest_difference

TABLES = ("thesis-3.1", "thesis-4.1", "thesis-4.2", "thesis-6.1")


def rows(name: str, folder: Path) -> dict[str, Row]:
    return {row.what: row for row in reproduce(name, preset="smoke", out=folder / "result").findings.rows}


def test_the_printed_tables_agree_with_each_other():
    assert CORRELATIONS["xysquares"][FACTOR] == BY_SPACING[8]
    for loss, place in (("mse", 0), ("mse-box, radius 31", 2)):
        assert BY_LOSS[loss][:2] == BY_SPACING[8][place : place + 2]
        assert BY_LOSS[loss][2:] == CORRELATIONS["xysquares"][RANDOM][place : place + 2]
    for data, factors in IMPORTANCE.items():
        assert {*factors} == {*CORRELATIONS[data]}
        assert max(factors, key=lambda factor: factors[factor][0]) == RANDOM


def test_table_3_1_to_the_printed_digits(tmp_path: Path):
    found = rows("thesis-3.1", tmp_path)
    for what, printed in (("x and y: mean distance", 10.4), ("x and y: deviation", 0.0)):
        row = found[f"xysquares, {what} × 1000"]
        assert (round(row.ours, 1), row.published) == (printed, printed)
    assert found["xysquares, random: mean distance × 1000"].ours == pytest.approx(30.8, abs=0.1)
    assert found["xysquares, random: deviation × 1000"].ours == pytest.approx(2.2, abs=0.1)
    assert found["xyobject:size=32, x: mean distance × 1000"].published is None


def test_table_4_1_has_random_pairs_with_and_without_self_pairs(tmp_path: Path):
    found = rows("thesis-4.1", tmp_path)
    with_self = found["xysquares, random, 1 of 32 with itself: linear correlation, mse"]
    without = found["xysquares, random: linear correlation, mse"]
    assert (with_self.published, without.published) == (0.55, None)
    assert with_self.ours == pytest.approx(0.55, abs=0.04)
    assert without.ours == pytest.approx(0.245, abs=0.04)


def test_table_4_2_stands_beside_the_printed_numbers(tmp_path: Path):
    found = rows("thesis-4.2", tmp_path)
    assert len(found) == 8
    assert all(row.published is not None and abs(row.ours - row.published) < 0.03 for row in found.values())


def test_table_6_1_learns_its_kernel_once(tmp_path: Path):
    found = rows("thesis-6.1", tmp_path)
    kernel = tmp_path / "result" / "learnt-7.loss"
    before = kernel.stat().st_mtime_ns
    assert found["mse, x and y: rank correlation"].ours == pytest.approx(0.58, abs=0.03)
    assert all(row.published is None for row in found.values())  # they are of other images
    assert rows("thesis-6.1", tmp_path).keys() == found.keys()
    assert kernel.stat().st_mtime_ns == before


def test_data_sets_that_are_not_here_are_left_out_and_named():
    there, notes = here(("dsprites", "xysquares:spacing=2", "cars3d"))
    assert there == ["xysquares:spacing=2"]
    assert notes == ["Missing, and left out: dsprites, cars3d; to fetch one: unweave data fetch dsprites."]


@pytest.mark.parametrize("name", TABLES)
def test_the_cost_of_a_table_is_told(name: str):
    kind = find(name)
    assert kind().cost(kind.presets["paper"]).startswith("No model is trained: ")


def test_the_largest_difference_is_that_of_printed_numbers():
    found = [Row("a", 0.5, 0.52, 0, 1), Row("b", None, 9.0, 0, 1), Row("c", 0.5, 0.45, 0, 1)]
    assert largest_difference(found) == "The largest difference from 2 printed numbers is 0.05 (c)."
    assert largest_difference(found[1:2]) == "The thesis prints no number for these data sets."
