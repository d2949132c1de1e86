"""The table of docs/tasks.md is that of the stored file, and what the page says of it holds."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import polars
from pages import block

TOP = Path(__file__).parents[1]
TASKS: dict[str, Any] = runpy.run_path(str(TOP / "benchmarks" / "tasks.py"))


def test_the_page_says_what_the_file_says():
    """If not: `python benchmarks/tasks.py --write` writes the page from the file."""
    assert block("tasks", TASKS["text"]()) in (TOP / "docs" / "tasks.md").read_text(encoding="utf-8")


def test_true_places_are_learnt_and_projections_of_pixels_are_not():
    rows = polars.read_csv(TASKS["STORE"])
    assert rows.select("codes", "by").rows() == TASKS["CASES"]
    true = rows.filter(codes=TASKS["PLACES_CODE"])
    assert (true["reached"] == 5).all()
    pixels = rows.filter(codes=TASKS["PIXELS"])
    assert pixels["reached"].item() == 0
    assert pixels["accuracy"].item() < 0.6
