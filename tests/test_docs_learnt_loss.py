"""The tables of docs/learn-loss.md are those of the stored file, and learnt losses are what they should be."""

from __future__ import annotations

import math
import runpy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from scipy.stats import rankdata

TOP = Path(__file__).parents[1]
DOCS: dict[str, Any] = runpy.run_path(str(TOP / "benchmarks" / "learnt_loss.py"))
TABLE = polars.read_csv(DOCS["STORE"])
VALUES: list[str] = DOCS["VALUES"]


CEILING = math.sqrt((1 - 1 / 8**3 - sum(((8 - d) / 32) ** 3 for d in range(1, 8))) / (1 - 1 / 8**3))
"""The distances 1 … 7 of two independent values have the probabilities (8 - d) / 32, and 0 has 1/8. Ranks with ties of
shares p have the variance (1 - sum p^3) n^2 / 12; where all pairs that differ are at different distances, of the
perceived ones only those at 0 are tied."""


def row(data: str, loss: str) -> dict[str, Any]:
    return TABLE.filter(data=data, loss=loss).row(0, named=True)


def test_the_page_says_what_the_file_says(tmp_path):
    """If not: `python benchmarks/learnt_loss.py --page` writes the page from the file."""
    page = tmp_path / "learn-loss.md"
    shutil.copy(DOCS["PAGE"], page)
    DOCS["write_page"](page)
    assert page.read_text() == DOCS["PAGE"].read_text()


def test_every_row_is_there_once():
    assert TABLE.select(DOCS["KEY"]).is_unique().all()
    assert TABLE.filter(data="xysquares")["loss"].to_list() == [*DOCS["THESIS"], DOCS["FULL"]]
    for data in DOCS["OTHERS"]:
        losses = ["mse", "mse-box", "learnt kernel", "learnt autoencoder"]
        assert TABLE.filter(data=data)["loss"].to_list() == losses


@pytest.mark.parametrize("name", ["mse", "mse-gauss", "mse-box"])
def test_losses_that_are_not_learnt_are_those_of_the_thesis(name):
    found = row("xysquares", name)
    ours = [found[value] for value in ("linear factor", "rank factor", "linear self", "rank self")]
    assert ours == pytest.approx(DOCS["THESIS"][name], abs=0.015)  # twice the standard error of 16,384 pairs


def test_a_learnt_kernel_is_at_least_as_good_as_the_box_and_as_the_thesis():
    box, narrow, wide = (row("xysquares", name) for name in ("mse-box", "learnt, radius 31", "learnt, radius 63"))
    assert all(narrow[value] >= box[value] for value in VALUES)
    assert wide["linear factor"] >= 0.99
    assert wide["rank factor"] == pytest.approx(CEILING, abs=1e-3)
    assert all(row("xysquares", DOCS["FULL"])[value] >= 0.99 for value in VALUES)
    for name, found in {"learnt, radius 31": narrow, "learnt, radius 63": wide}.items():
        ours = [found[value] for value in ("linear factor", "rank factor", "linear self", "rank self")]
        assert ours == pytest.approx(DOCS["THESIS"][name], abs=0.006)


def test_a_rank_correlation_along_eight_values_cannot_be_larger_without_equal_distances():
    assert round(CEILING, 5) == 0.98794
    assert "0.98794" in DOCS["PAGE"].read_text()
    values = np.random.default_rng(0).integers(8, size=(400_000, 2))
    apart = np.abs(values[:, 0] - values[:, 1])
    barely_different = apart * (1 + 0.01 * np.random.default_rng(1).random(len(apart)))
    found = np.corrcoef(rankdata(apart), rankdata(barely_different))[0, 1]
    assert found == pytest.approx(CEILING, abs=2e-4)


@pytest.mark.parametrize("data", DOCS["OTHERS"])
def test_an_autoencoder_follows_factors_that_a_kernel_cannot(data):
    coder, kernel = row(data, "learnt autoencoder"), row(data, "learnt kernel")
    assert coder["rank random"] > kernel["rank random"]
