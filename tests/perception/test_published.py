"""The numbers that the thesis prints for xysquares come out."""

from __future__ import annotations

import pytest

from unweave.perception import correlations, importance

PAIRS = 20_000
LINEAR_MSE = (1.00, 0.94, 0.86, 0.75, 0.72, 0.67, 0.60, 0.52)
RANK_MSE = (1.00, 0.99, 0.95, 0.85, 0.85, 0.85, 0.85, 0.58)
LINEAR_BOX = (0.98, 0.99, 0.99, 0.99, 0.99, 0.98, 0.97, 0.96)
RANK_BOX = (0.99, 0.99, 0.99, 0.99, 0.99, 0.98, 0.98, 0.97)
TABLE_4_2 = [
    ("mse", spacing, linear, rank)
    for spacing, (linear, rank) in enumerate(zip(LINEAR_MSE, RANK_MSE, strict=True), start=1)
] + [
    ("mse-box:radius=31", spacing, linear, rank)
    for spacing, (linear, rank) in enumerate(zip(LINEAR_BOX, RANK_BOX, strict=True), start=1)
]


def test_table_3_1_to_the_printed_digits():
    table = importance("xysquares")
    assert table["factor"].to_list() == ["x_R", "y_R", "x_G", "y_G", "x_B", "y_B", "random"]
    found = [(round(mean, 4), round(std, 4)) for mean, std in table.select("mean", "std").iter_rows()]
    assert found == [(0.0104, 0.0)] * 6 + [(0.0308, 0.0022)]


@pytest.mark.parametrize(("loss", "spacing", "linear", "rank"), TABLE_4_2)
def test_table_4_2_within_a_hundredth(loss, spacing, linear, rank, monkeypatch):
    monkeypatch.setattr("unweave.perception.pairs.TRAVERSALS", 160)  # which differ in little: one is much like another
    monkeypatch.setattr("unweave.perception.pairs.BATCHES", 16)
    table = correlations(f"xysquares:spacing={spacing}", loss, pairs=PAIRS, factors=["x_R"])
    assert table.columns == ["factor", "linear", "rank"]
    assert table["factor"].to_list() == ["x_R", "random"]
    assert table["linear"][0] == pytest.approx(linear, abs=0.01)
    assert table["rank"][0] == pytest.approx(rank, abs=0.01)


@pytest.mark.parametrize(
    ("loss", "alone", "printed"),
    [("mse", (0.245, 0.231), (0.55, 0.36)), ("mse-box", (0.925, 0.929), (0.95, 0.94))],
)
def test_the_random_columns_of_table_6_1_come_of_pairs_of_an_image_with_itself(loss, alone, printed, monkeypatch):
    monkeypatch.setattr("unweave.perception.pairs.TRAVERSALS", 16)  # along a factor nothing is asked here
    independent = correlations("xysquares", loss, pairs=PAIRS, factors=["x_R"]).row(-1)
    assert independent[1:] == pytest.approx(alone, abs=0.02)
    with_itself = correlations("xysquares", loss, pairs=PAIRS, factors=["x_R"], self_pairs=1 / 32).row(-1)
    assert with_itself[1:] == pytest.approx(printed, abs=0.02)
