"""The guides say what the stored files say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from pages import block

TOP = Path(__file__).parents[1]
FOLDER = TOP / "docs" / "guides"
METRICS: dict[str, Any] = runpy.run_path(str(TOP / "benchmarks" / "metric_guide.py"))
SEEDS: dict[str, Any] = runpy.run_path(str(TOP / "benchmarks" / "seeds_and_rows.py"))
SCORES: polars.DataFrame = METRICS["stored"]()
WORLDS = METRICS["WORLDS"]
BY_TITLE = {world.title: name for name, world in WORLDS.items()}
PAGES = sorted(FOLDER.glob("*.md"))


def test_which_metric_shows_the_stored_scores():
    """If not: `python benchmarks/metric_guide.py --write` writes the page from the file."""
    text = (FOLDER / "which-metric.md").read_text(encoding="utf-8")
    for name, body in METRICS["blocks"](SCORES).items():
        assert block(name, body) in text


def test_how_many_seeds_shows_the_stored_tables():
    """If not: `python benchmarks/seeds_and_rows.py --write` writes the page from the files."""
    text = (FOLDER / "how-many-seeds-and-rows.md").read_text(encoding="utf-8")
    for name, body in SEEDS["blocks"]().items():
        assert block(name, body) in text


def test_every_score_in_the_prose_is_the_stored_one():
    """A world in bold comes first; the scores after it are its own, each as `metric` value."""
    text = (FOLDER / "which-metric.md").read_text(encoding="utf-8")
    stored = {(row["world"], row["metric"]): row["value"] for row in SCORES.iter_rows(named=True)}
    world, checked = "", 0
    for title, metric, value in re.findall(r"\*\*([^*]+)\*\*|`([\w-]+)`\s(\d\.\d\d)", text):
        if title:
            world = BY_TITLE.get(title, "")
        else:
            assert METRICS["decimals"](stored[world, metric]) == value, (world, metric)
            checked += 1
    assert checked > 40


def test_every_world_has_every_score_and_is_what_it_says():
    assert len(SCORES) == len(WORLDS) * len(METRICS["TITLES"])
    perfect = SCORES.filter(world="aligned")
    ends = {"mig", "dci-disentanglement", "dci-completeness", "dci-informativeness", "r2", "mcc", "irs"}
    assert (perfect.filter(polars.col("metric").is_in(ends))["value"] > 0.99).all()
    draw = METRICS["draw"]
    for name, latents in {"aligned": 4, "one-hot": 36, "bumps": 64, "merged": 2, "lost": 2, "dead": 10}.items():
        codes, factors = draw(WORLDS[name], 50, 0)
        assert codes.shape == (50, latents)
        assert factors.shape == (50, 4)


@pytest.mark.parametrize("name", ["split", "merged", "one-hot", "scrambled", "circle", "rotated", "bumps"])
def test_codes_of_a_world_that_keeps_everything_tell_all_factors_apart(name):
    codes, factors = METRICS["draw"](WORLDS[name], 2_000, 0)
    cells = len(np.unique(factors, axis=0))
    assert len(np.unique(codes.round(6), axis=0)) == cells


def test_stored_scores_of_a_cheap_metric_can_be_computed_again():
    from unweave.metrics import mig

    for name in ("rotated", "copies"):
        (stored,) = SCORES.filter(world=name, metric="mig")["value"]
        assert mig(*METRICS["draw"](WORLDS[name], METRICS["ROWS"], 0)) == pytest.approx(stored, abs=2e-4)


def test_spreads_are_those_of_the_stored_studies():
    again = SEEDS["spreads"]()
    stored = polars.read_csv(SEEDS["SEEDS_STORE"])
    assert again.equals(stored)


def test_five_seeds_find_two_deviations():
    assert SEEDS["smallest_effect"](5) == pytest.approx(2.02, abs=0.01)
    assert SEEDS["half_width"](1.0, 5) == pytest.approx(2.776 / 5**0.5, abs=1e-3)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_lines_of_prose_are_short(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = [line for line in text.splitlines() if not line.startswith(("|", "    ", "!["))]
    assert [line for line in prose if len(line) > 120] == []


def test_the_index_names_every_guide():
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert {page.name for page in PAGES} - {"README.md"} <= set(re.findall(r"\]\((?:\.\./)?([\w-]+\.md)\)", index))
