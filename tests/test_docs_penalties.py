"""The table of docs/penalties.md is that of the stored file, and every penalty is on the page and in the table."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path
from typing import Any

import polars
import pytest
from pages import block

import unweave.penalties

TOP = Path(__file__).parents[1]
BENCHMARK: dict[str, Any] = runpy.run_path(str(TOP / "benchmarks" / "penalties.py"))
TEXT = (TOP / "docs" / "penalties.md").read_text(encoding="utf-8")
HELPERS = {"density_ratio_loss", "kl_parts", "shuffle_latents"}
"""Functions beside a penalty that is timed."""


def test_the_page_says_what_the_file_says():
    """If not: `python benchmarks/penalties.py --write` writes the page from the file."""
    assert block("penalties", BENCHMARK["text"]()) in TEXT


def test_every_penalty_has_a_section_and_was_timed_with_the_same_result():
    functions = {name for name in unweave.penalties.__all__ if inspect.isfunction(getattr(unweave.penalties, name))}
    rows = polars.read_csv(BENCHMARK["STORE"])
    assert {name.partition(",")[0] for name in rows["penalty"]} == functions - HELPERS
    assert rows["penalty"].to_list() == list(BENCHMARK["cases"]())
    assert (rows["difference"] < 1e-3).all()
    sections = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    for name in functions:
        assert any(f"`{name}" in section or f"{name}(" in section for section in sections), name


@pytest.mark.parametrize("name", ["dip_covariance", "sigreg", "soft_hausdorff_support"])
def test_the_naive_formula_is_the_same_one(name):
    ours, naive, _ = BENCHMARK["cases"]()[name]
    _, apart = BENCHMARK["measured"](ours, naive, BENCHMARK["codes"](name), 1)
    assert apart < 1e-3


def test_lines_of_prose_are_short():
    prose = [line for line in TEXT.splitlines() if not line.startswith(("|", "    "))]
    assert [line for line in prose if len(line) > 120] == []
