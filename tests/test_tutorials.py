"""Every tutorial can be walked from an empty folder, and prints what its page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tutorials

TOP = Path(__file__).parents[1]
FOLDER = TOP / "docs" / "tutorials"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.stem != "README")


@pytest.mark.filterwarnings("ignore::unweave.scoring.Collapsed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_shows(page, tmp_path, monkeypatch):
    """If not: `python benchmarks/tutorials.py PAGE --write` puts what is printed into the page."""
    monkeypatch.chdir(tmp_path)
    steps = 0
    for expected, printed in tutorials.walk(page.read_text(encoding="utf-8")):
        tutorials.compare(expected, printed)
        steps += 1
    assert steps


@pytest.mark.parametrize("page", [FOLDER / "README.md", *PAGES], ids=lambda page: page.stem)
def test_links_lead_somewhere_and_lines_are_short(page):
    text = page.read_text(encoding="utf-8")
    assert all((page.parent / target).exists() for target in re.findall(r"\]\(([^)#:]+)[^)]*\)", text))
    prose = [line for line in tutorials.BLOCK.sub("", text).splitlines() if not line.startswith(("|", "    ", "!["))]
    assert [line for line in prose if len(line) > 120] == []


def test_what_python_prints_must_be_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(tutorials.walk("```python\nprint(1)\n```\n\n```text\n1\n```\n")) == [("1\n", "1\n")]
    with pytest.raises(tutorials.Differs):
        list(tutorials.walk("```python\nprint(1)\n```\n\n```python\nx = 1\n```\n"))


def test_the_index_names_every_tutorial():
    index = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {page.name for page in PAGES}


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("mig  0.50\n", "mig   0.52\n", True),
        ("mig  0.50\n", "mig   0.56\n", False),
        ("mig  0.018\n", "mig   0.022\n", True),
        ("mig  0.018\n", "mig   0.060\n", False),
        ("mig  0.000\n", "mig   0.070\n", False),
        ("mig  0.0\n", "mig   0.1\n", True),
        ("elbo  -73.8\n", "elbo  -75.1\n", True),
        ("elbo  -73.8\n", "elbo  73.8\n", False),
        ("rank 1, 10 runs\n", "rank 2, 10 runs\n", False),
        ("1,024 pairs\n", "1,025 pairs\n", False),
        ("a chance of 55 %\n", "a chance of 58 %\n", True),
        ("a chance of 55 %\n", "a chance of 75 %\n", False),
        ("60 steps in 2 s\n", "60 steps in 3 s\n", True),
        ("60 steps in 2 s\n", "61 steps in 2 s\n", False),
        ("mig  0.50\n", "sap   0.50\n", False),
        ("a 1\n…\nb 2\n", "a 1\nx\ny\nb 2\n", True),
        ("a 1\n…\nb 2\n", "a 1\nx\ny\n", False),
        ("done in 3.1 s\n", "done in 88.2 s\n", True),
        ("metric  value  seconds\nmig  0.5  1.2\n", "metric  value  seconds\nmig  0.5  9.9\n", True),
        ("a\nb\n", "a\n", False),
        ("a\n", "a\nb\n", False),
        ("a\n…\n", "a\nb\n", True),
        ("", "a\n", True),
    ],
)
def test_what_counts_as_the_same_output(expected, printed, same):
    if same:
        tutorials.compare(expected, printed)
    else:
        with pytest.raises(tutorials.Differs):
            tutorials.compare(expected, printed)
